import type { StorageUsage } from '@apistrata/compute-engine/drivers';
import type { QmpClient } from '../qmp/qmp-client.js';

/** Options for copying a disk. */
export interface CopyOptions {
  /** The process that serves the source disk; undefined if no process has the disk open. */
  readonly qmp: QmpClient | undefined;
  /**
   * Called as soon as later writes to the source no longer change the copy. If no process has the source open, the call
   * may be omitted.
   */
  readonly onCaptured: () => void;
  readonly signal: AbortSignal;
}

/**
 * Stores the disks of volumes. A disk has a unique name (a UUID), is created once, and is opened by one process at a
 * time, which serves the disk to guests. Methods are not called concurrently for the same disk.
 *
 * A disk's folder exists before the disk is created, and until the disk is removed. Methods reject with a QemuError,
 * whose message is for administrators. After a failed or canceled creation, `remove` is called.
 */
export interface VolumeBackend {
  /** Returns the total and free space of the storage, and the space that its disks occupy. */
  usage(): Promise<StorageUsage>;
  /** Checks the free space of the storage. Rejects if fewer bytes are free. @throws QemuError `DISK_FULL` */
  checkSpace(bytes: number): Promise<void>;
  /** Creates a blank disk, which reads as zeros. */
  create(name: string, bytes: number, signal: AbortSignal): Promise<void>;
  /**
   * Creates a disk that contains an image, followed by zeros. Later writes to the disk do not change the image.
   *
   * @param fetch writes the raw image to a new file, which must not be modified, because other disks may share it
   */
  createFromImage(
    name: string,
    bytes: number,
    fetch: (file: string) => Promise<unknown>,
    signal: AbortSignal,
  ): Promise<void>;
  /** Creates a disk as a point-in-time copy of another one, with the same size. */
  copy(source: string, name: string, options: CopyOptions): Promise<void>;
  /** Returns the size of a disk in bytes, as guests see it. */
  size(name: string, signal: AbortSignal): Promise<number>;
  /**
   * Enlarges a disk; the added bytes read as zeros. If a process has the disk open, only enlarges the storage, and the
   * caller then sends `block_resize` to that process.
   */
  resize(name: string, bytes: number, isOpen: boolean, signal: AbortSignal): Promise<void>;
  /**
   * Makes a disk available on this computer, and returns the arguments with which QEMU's `blockdev-add` opens the disk,
   * without a node name. Called before each start of the process that serves the disk. Idempotent.
   */
  attach(name: string): Promise<Readonly<Record<string, unknown>>>;
  /** Removes a complete or incomplete disk, which no process has open. No-op if the disk does not exist. */
  remove(name: string): Promise<void>;
}
