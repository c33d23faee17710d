import { statfs } from 'node:fs/promises';
import { QemuError } from '../qemu-error.js';
import type { Machine } from './machine.js';

/** Interval between attempts to resume guests whose writes had no space. */
const INTERVAL_MS = 5_000;
/** Guests continue only when there is this much space, so that they are not immediately paused again. */
const ENOUGH_BYTES = 64 * 2 ** 20;

/** The part of a host that `resumeWhenSpaceIsFree` uses. */
export interface MachinesOnDisk {
  machineIds(): Promise<readonly string[]>;
  machine(server: { readonly id: string }): Pick<Machine, 'resumeAfterFullDisk'>;
  /** Aborted when the host is closed. */
  readonly leaving: AbortSignal;
}

/**
 * Resumes guests that QEMU has paused because a write had no space, once the file system has space again. QEMU then repeats the
 * write, so that no data is lost.
 *
 * @param folder a folder on the file system of the disks
 */
export function resumeWhenSpaceIsFree(
  host: MachinesOnDisk,
  folder: string,
  log: (line: string) => void,
  intervalMs = INTERVAL_MS,
): void {
  let busy = false;
  const round = async () => {
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize < ENOUGH_BYTES) return;
    for (const id of await host.machineIds()) {
      if (host.leaving.aborted) return;
      if (
        await host
          .machine({ id })
          .resumeAfterFullDisk()
          .catch(() => false)
      )
        log(`${id}: resumed, because there is space for its writes again`);
    }
  };
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    round()
      .catch(() => {})
      .finally(() => {
        busy = false;
      });
  }, intervalMs).unref();
  host.leaving.addEventListener('abort', () => clearInterval(timer), { once: true });
}

/** Converts the error of an operation that ran out of disk space to `DISK_FULL`; returns other errors unchanged. */
export function fullDiskError(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && !message?.includes('No space left on device')) return error;
  return new QemuError('DISK_FULL', `the disk of this host is full: ${message}`, { cause: error });
}
