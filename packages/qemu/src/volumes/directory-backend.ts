import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StorageUsage } from '@apistrata/compute-engine/drivers';
import { copyRunningDisk } from '../machine/copy-disk.js';
import { readFreeSpace, readOccupiedBytes } from '../machine/disk-space.js';
import { createDisk, type DiskPrograms, readDiskBytes } from '../machine/prepare-disks.js';
import { runProgram } from '../programs/run-program.js';
import { checkSpace } from './check-space.js';
import type { CopyOptions, VolumeBackend } from './volume-backend.js';
import { DISK_NODE } from './volume-server.js';

/**
 * A volume backend that stores disks as qcow2 files. Each disk has a folder of the same name, which also contains
 * the image that backs the disk.
 */
export class DirectoryBackend implements VolumeBackend {
  readonly #folder: string;
  readonly #tools: DiskPrograms;

  /** @param folder the folder in which each disk has its own folder */
  constructor(folder: string, tools: DiskPrograms) {
    this.#folder = folder;
    this.#tools = tools;
  }

  #disk(name: string): string {
    return join(this.#folder, name, 'disk.qcow2');
  }

  #base(name: string): string {
    return join(this.#folder, name, 'base.raw');
  }

  /** Returns the paths of all files of a disk, including a file that an incomplete copy leaves. */
  #files(name: string): readonly string[] {
    return [this.#disk(name), `${this.#disk(name)}.new`, this.#base(name)];
  }

  #qemuImg(args: readonly string[], signal: AbortSignal): Promise<string> {
    return runProgram(this.#tools.qemuImg, args, { ...this.#tools.run, signal });
  }

  async usage(): Promise<StorageUsage> {
    const { totalBytes, freeBytes } = await readFreeSpace(this.#folder);
    const disks = (await readdir(this.#folder)).flatMap((name) => this.#files(name));
    return { backend: 'directory', totalBytes, freeBytes, allocatedBytes: await readOccupiedBytes(...disks) };
  }

  checkSpace(bytes: number): Promise<void> {
    return checkSpace(this.#folder, bytes);
  }

  create(name: string, bytes: number, signal: AbortSignal): Promise<void> {
    return createDisk(this.#tools, this.#disk(name), bytes, null, signal);
  }

  async createFromImage(
    name: string,
    bytes: number,
    fetch: (file: string) => Promise<unknown>,
    signal: AbortSignal,
  ): Promise<void> {
    const base = this.#base(name);
    await fetch(base);
    await createDisk(this.#tools, this.#disk(name), bytes, base, signal);
  }

  async copy(source: string, name: string, { qmp, onCaptured, signal }: CopyOptions): Promise<void> {
    const { qemuImg, run } = this.#tools;
    const [from, to] = [this.#disk(source), this.#disk(name)];
    if (qmp)
      await copyRunningDisk(qmp, DISK_NODE, to, { qemuImg, ...run, signal }, (begin) => begin().then(onCaptured));
    else await this.#qemuImg(['convert', '-f', 'qcow2', '-O', 'qcow2', from, to], signal);
  }

  size(name: string, signal: AbortSignal): Promise<number> {
    return readDiskBytes(this.#tools, this.#disk(name), signal);
  }

  async resize(name: string, bytes: number, isOpen: boolean, signal: AbortSignal): Promise<void> {
    if (!isOpen) await this.#qemuImg(['resize', '-q', '-f', 'qcow2', this.#disk(name), `${bytes}`], signal);
  }

  async attach(name: string): Promise<Readonly<Record<string, unknown>>> {
    return { driver: 'qcow2', discard: 'unmap', file: { driver: 'file', filename: this.#disk(name) } };
  }

  async remove(name: string): Promise<void> {
    for (const file of this.#files(name)) await rm(file, { force: true });
  }
}
