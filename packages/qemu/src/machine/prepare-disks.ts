import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import type { DriverServices } from '@apistrata/compute-engine/drivers';
import type { ImageCache } from '../images/image-cache.js';
import { ownerOf } from '../images/image-cache.js';
import { type ProgramOptions, runProgram } from '../programs/run-program.js';
import { QemuError } from '../qemu-error.js';
import { machineOptionsOf } from '../tuning/machine-options.js';
import type { MachineFolder } from './machine-folder.js';

export const GIB = 2 ** 30;
const MIB = 2 ** 20;

/** Whether a server's root disk is a volume. */
export function isVolumeBacked({ blockDevices }: Server): boolean {
  return blockDevices.some(({ bootIndex, destination }) => bootIndex === 0 && destination === 'volume');
}

/** What disks are made with. */
export interface DiskTools {
  readonly cache: ImageCache;
  readonly images: DriverServices['images'];
  readonly qemuImg: string;
  readonly run: Omit<ProgramOptions, 'signal'>;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** What `qemu-img info` tells of a disk. */
export interface DiskInfo {
  readonly 'virtual-size': number;
  readonly snapshots?: readonly { readonly name: string }[];
}

/** What a qcow2 file is that this program has written, which a machine may have open; undefined where there is none. */
export async function diskInfo(
  { qemuImg, run }: DiskTools,
  path: string,
  signal: AbortSignal,
): Promise<DiskInfo | undefined> {
  if (!(await exists(path))) return undefined;
  const told = await runProgram(qemuImg, ['info', '-U', '-f', 'qcow2', '--output=json', path], { ...run, signal });
  return JSON.parse(told);
}

/** The size of the disk that such a file is. */
export async function diskBytes(tools: DiskTools, path: string, signal: AbortSignal): Promise<number> {
  const info = await diskInfo(tools, path, signal);
  if (!info) throw new QemuError('NOT_POSSIBLE', `there is no disk ${basename(path)}`);
  return info['virtual-size'];
}

/**
 * Makes a qcow2 file of that size, whole or not at all; one that is there stays.
 * @param base what it leans on, in the same folder: that is how it finds it, by whatever path hosts reach the folder
 */
export async function makeDisk(
  { qemuImg, run }: DiskTools,
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

/** Where the parts of a system that boots from an image are. */
const ROOT = {
  disk: 'root',
  base: 'rootBase',
  image: 'rootImage',
  kernel: 'kernel',
  ramdisk: 'ramdisk',
  commandLine: 'commandLine',
} as const;
const RESCUE = {
  disk: 'rescue',
  base: 'rescueBase',
  image: 'rescueImage',
  kernel: 'rescueKernel',
  ramdisk: 'rescueRamdisk',
  commandLine: 'rescueCommandLine',
} as const;

/** What Linux is told where the image does not say it: output goes to both consoles, the root is the first disk. */
const COMMAND_LINE = 'root=/dev/vda console=tty0 console=ttyS0';

/** The disk of an image, and the kernel that goes with it; what is there already stays. */
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
  if (await folder.exists(names.disk)) return;
  const owner = ownerOf(server);
  const bytes = await cache.put(owner, imageId, folder.file(names.base), diskGb * GIB, signal);
  await writeFile(folder.file(names.image), imageId);
  const { properties } = await images.get(owner, imageId);
  await makeKernel(tools, server, properties, names, folder, signal);
  await makeDisk(tools, folder.file(names.disk), diskGb * GIB || bytes, folder.file(names.base), signal);
}

/** The kernel that goes with a disk, where its image names one. */
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
    if (id) await cache.put(ownerOf(server), id, folder.file(name), 0, signal);
    else await rm(folder.file(name), { force: true });
  }
  await writeFile(folder.file(names.commandLine), option('commandLine') ?? COMMAND_LINE);
}

/** The disks that a server has of its own, beside its volumes; those that are there stay as they are. */
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

/** The disk of a rescue image. */
export async function makeRescueDisk(
  tools: DiskTools,
  server: Server,
  imageId: string,
  folder: MachineFolder,
  signal: AbortSignal,
): Promise<void> {
  await makeSystem(tools, server, imageId, server.flavor.diskGb, RESCUE, folder, signal);
}
