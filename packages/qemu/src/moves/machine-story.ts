import { readFile, stat } from 'node:fs/promises';
import type { Host } from '../host.js';
import { blockNodesOf } from '../machine/copy-disk.js';
import type { MachineFile, MachineFolder } from '../machine/machine-folder.js';
import { layoutOf, type MachineLayout } from '../machine/machine-layout.js';

/** Disks that are files of one computer, as devices and as nodes. */
export const OWN_DISKS = ['root', 'ephemeral', 'swap'] as const;
export type OwnDisk = (typeof OWN_DISKS)[number];

/** Files that a machine needs beside its disks, wherever it is. */
const COMPANIONS = ['kernel', 'ramdisk', 'commandLine', 'configDrive'] as const;

/** What may be asked for. */
const FETCHED: readonly MachineFile[] = [...COMPANIONS, 'rootBase', 'console'];

/** What another host has to know of a machine to have the same. */
export interface MachineStory {
  /** Null while it is off. */
  readonly layout: MachineLayout | null;
  /** Whether it is on its way to another host. */
  readonly leaving: boolean;
  /** Its own disks, with their sizes in bytes while it runs. */
  readonly disks: Readonly<Partial<Record<OwnDisk, number | null>>>;
  /** The image that its root disk leans on, and the size of that in bytes; null where it leans on none. */
  readonly base: { readonly imageId: string | null; readonly bytes: number } | null;
  readonly files: readonly MachineFile[];
  /** Which move it was switched off for; null where it was not. */
  readonly move: string | null;
}

/** Where a disk of a machine's own is. */
export function diskFile(folder: MachineFolder, disk: OwnDisk): string {
  return disk === 'root' ? folder.file('root') : folder.disk(disk);
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}

/** A file of a machine that another host may read, by the name that it asks for; undefined for any other name. */
export function readableFile(folder: MachineFolder, name: string): string | undefined {
  const disk = OWN_DISKS.find((known) => known === name);
  if (disk) return diskFile(folder, disk);
  const file = FETCHED.find((known) => known === name);
  return file && folder.file(file);
}

export async function machineStory(host: Host, serverId: string): Promise<MachineStory> {
  const machine = host.machine({ id: serverId });
  const { folder } = machine;
  const qmp = await machine.running();
  const nodes = qmp && (await blockNodesOf(qmp));
  const disks: Partial<Record<OwnDisk, number | null>> = {};
  for (const disk of OWN_DISKS)
    if ((await sizeOf(diskFile(folder, disk))) !== undefined) disks[disk] = nodes?.get(disk)?.['virtual-size'] ?? null;
  const files: MachineFile[] = [];
  for (const name of COMPANIONS) if (await folder.exists(name)) files.push(name);
  const bytes = await sizeOf(folder.file('rootBase'));
  const text = (name: MachineFile) => readFile(folder.file(name), 'utf8').catch(() => null);
  const imageId = await text('rootImage');
  return {
    layout: qmp ? await layoutOf(qmp) : null,
    leaving: host.moves.has(serverId),
    disks,
    base: bytes === undefined ? null : { imageId, bytes },
    files,
    move: await text('move'),
  };
}
