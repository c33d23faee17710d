import { readFile, stat } from 'node:fs/promises';
import type { Host } from '../host.js';
import { blockNodesOf } from '../machine/copy-disk.js';
import type { MachineFile, MachineFolder } from '../machine/machine-folder.js';
import { layoutOf, type MachineLayout } from '../machine/machine-layout.js';

/** The disks in local files, by the names of their devices and block nodes. */
export const OWN_DISKS = ['root', 'ephemeral', 'swap'] as const;
export type OwnDisk = (typeof OWN_DISKS)[number];

/** Files that a machine needs on every host, in addition to its disks. */
const COMPANIONS = [
  ...(['cdrom', 'kernel', 'ramdisk', 'commandLine'] as const),
  ...(['firmwareVariables', 'tpm2State', 'tpm1State', 'configDrive'] as const),
] as const;

/** Files that another host may request. */
const FETCHED: readonly MachineFile[] = [...COMPANIONS, 'rootBase', 'console'];

/** The description of a machine for another host that takes it over. */
export interface MachineManifest {
  /** The layout of the machine, including its CPU; null while it is off. */
  readonly layout: MachineLayout | null;
  /** Whether it is moving to another host. */
  readonly leaving: boolean;
  /** Its local disks, with their sizes in bytes while it runs. */
  readonly disks: Readonly<Partial<Record<OwnDisk, number | null>>>;
  /** The image that backs its root disk, with its size in bytes; null if the disk has none. */
  readonly base: { readonly imageId: string | null; readonly bytes: number } | null;
  readonly files: readonly MachineFile[];
  /** The move for which it was stopped; null otherwise. */
  readonly move: string | null;
}

/** Returns the path of a local disk. */
export function diskFile(folder: MachineFolder, disk: OwnDisk): string {
  return disk === 'root' ? folder.file('root') : folder.disk(disk);
}

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}

/** Returns the path of a file that another host may read, by name; undefined for all other names. */
export function readableFile(folder: MachineFolder, name: string): string | undefined {
  const disk = OWN_DISKS.find((allowed) => allowed === name);
  if (disk) return diskFile(folder, disk);
  const file = FETCHED.find((allowed) => allowed === name);
  return file && folder.file(file);
}

/** Returns the manifest of a machine, whether it runs or not. */
export async function machineManifest(host: Host, serverId: string): Promise<MachineManifest> {
  const machine = host.machine({ id: serverId });
  const { folder } = machine;
  const qmp = await machine.connectIfRunning();
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
    layout: qmp ? await layoutOf(folder, qmp) : null,
    leaving: host.moves.has(serverId),
    disks,
    base: bytes === undefined ? null : { imageId, bytes },
    files,
    move: await text('move'),
  };
}
