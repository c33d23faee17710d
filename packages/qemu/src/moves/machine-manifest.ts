import { readFile, stat } from 'node:fs/promises';
import type { Host } from '../host.js';
import { queryBlockNodes } from '../machine/copy-disk.js';
import type { MachineFile, MachineFolder } from '../machine/machine-folder.js';
import { type MachineLayout, queryLayout } from '../machine/machine-layout.js';

/** The names of a machine's disks that are not volumes. Their devices and block nodes have the same names. */
export const LOCAL_DISKS = ['root', 'ephemeral', 'swap'] as const;
export type LocalDisk = (typeof LOCAL_DISKS)[number];

/** The files that a machine needs in addition to its disks, and that move with it to another host. */
const COMPANION_FILES = [
  ...(['cdrom', 'kernel', 'ramdisk', 'commandLine'] as const),
  ...(['firmwareVariables', 'tpm2State', 'tpm1State', 'configDrive'] as const),
] as const;

/** The files, in addition to disks, that another host may request. */
const FETCHABLE_FILES: readonly MachineFile[] = [...COMPANION_FILES, 'rootBase', 'console'];

/** The description of a machine, with all that another host needs to take it over. */
export interface MachineManifest {
  /** The machine's device layout, including its CPU; null while the machine is off. */
  readonly layout: MachineLayout | null;
  /** Whether the machine is being migrated to another host. */
  readonly leaving: boolean;
  /** The machine's disks, with their virtual sizes in bytes; the sizes are null while the machine is off. */
  readonly disks: Readonly<Partial<Record<LocalDisk, number | null>>>;
  /** The image that backs the root disk, and the size of the image in bytes; null if no image backs it. */
  readonly base: { readonly imageId: string | null; readonly bytes: number } | null;
  readonly files: readonly MachineFile[];
  /** The id of the cold migration for which the machine was stopped; null otherwise. */
  readonly move: string | null;
}

/** Returns the path of a machine's disk. */
export function diskFile(folder: MachineFolder, disk: LocalDisk): string {
  return disk === 'root' ? folder.file('root') : folder.disk(disk);
}

async function readSize(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}

/** Returns the path of a machine's file by name; undefined if other hosts may not read the file. */
export function findReadableFile(folder: MachineFolder, name: string): string | undefined {
  const disk = LOCAL_DISKS.find((allowed) => allowed === name);
  if (disk) return diskFile(folder, disk);
  const file = FETCHABLE_FILES.find((allowed) => allowed === name);
  return file && folder.file(file);
}

/** Returns the manifest of a machine, whether or not it is running. */
export async function createManifest(host: Host, serverId: string): Promise<MachineManifest> {
  const machine = host.machine({ id: serverId });
  const { folder } = machine;
  const qmp = await machine.connectIfRunning();
  const nodes = qmp && (await queryBlockNodes(qmp));
  const disks: Partial<Record<LocalDisk, number | null>> = {};
  for (const disk of LOCAL_DISKS)
    if ((await readSize(diskFile(folder, disk))) !== undefined)
      disks[disk] = nodes?.get(disk)?.['virtual-size'] ?? null;
  const files: MachineFile[] = [];
  for (const name of COMPANION_FILES) if (await folder.exists(name)) files.push(name);
  const bytes = await readSize(folder.file('rootBase'));
  const readText = (name: MachineFile) => readFile(folder.file(name), 'utf8').catch(() => null);
  const imageId = await readText('rootImage');
  return {
    layout: qmp ? await queryLayout(folder, qmp) : null,
    leaving: host.moves.has(serverId),
    disks,
    base: bytes === undefined ? null : { imageId, bytes },
    files,
    move: await readText('coldMigrationId'),
  };
}
