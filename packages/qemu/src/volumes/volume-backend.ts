import type { QmpClient } from '../qmp/qmp-client.js';

/** The point in time of a copy. */
export interface CopyOptions {
  /** The process that serves the source; undefined if no process has it open. */
  readonly qmp: QmpClient | undefined;
  /** Called when later writes no longer change the copy; optional if no process has the source open. */
  readonly onCaptured: () => void;
  readonly signal: AbortSignal;
}

/**
 * Stores the disks of volumes. A disk has a unique name (a UUID), is created once, and is opened by one process at a time,
 * which serves it to guests. The caller calls the methods for one disk sequentially.
 *
 * The folder of a disk exists before the disk is created, and until it is removed. Methods fail with a QemuError, whose message
 * is for administrators. After a failed or cancelled creation, `remove` is called.
 */
export interface VolumeBackend {
  /** Rejects if fewer bytes are free. @throws QemuError `DISK_FULL` */
  checkSpace(bytes: number): Promise<void>;
  /** Creates a disk of zeros. */
  create(name: string, bytes: number, signal: AbortSignal): Promise<void>;
  /**
   * Creates a disk that starts with the content of an image, followed by zeros. Later changes of the disk do not change the
   * image.
   *
   * @param fetch writes the image to a file that does not exist, in raw format; other disks may share this file, so that it
   *   must not be written
   */
  createFromImage(
    name: string,
    bytes: number,
    fetch: (file: string) => Promise<unknown>,
    signal: AbortSignal,
  ): Promise<void>;
  /** Creates a disk with the content of another one at one point in time, and with its size. */
  copy(source: string, name: string, options: CopyOptions): Promise<void>;
  /** Returns the size of a disk in bytes, as guests see it. */
  size(name: string, signal: AbortSignal): Promise<number>;
  /**
   * Enlarges a disk; the added bytes are zero. If a process has it open, this prepares the storage only, and `block_resize`
   * of that process follows.
   */
  resize(name: string, bytes: number, isOpen: boolean, signal: AbortSignal): Promise<void>;
  /**
   * Makes a disk available on this computer, and returns the arguments of QEMU's `blockdev-add` that open it, without a node
   * name. Called before each start of the process that serves it, and must be repeatable.
   */
  attach(name: string): Promise<Readonly<Record<string, unknown>>>;
  /** Removes a disk that no process has open, complete or not. No-op if it does not exist. */
  remove(name: string): Promise<void>;
}
