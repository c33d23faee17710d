import { readFile } from 'node:fs/promises';
import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import { hasAgent } from '../guest/guest-agent.js';
import type { GuestInterface } from '../guest/guest-networks.js';
import type { NetworkBackend } from '../network/user-network.js';
import type { Acceleration } from '../programs/acceleration.js';
import type { MachineFolder } from './machine-folder.js';
import type { CpuTopology, DiskShape, KernelShape, MachineShape, NicShape, VolumeShape } from './machine-shape.js';

/** The name of an interface in QEMU. */
export function nicId(portId: string): string {
  return `nic-${portId}`;
}

export function nicShape(nic: GuestInterface, backend: NetworkBackend): NicShape {
  return { id: nicId(nic.portId), mac: nic.mac, mtu: nic.mtu, backend };
}

const positive = (text: string | undefined) =>
  text !== undefined && /^[1-9]\d{0,3}$/.test(text) ? Number(text) : undefined;

/** The topology that flavor or image ask for, completed; null where they ask for none, or for one that does not come out. */
export function topologyOf(
  { vcpus, extraSpecs }: FlavorCopy,
  properties: Server['imageProperties'],
): CpuTopology | null {
  const asked = (part: string) => positive(extraSpecs[`hw:cpu_${part}`] ?? properties[`hw_cpu_${part}`]);
  const [sockets, cores, threads] = [asked('sockets'), asked('cores'), asked('threads')];
  if (sockets === undefined && cores === undefined && threads === undefined) return null;
  const rest = vcpus / ((sockets ?? 1) * (cores ?? 1) * (threads ?? 1));
  if (!Number.isInteger(rest)) return null;
  if (sockets === undefined) return { sockets: rest, cores: cores ?? 1, threads: threads ?? 1 };
  if (cores === undefined) return { sockets, cores: rest, threads: threads ?? 1 };
  if (threads === undefined) return { sockets, cores, threads: rest };
  return rest === 1 ? { sockets, cores, threads } : null;
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
    vcpus: flavor.vcpus,
    topology: topologyOf(flavor, server.imageProperties),
    memoryMb: flavor.memoryMb,
    kernel: await kernelOf(folder, rescued),
    disks: [...system, ...extra, ...volumes],
    configDrive: (await folder.exists(configDrive)) ? folder.file(configDrive) : null,
    nics,
    agent: hasAgent(server),
  };
}
