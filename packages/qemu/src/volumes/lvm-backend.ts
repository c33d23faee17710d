import { chown, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StorageUsage } from '@apistrata/compute-engine/drivers';
import type { DiskPrograms } from '../machine/prepare-disks.js';
import { findProgram } from '../programs/find-program.js';
import { runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { requireFreeBytes } from './check-space.js';
import type { CopyOptions, VolumeBackend } from './volume-backend.js';

/** An LVM thin pool and its volume group. */
export interface ThinPool {
  readonly group: string;
  readonly name: string;
}

const LVM_NAME = /^[\w+.][\w+.-]*$/;

/** The fill level at which a pool's metadata is considered full, because metadata cannot be freed in all cases. */
const MAX_METADATA_PERCENT = 90;

/** Parses `GROUP/POOL`. @throws TypeError for another format */
export function parseThinPool(place: string, text: string): ThinPool {
  const [group = '', name = '', ...others] = text.split('/');
  if (others.length > 0 || ![group, name].every((part) => LVM_NAME.test(part)))
    throw new TypeError(`${place}: volumePool must be GROUP/POOL, an LVM thin pool, not '${text}'`);
  return { group, name };
}

type ReportField = 'data_percent' | 'lv_size' | 'metadata_percent' | 'segtype';

/** Runs an LVM command without an abort signal, because an LVM command that is killed can leave devices suspended. */
const runLvm = (program: string, args: readonly string[]) => runProgram(program, args, { runAs: undefined });

/** Returns fields of a logical volume. Sizes are in bytes. */
async function readFields(program: string, volume: string): Promise<Readonly<Record<ReportField, string>>> {
  const fields: readonly ReportField[] = ['data_percent', 'lv_size', 'metadata_percent', 'segtype'];
  const format = ['--reportformat', 'json', '--units', 'b', '--nosuffix'];
  const { report } = JSON.parse(await runLvm(program, ['lvs', ...format, '-o', fields.join(','), volume]));
  return report[0].lv[0];
}

/**
 * A volume backend that stores each disk as a thin volume in an LVM thin pool, which needs root. Copies share their
 * blocks with the source until one of the two is written.
 */
export class LvmBackend implements VolumeBackend {
  readonly #lvm: string;
  readonly #folder: string;
  readonly #pool: ThinPool;
  readonly #tools: DiskPrograms;

  private constructor(lvm: string, folder: string, pool: ThinPool, tools: DiskPrograms) {
    this.#lvm = lvm;
    this.#folder = folder;
    this.#pool = pool;
    this.#tools = tools;
  }

  /**
   * Opens a thin pool.
   *
   * @param folder the folder in which each disk has its own folder, for temporary files
   * @throws QemuError `QEMU_MISSING` without LVM, `VOLUME_POOL_UNUSABLE` if the pool cannot store disks
   */
  static async open(folder: string, pool: ThinPool, tools: DiskPrograms): Promise<LvmBackend> {
    const lvm = findProgram('lvm', 'the package lvm2');
    const name = `${pool.group}/${pool.name}`;
    const createUnusableError = (reason: string) =>
      new QemuError('VOLUME_POOL_UNUSABLE', `${name} cannot store volumes: ${reason}`);
    const { segtype } = await readFields(lvm, name).catch((error) => {
      throw createUnusableError((error as Error).message);
    });
    if (segtype !== 'thin-pool')
      throw createUnusableError(`it is a logical volume of the type ${segtype}, not a thin pool`);
    return new LvmBackend(lvm, folder, pool, tools);
  }

  #logicalName(name: string): string {
    return `apistrata-${name}`;
  }

  #volume(name: string): string {
    return `${this.#pool.group}/${this.#logicalName(name)}`;
  }

  #device(name: string): string {
    return `/dev/${this.#volume(name)}`;
  }

  get #poolName(): string {
    return `${this.#pool.group}/${this.#pool.name}`;
  }

  async usage(): Promise<StorageUsage & { readonly metadataPercent: number }> {
    const { lv_size, data_percent, metadata_percent } = await readFields(this.#lvm, this.#poolName);
    const totalBytes = Number(lv_size);
    const allocatedBytes = Math.ceil((totalBytes * Number(data_percent)) / 100);
    const space = { totalBytes, freeBytes: totalBytes - allocatedBytes, allocatedBytes };
    return { backend: 'lvm', ...space, metadataPercent: Number(metadata_percent) };
  }

  async checkSpace(bytes: number): Promise<void> {
    const { freeBytes, metadataPercent } = await this.usage();
    requireFreeBytes(bytes, freeBytes, `in the pool ${this.#poolName}`);
    if (metadataPercent > MAX_METADATA_PERCENT)
      throw new QemuError('DISK_FULL', `the metadata of the pool ${this.#poolName} is ${metadataPercent} % full`);
  }

  async create(name: string, bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const thin = ['--type', 'thin', '--thinpool', this.#pool.name, '--virtualsize', `${bytes}b`];
    await runLvm(this.#lvm, ['lvcreate', '--yes', ...thin, '--name', this.#logicalName(name), this.#pool.group]);
  }

  async createFromImage(
    name: string,
    bytes: number,
    fetch: (file: string) => Promise<unknown>,
    signal: AbortSignal,
  ): Promise<void> {
    const image = join(this.#folder, name, 'image.raw');
    try {
      await fetch(image);
      await this.create(name, bytes, signal);
      const args = ['convert', '-n', '--target-is-zero', '-f', 'raw', '-O', 'raw', image, this.#device(name)];
      await runProgram(this.#tools.qemuImg, args, { runAs: undefined, signal });
    } finally {
      await rm(image, { force: true });
    }
  }

  async copy(source: string, name: string, { onCaptured, signal }: CopyOptions): Promise<void> {
    signal.throwIfAborted();
    const snapshot = ['--type', 'thin', '--setactivationskip', 'n', '--name', this.#logicalName(name)];
    await runLvm(this.#lvm, ['lvcreate', '--yes', ...snapshot, this.#volume(source)]);
    onCaptured();
  }

  async size(name: string): Promise<number> {
    return Number((await readFields(this.#lvm, this.#volume(name))).lv_size);
  }

  async resize(name: string, bytes: number): Promise<void> {
    await runLvm(this.#lvm, ['lvextend', '--size', `${bytes}b`, this.#volume(name)]);
  }

  async attach(name: string): Promise<Readonly<Record<string, unknown>>> {
    await runLvm(this.#lvm, ['lvchange', '--activate', 'y', this.#volume(name)]);
    const filename = this.#device(name);
    const { runAs } = this.#tools.run;
    if (runAs) await chown(await realpath(filename), runAs.uid, runAs.gid);
    return { driver: 'host_device', discard: 'unmap', filename };
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#folder, name, 'image.raw'), { force: true });
    const select = ['--noheadings', '-o', 'lv_name', '--select', `lv_name="${this.#logicalName(name)}"`];
    const found = await runLvm(this.#lvm, ['lvs', ...select, this.#pool.group]);
    if (found.trim() !== '') await runLvm(this.#lvm, ['lvremove', '--yes', this.#volume(name)]);
  }
}
