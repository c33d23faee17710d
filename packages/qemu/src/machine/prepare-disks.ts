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

/** Returns true if a server boots from a volume. */
export function isVolumeBacked({ blockDevices }: Server): boolean {
  return blockDevices.some(({ bootIndex, destination }) => bootIndex === 0 && destination === 'volume');
}

/** The path of `qemu-img`, which creates disks, and the options with which it runs. */
export interface DiskPrograms {
  readonly qemuImg: string;
  readonly run: Omit<ProgramOptions, 'signal'>;
}

/** The tools for creating disks: `qemu-img`, the image cache and the image service. */
export interface DiskTools extends DiskPrograms {
  readonly cache: ImageCache;
  readonly images: DriverServices['images'];
}

/** The fields of the `qemu-img info` output that this package reads. */
export interface DiskInfo {
  readonly 'virtual-size': number;
  readonly snapshots?: readonly { readonly name: string }[];
}

/**
 * Returns information about a qcow2 file that this package created, even if a machine has it open; undefined if the
 * file does not exist.
 */
export async function readDiskInfo(
  { qemuImg, run }: DiskPrograms,
  path: string,
  signal: AbortSignal,
): Promise<DiskInfo | undefined> {
  if (!(await exists(path))) return undefined;
  const output = await runProgram(qemuImg, ['info', '-U', '-f', 'qcow2', '--output=json', path], { ...run, signal });
  return JSON.parse(output);
}

/** Returns the virtual size of a qcow2 file that this package created. */
export async function readDiskBytes(tools: DiskPrograms, path: string, signal: AbortSignal): Promise<number> {
  const info = await readDiskInfo(tools, path, signal);
  if (!info) throw new QemuError('UNSUPPORTED', `missing disk ${basename(path)}`);
  return info['virtual-size'];
}

/**
 * Creates a qcow2 file atomically; no-op if the file exists.
 *
 * @param base the backing file, which must be in the same folder, so that the reference is valid wherever a host mounts
 * the folder
 */
export async function createDisk(
  { qemuImg, run }: DiskPrograms,
  path: string,
  bytes: number,
  base: string | null,
  signal: AbortSignal,
): Promise<void> {
  if (await exists(path)) return;
  const backingArgs = base === null ? [] : ['-b', basename(base), '-F', 'raw'];
  await rm(`${path}.new`, { force: true });
  await runProgram(qemuImg, ['create', '-q', '-f', 'qcow2', ...backingArgs, `${path}.new`, `${bytes}`], {
    ...run,
    signal,
  });
  await rename(`${path}.new`, path);
}

/** The files of a root disk and its kernel. A rescue disk has its own set. */
const ROOT_FILES = {
  disk: 'root',
  base: 'rootBase',
  image: 'rootImage',
  cdrom: 'cdrom',
  kernel: 'kernel',
  ramdisk: 'ramdisk',
  commandLine: 'commandLine',
} as const;
const RESCUE_FILES = {
  disk: 'rescue',
  base: 'rescueBase',
  image: 'rescueImage',
  cdrom: 'rescueCdrom',
  kernel: 'rescueKernel',
  ramdisk: 'rescueRamdisk',
  commandLine: 'rescueCommandLine',
} as const;

/** The default kernel command line, which prints to both consoles and mounts the first disk as root. */
const DEFAULT_COMMAND_LINE = 'root=/dev/vda console=tty0 console=ttyS0';

/**
 * Creates a disk from an image, and fetches the image's kernel; keeps existing files. An ISO image becomes a CD, and no
 * disk is created, so an installer on the CD needs a volume or an ephemeral disk.
 */
async function createSystemDisk(
  tools: DiskTools,
  server: Server,
  imageId: string,
  diskGb: number,
  fileNames: typeof ROOT_FILES | typeof RESCUE_FILES,
  folder: MachineFolder,
  signal: AbortSignal,
): Promise<void> {
  const { cache, images } = tools;
  if ((await folder.exists(fileNames.disk)) || (await folder.exists(fileNames.cdrom))) return;
  const owner = ownerOf(server);
  const { properties, diskFormat } = await images.get(owner, imageId);
  const isCd = diskFormat === 'iso';
  const bytes = await cache.linkImage(owner, imageId, folder.file(fileNames.base), isCd ? 0 : diskGb * GIB, signal);
  await writeFile(folder.file(fileNames.image), imageId);
  await fetchKernel(tools, server, properties, fileNames, folder, signal);
  if (isCd) return writeFile(folder.file(fileNames.cdrom), '');
  await createDisk(tools, folder.file(fileNames.disk), diskGb * GIB || bytes, folder.file(fileNames.base), signal);
}

/** Fetches the kernel and the ramdisk that an image's properties name, if any. */
async function fetchKernel(
  { cache }: DiskTools,
  server: Server,
  properties: Readonly<Record<string, string>>,
  fileNames: typeof ROOT_FILES | typeof RESCUE_FILES,
  folder: MachineFolder,
  signal: AbortSignal,
): Promise<void> {
  const option = machineOptionsOf({ extraSpecs: {} }, properties);
  for (const [name, id] of [
    [fileNames.kernel, option('kernel')],
    [fileNames.ramdisk, option('ramdisk')],
  ] as const) {
    if (id) await cache.linkImage(ownerOf(server), id, folder.file(name), 0, signal);
    else await rm(folder.file(name), { force: true });
  }
  await writeFile(folder.file(fileNames.commandLine), option('commandLine') ?? DEFAULT_COMMAND_LINE);
}

/** Creates a server's local disks; keeps existing ones. */
export async function createDisks(
  tools: DiskTools,
  server: Server,
  imageId: string,
  { diskGb, ephemeralGb, swapMb }: FlavorCopy,
  folder: MachineFolder,
  signal: AbortSignal,
): Promise<void> {
  if (isVolumeBacked(server)) await fetchKernel(tools, server, server.imageProperties, ROOT_FILES, folder, signal);
  else if (imageId !== '') await createSystemDisk(tools, server, imageId, diskGb, ROOT_FILES, folder, signal);
  if (ephemeralGb > 0) await createDisk(tools, folder.disk('ephemeral'), ephemeralGb * GIB, null, signal);
  if (swapMb > 0) await createDisk(tools, folder.disk('swap'), swapMb * MIB, null, signal);
}

/** Creates a server's rescue disk from a rescue image. */
export async function createRescueDisk(
  tools: DiskTools,
  server: Server,
  imageId: string,
  folder: MachineFolder,
  signal: AbortSignal,
): Promise<void> {
  await createSystemDisk(tools, server, imageId, server.flavor.diskGb, RESCUE_FILES, folder, signal);
}
