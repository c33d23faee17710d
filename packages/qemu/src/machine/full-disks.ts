import { statfs } from 'node:fs/promises';
import { QemuError } from '../qemu-error.js';
import type { Machine } from './machine.js';

/** The interval between attempts to resume guests that are paused because the disk was full. */
const RETRY_INTERVAL_MS = 5_000;
/** The free disk space that is required to resume guests, so that they are not paused again immediately. */
const MIN_FREE_BYTES = 64 * 2 ** 20;

/** The members of a host that `resumeWhenSpaceIsFree` needs. */
export interface ResumableMachines {
  machineIds(): Promise<readonly string[]>;
  machine(server: { readonly id: string }): Pick<Machine, 'resumeAfterFullDisk'>;
  /** A signal that is aborted when the host closes. */
  readonly closing: AbortSignal;
}

/**
 * Resumes guests that QEMU paused because the disk was full, as soon as the file system has free space again. QEMU then
 * retries the failed write, so that no data is lost.
 *
 * @param folder a folder on the file system of the disks
 */
export function resumeWhenSpaceIsFree(
  host: ResumableMachines,
  folder: string,
  log: (line: string) => void,
  intervalMs = RETRY_INTERVAL_MS,
): void {
  let isBusy = false;
  const resumeAll = async () => {
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize < MIN_FREE_BYTES) return;
    for (const id of await host.machineIds()) {
      if (host.closing.aborted) return;
      if (
        await host
          .machine({ id })
          .resumeAfterFullDisk()
          .catch(() => false)
      )
        log(`${id}: resumed, because the disk has free space again`);
    }
  };
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    resumeAll()
      .catch(() => {})
      .finally(() => {
        isBusy = false;
      });
  }, intervalMs).unref();
  host.closing.addEventListener('abort', () => clearInterval(timer), { once: true });
}

/** Converts an error that was caused by a full disk to `DISK_FULL`; returns other errors unchanged. */
export function toFullDiskError(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && !message?.includes('No space left on device')) return error;
  return new QemuError('DISK_FULL', `the disk of this host is full: ${message}`, { cause: error });
}
