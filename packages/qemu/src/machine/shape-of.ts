import { readFile } from 'node:fs/promises';
import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import { hasAgent } from '../guest/guest-agent.js';
import type { GuestInterface } from '../guest/guest-networks.js';
import type { NetworkBackend } from '../network/user-network.js';
import type { Acceleration } from '../programs/acceleration.js';
import { type Tuning, tuningOf } from '../tuning/tuning.js';
import type { MachineFolder } from './machine-folder.js';
import type { DiskShape, KernelShape, MachineShape, NicShape, VolumeShape } from './machine-shape.js';

/** The name of an interface in QEMU. */
export function nicId(portId: string): string {
  return `nic-${portId}`;
}

export function nicShape(nic: GuestInterface, { nicModel: model }: Tuning, backend: NetworkBackend): NicShape {
  return { id: nicId(nic.portId), mac: nic.mac, mtu: nic.mtu, model, backend };
}

const OWN = ['kernel', 'ramdisk', 'commandLine'] as const;
const RESCUE = ['rescueKernel', 'rescueRamdisk', 'rescueCommandLine'] as const;

async function kernelOf(folder: MachineFolder, rescued: boolean): Promise<KernelShape | null> {
  // A rescue image without a kernel of its own runs with the server's.
  const [kernel, ramdisk, commandLine] = rescued && (await folder.exists('rescueKernel')) ? RESCUE : OWN;
  if (!(await folder.exists(kernel))) return null;
  return {
    kernel: folder.file(kernel),
    ramdisk: (await folder.exists(ramdisk)) ? folder.file(ramdisk) : null,
    commandLine: await readFile(folder.file(commandLine), 'utf8'),
  };
}

/** What a server's machine is made of now: its record, and what its folder holds. */
export async function shapeOf(
  server: Server,
  flavor: FlavorCopy,
  parts: {
    readonly folder: MachineFolder;
    readonly acceleration: Acceleration;
    readonly nics: readonly NicShape[];
    /** The volume that it boots from, where it does, and the others. */
    readonly bootVolume: VolumeShape | null;
    readonly volumes: readonly VolumeShape[];
  },
): Promise<MachineShape> {
  const { folder, acceleration, nics, bootVolume, volumes } = parts;
  const tuning = tuningOf(flavor, server.imageProperties);
  const rescued = await folder.exists('rescue');
  const disk = (id: string, file: string): DiskShape => ({ id, file });
  const system = [
    ...(rescued ? [disk('rescue', folder.file('rescue'))] : []),
    ...((await folder.exists('root')) ? [disk('root', folder.file('root'))] : []),
    ...(bootVolume ? [bootVolume] : []),
  ];
  const extra = [
    ...(flavor.ephemeralGb > 0 ? [disk('ephemeral', folder.disk('ephemeral'))] : []),
    ...(flavor.swapMb > 0 ? [disk('swap', folder.disk('swap'))] : []),
  ];
  const configDrive = rescued ? 'rescueConfigDrive' : 'configDrive';
  return {
    serverId: server.id,
    acceleration,
    tuning,
    vcpus: flavor.vcpus,
    memoryMb: flavor.memoryMb,
    kernel: await kernelOf(folder, rescued),
    disks: [...system, ...extra, ...volumes],
    configDrive: (await folder.exists(configDrive)) ? folder.file(configDrive) : null,
    nics,
    agent: hasAgent(server),
  };
}
