import { setTimeout as sleep } from 'node:timers/promises';
import { QemuError } from '../qemu-error.js';

/** What QEMU's programs say of a disk that another process writes to: they lock what they open. */
const IN_USE = /another process using the image|Failed to get .*lock/;
const LOOK_MS = 1_000;

/**
 * Does something with disks as soon as nobody else has them open: what a killed program has begun ends soon, and storage that
 * is shared holds the locks of a computer that was lost for a minute or two.
 * @throws `DISK_IN_USE` when somebody has them all that time
 */
export async function untilFree<T>(use: () => Promise<T>, waitMs: number, signal: AbortSignal): Promise<T> {
  for (const deadline = Date.now() + waitMs; ; await sleep(LOOK_MS, undefined, { signal })) {
    try {
      return await use();
    } catch (error) {
      if (!(error instanceof QemuError) || !IN_USE.test(error.message)) throw error;
      if (Date.now() >= deadline)
        throw new QemuError(
          'DISK_IN_USE',
          `a disk of the machine is in use, by its machine on another computer most likely: ${error.message}`,
          { cause: error },
        );
    }
  }
}
