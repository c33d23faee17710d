import { rename, rm, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import type { DriverServices } from '@apistrata/compute-engine/drivers';
import { exists } from '../images/exists.js';
import type { ImageCache } from '../images/image-cache.js';
import { ownerOf } from '../images/image-cache.js';
import { type ProgramOptions, runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { machineOptionsOf } from '../tuning/machine-options.js';
import type { MachineFolder } from './machine-folder.js';

export const GIB = 2 ** 30;
const MIB = 2 ** 20;

/** Returns true if a server's root disk is a volume. */
export function isVolumeBacked({ blockDevices }: Server): boolean {
  return blockDevices.some(({ bootIndex, destination }) => bootIndex === 0 && destination === 'volume');
}

/** The program that creates disks, and its options. */
export interface DiskPrograms {
  readonly qemuImg: string;
  readonly run: Omit<ProgramOptions, 'signal'>;
}

/** The dependencies of disk creation. */
export interface DiskTools extends DiskPrograms {
  readonly cache: ImageCache;
  readonly images: DriverServices['images'];
}

/** The part of the output of `qemu-img info` that is used. */
export interface DiskInfo {
  readonly 'virtual-size': number;
  readonly snapshots?: readonly { readonly name: string }[];
}

/**
 * Returns information on a qcow2 file that this program has created and a machine may have open; undefined if it does
 * not exist.
 */
export async function diskInfo(
  { qemuImg, run }: DiskPrograms,
  path: string,
  signal: AbortSignal,
): Promise<DiskInfo | undefined> {
  if (!(await exists(path))) return undefined;
  const output = await runProgram(qemuImg, ['info', '-U', '-f', 'qcow2', '--output=json', path], { ...run, signal });
  return JSON.parse(output);
}

/** Returns the virtual size of a qcow2 file that this program has created. */
export async function diskBytes(tools: DiskPrograms, path: string, signal: AbortSignal): Promise<number> {
  const info = await diskInfo(tools, path, signal);
  if (!info) throw new QemuError('UNSUPPORTED', `missing disk ${basename(path)}`);
  return info['virtual-size'];
}

/**
 * Creates a qcow2 file atomically; keeps an existing one.
 *
 * @param base the backing file, in the same folder, so that the reference is valid under each host's path of the folder
 */
export async function makeDisk(
  { qemuImg, run }: DiskPrograms,
  path: string,
  bytes: number,
  base: string | null,
  signal: AbortSignal,
): Promise<void> {
  if (await exists(path)) return;
  const backing = base === null ? [] : ['-b', basename(base), '-F', 'raw'];
  await rm(`${path}.new`, { force: true });
  await runProgram(qemuImg, ['create', '-q', '-f', 'qcow2', ...backing, `${path}.new`, `${bytes}`], { ...run, signal });
  await rename(`${path}.new`, path);
}

/** The files of a system that boots from an image. */
const ROOT = {
  disk: 'root',
  base: 'rootBase',
  image: 'rootImage',
  cdrom: 'cdrom',
  kernel: 'kernel',
  ramdisk: 'ramdisk',
  commandLine: 'commandLine',
} as const;
const RESCUE = {
  disk: 'rescue',
  base: 'rescueBase',
  image: 'rescueImage',
  cdrom: 'rescueCdrom',
  kernel: 'rescueKernel',
  ramdisk: 'rescueRamdisk',
  commandLine: 'rescueCommandLine',
} as const;

/** The default kernel command line: output on both consoles, the root on the first disk. */
const COMMAND_LINE = 'root=/dev/vda console=tty0 console=ttyS0';

/**
 * Creates the disk of an image and its kernel; keeps existing files. An ISO image becomes a CD, without a disk: an installer on
 * it writes to a volume or an ephemeral disk.
 */
async function makeSystem(
  tools: DiskTools,
  server: Server,
  imageId: string,
  diskGb: number,
  names: typeof ROOT | typeof RESCUE,
  folder: MachineFolder,
  signal: AbortSignal,
): Promise<void> {
  const { cache, images } = tools;
  if ((await folder.exists(names.disk)) || (await folder.exists(names.cdrom))) return;
  const owner = ownerOf(server);
  const { properties, diskFormat } = await images.get(owner, imageId);
  const isCd = diskFormat === 'iso';
  const bytes = await cache.linkImage(owner, imageId, folder.file(names.base), isCd ? 0 : diskGb * GIB, signal);
  await writeFile(folder.file(names.image), imageId);
  await makeKernel(tools, server, properties, names, folder, signal);
  if (isCd) return writeFile(folder.file(names.cdrom), '');
  await makeDisk(tools, folder.file(names.disk), diskGb * GIB || bytes, folder.file(names.base), signal);
}

/** Fetches the kernel of a disk if its image names one. */
async function makeKernel(
  { cache }: DiskTools,
  server: Server,
  properties: Readonly<Record<string, string>>,
  names: typeof ROOT | typeof RESCUE,
  folder: MachineFolder,
  signal: AbortSignal,
): Promise<void> {
  const option = machineOptionsOf({ extraSpecs: {} }, properties);
  for (const [name, id] of [
    [names.kernel, option('kernel')],
    [names.ramdisk, option('ramdisk')],
  ] as const) {
    if (id) await cache.linkImage(ownerOf(server), id, folder.file(name), 0, signal);
    else await rm(folder.file(name), { force: true });
  }
  await writeFile(folder.file(names.commandLine), option('commandLine') ?? COMMAND_LINE);
}

/** Creates the local disks of a server; keeps existing ones. */
export async function makeDisks(
  tools: DiskTools,
  server: Server,
  imageId: string,
  { diskGb, ephemeralGb, swapMb }: FlavorCopy,
  folder: MachineFolder,
  signal: AbortSignal,
): Promise<void> {
  if (isVolumeBacked(server)) await makeKernel(tools, server, server.imageProperties, ROOT, folder, signal);
  else if (imageId !== '') await makeSystem(tools, server, imageId, diskGb, ROOT, folder, signal);
  if (ephemeralGb > 0) await makeDisk(tools, folder.disk('ephemeral'), ephemeralGb * GIB, null, signal);
  if (swapMb > 0) await makeDisk(tools, folder.disk('swap'), swapMb * MIB, null, signal);
}

/** Creates the disk for a rescue image. */
export async function makeRescueDisk(
  tools: DiskTools,
  server: Server,
  imageId: string,
  folder: MachineFolder,
  signal: AbortSignal,
): Promise<void> {
  await makeSystem(tools, server, imageId, server.flavor.diskGb, RESCUE, folder, signal);
}
