import { setTimeout as sleep } from 'node:timers/promises';
import { QemuError } from '../qemu-error.js';

/** QEMU's error messages for a disk that another process has locked. */
const LOCK_ERRORS = /another process using the image|Failed to get .*lock/;
const POLL_INTERVAL_MS = 1_000;

/**
 * Runs a function that opens disks, and retries while another process has locked them. The child programs of a killed
 * process exit soon, and shared storage keeps the locks of a lost host for only a minute or two.
 *
 * @throws QemuError `DISK_IN_USE` if the disks are still locked after the given time
 */
export async function retryWhileLocked<T>(work: () => Promise<T>, waitMs: number, signal: AbortSignal): Promise<T> {
  for (const deadline = Date.now() + waitMs; ; await sleep(POLL_INTERVAL_MS, undefined, { signal })) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof QemuError) || !LOCK_ERRORS.test(error.message)) throw error;
      if (Date.now() >= deadline)
        throw new QemuError(
          'DISK_IN_USE',
          `a disk of the machine is in use, most likely by the same machine on another computer: ${error.message}`,
          { cause: error },
        );
    }
  }
}
