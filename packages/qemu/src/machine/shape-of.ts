import { readFile } from 'node:fs/promises';
import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import type { GuestCpu } from '../cpu/guest-cpu.js';
import { prepareFirmware } from '../firmware/prepare-firmware.js';
import { hasAgent } from '../guest/guest-agent.js';
import type { Acceleration } from '../programs/acceleration.js';
import { tuningOf } from '../tuning/tuning.js';
import type { MachineFile, MachineFolder } from './machine-folder.js';
import type { DiskShape, KernelShape, MachineShape, NicShape, VolumeShape } from './machine-shape.js';

const OWN_KERNEL = ['kernel', 'ramdisk', 'commandLine'] as const;
const RESCUE_KERNEL = ['rescueKernel', 'rescueRamdisk', 'rescueCommandLine'] as const;

async function kernelOf(folder: MachineFolder, rescued: boolean): Promise<KernelShape | null> {
  // A rescue image without a kernel uses the server's kernel.
  const [kernel, ramdisk, commandLine] = rescued && (await folder.exists('rescueKernel')) ? RESCUE_KERNEL : OWN_KERNEL;
  if (!(await folder.exists(kernel))) return null;
  return {
    kernel: folder.file(kernel),
    ramdisk: (await folder.exists(ramdisk)) ? folder.file(ramdisk) : null,
    commandLine: await readFile(folder.file(commandLine), 'utf8'),
  };
}

/** Returns the configuration of a server's machine, based on the server record and the machine folder. */
export async function shapeOf(
  server: Server,
  flavor: FlavorCopy,
  parts: {
    readonly folder: MachineFolder;
    readonly acceleration: Acceleration;
    readonly cpu: GuestCpu;
    readonly nics: readonly NicShape[];
    /** The volume from which the machine boots, if any, and its other volumes. */
    readonly bootVolume: VolumeShape | null;
    readonly volumes: readonly VolumeShape[];
  },
): Promise<MachineShape> {
  const { folder, acceleration, cpu, nics, bootVolume, volumes } = parts;
  const tuning = tuningOf(flavor, server.imageProperties);
  const rescued = (await folder.exists('rescue')) || (await folder.exists('rescueCdrom'));
  const disk = (id: string, file: string): DiskShape => ({ id, file });
  const system = async (id: 'root' | 'rescue', base: MachineFile, cdrom: MachineFile): Promise<DiskShape[]> => {
    if (await folder.exists(cdrom)) return [{ id, file: folder.file(base), cdrom: true }];
    return (await folder.exists(id)) ? [disk(id, folder.file(id))] : [];
  };
  const systems = [
    ...(rescued ? await system('rescue', 'rescueBase', 'rescueCdrom') : []),
    ...(await system('root', 'rootBase', 'cdrom')),
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
    cpu,
    tuning,
    firmware: await prepareFirmware(folder, tuning),
    vcpus: flavor.vcpus,
    memoryMb: flavor.memoryMb,
    kernel: await kernelOf(folder, rescued),
    disks: [...systems, ...extra, ...volumes],
    configDrive: (await folder.exists(configDrive)) ? folder.file(configDrive) : null,
    nics,
    agent: hasAgent(server),
  };
}
