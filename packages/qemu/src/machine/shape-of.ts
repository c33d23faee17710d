import { readFile } from 'node:fs/promises';
import type { FlavorCopy, Server } from '@apistrata/compute-engine';
import type { GuestCpu } from '../cpu/guest-cpu.js';
import { prepareFirmware } from '../firmware/prepare-firmware.js';
import { hasAgent } from '../guest/guest-agent.js';
import type { Acceleration } from '../programs/acceleration.js';
import { tuningOf } from '../tuning/tuning.js';
import type { MachineFile, MachineFolder } from './machine-folder.js';
import type { DiskShape, KernelShape, MachineShape, NicShape, VolumeShape } from './machine-shape.js';

const SERVER_KERNEL_FILES = ['kernel', 'ramdisk', 'commandLine'] as const;
const RESCUE_KERNEL_FILES = ['rescueKernel', 'rescueRamdisk', 'rescueCommandLine'] as const;

async function findKernel(folder: MachineFolder, isRescued: boolean): Promise<KernelShape | null> {
  // A rescue image without a kernel uses the server's kernel.
  const [kernel, ramdisk, commandLine] =
    isRescued && (await folder.exists('rescueKernel')) ? RESCUE_KERNEL_FILES : SERVER_KERNEL_FILES;
  if (!(await folder.exists(kernel))) return null;
  return {
    kernel: folder.file(kernel),
    ramdisk: (await folder.exists(ramdisk)) ? folder.file(ramdisk) : null,
    commandLine: await readFile(folder.file(commandLine), 'utf8'),
  };
}

/** Returns the configuration of a server's machine, based on the server record and the machine folder. */
export async function createShape(
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
  const isRescued = (await folder.exists('rescue')) || (await folder.exists('rescueCdrom'));
  const diskShape = (id: string, file: string): DiskShape => ({ id, file });
  const findSystemDisks = async (
    id: 'root' | 'rescue',
    base: MachineFile,
    cdrom: MachineFile,
  ): Promise<DiskShape[]> => {
    if (await folder.exists(cdrom)) return [{ id, file: folder.file(base), cdrom: true }];
    return (await folder.exists(id)) ? [diskShape(id, folder.file(id))] : [];
  };
  const systemDisks = [
    ...(isRescued ? await findSystemDisks('rescue', 'rescueBase', 'rescueCdrom') : []),
    ...(await findSystemDisks('root', 'rootBase', 'cdrom')),
    ...(bootVolume ? [bootVolume] : []),
  ];
  const extraDisks = [
    ...(flavor.ephemeralGb > 0 ? [diskShape('ephemeral', folder.disk('ephemeral'))] : []),
    ...(flavor.swapMb > 0 ? [diskShape('swap', folder.disk('swap'))] : []),
  ];
  const configDriveFile = isRescued ? 'rescueConfigDrive' : 'configDrive';
  return {
    serverId: server.id,
    acceleration,
    cpu,
    tuning,
    firmware: await prepareFirmware(folder, tuning),
    vcpus: flavor.vcpus,
    memoryMb: flavor.memoryMb,
    kernel: await findKernel(folder, isRescued),
    disks: [...systemDisks, ...extraDisks, ...volumes],
    configDrive: (await folder.exists(configDriveFile)) ? folder.file(configDriveFile) : null,
    nics,
    agent: hasAgent(server),
  };
}
