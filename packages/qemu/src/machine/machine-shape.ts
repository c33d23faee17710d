import type { GuestCpu } from '../cpu/guest-cpu.js';
import type { Firmware } from '../firmware/find-firmware.js';
import type { NetworkBackend } from '../network/user-network.js';
import type { Acceleration } from '../programs/acceleration.js';
import type { NicModel, Tuning } from '../tuning/tuning.js';

/** A disk that is stored in a file on this host. */
export interface DiskShape {
  /** The id of the QEMU device: `root`, `rescue`, `ephemeral` or `swap`. */
  readonly id: string;
  /** The path of a qcow2 file; for a CD, the path of the image itself. */
  readonly file: string;
  /** Whether the disk is a CD. */
  readonly cdrom?: boolean;
}

/** A volume that QEMU accesses through an NBD server. */
export interface VolumeShape {
  readonly id: string;
  /** The id of the volume, which the guest sees as the serial number. */
  readonly serial: string;
  /** The path of the NBD server's socket, and the name of the export. */
  readonly socket: string;
  readonly exportName: string;
  readonly readOnly: boolean;
  /** How long a guest waits for the volume if it is unavailable; default: 60 seconds. */
  readonly reconnectSeconds?: number;
}

export interface NicShape {
  readonly id: string;
  readonly mac: string;
  readonly mtu: number;
  readonly model: NicModel;
  /** The interface's network backend. */
  readonly backend: NetworkBackend;
}

export interface KernelShape {
  readonly kernel: string;
  readonly ramdisk: string | null;
  readonly commandLine: string;
}

/** The configuration of a machine, from which the QEMU command line is created. All files that it names exist. */
export interface MachineShape {
  readonly serverId: string;
  readonly acceleration: Acceleration;
  readonly cpu: GuestCpu;
  readonly tuning: Tuning;
  /** The UEFI firmware; null if the machine has a BIOS. */
  readonly firmware: Firmware | null;
  readonly vcpus: number;
  readonly memoryMb: number;
  /** The kernel to boot; null if the firmware boots from the first disk. */
  readonly kernel: KernelShape | null;
  /** The disks, in the order in which the guest names them. */
  readonly disks: readonly (DiskShape | VolumeShape)[];
  readonly configDrive: string | null;
  readonly nics: readonly NicShape[];
  /** Whether the machine has a channel to a guest agent. */
  readonly agent: boolean;
}

export function isVolume(disk: DiskShape | VolumeShape): disk is VolumeShape {
  return 'socket' in disk;
}
