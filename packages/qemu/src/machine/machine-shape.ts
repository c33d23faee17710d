import type { GuestCpu } from '../cpu/guest-cpu.js';
import type { Firmware } from '../firmware/find-firmware.js';
import type { NetworkBackend } from '../network/user-network.js';
import type { Acceleration } from '../programs/acceleration.js';
import type { NicModel, Tuning } from '../tuning/tuning.js';

/** A disk in a file of this host. */
export interface DiskShape {
  /** The name of the device: `root`, `ephemeral-0`, `swap`. */
  readonly id: string;
  /** A qcow2 file created by this program; for a CD, the image itself. */
  readonly file: string;
  /** Whether the file is in a CD drive. */
  readonly cdrom?: boolean;
}

/** A volume that an NBD server provides. */
export interface VolumeShape {
  readonly id: string;
  /** The serial number that the guest sees: the id of the volume. */
  readonly serial: string;
  /** The socket of the NBD server, and the name of the export. */
  readonly socket: string;
  readonly exportName: string;
  readonly readOnly: boolean;
  /** How long a guest waits for an unavailable volume; default: 60 seconds. */
  readonly reconnectSeconds?: number;
}

export interface NicShape {
  readonly id: string;
  readonly mac: string;
  readonly mtu: number;
  readonly model: NicModel;
  /** The network backend of the interface. */
  readonly backend: NetworkBackend;
}

export interface KernelShape {
  readonly kernel: string;
  readonly ramdisk: string | null;
  readonly commandLine: string;
}

/** The configuration of a machine; all files that it names exist. */
export interface MachineShape {
  readonly serverId: string;
  readonly acceleration: Acceleration;
  readonly cpu: GuestCpu;
  readonly tuning: Tuning;
  /** Null for a machine with a BIOS. */
  readonly firmware: Firmware | null;
  readonly vcpus: number;
  readonly memoryMb: number;
  /** The kernel to boot; null: the firmware boots from the first disk. */
  readonly kernel: KernelShape | null;
  /** In the order in which the guest names them. */
  readonly disks: readonly (DiskShape | VolumeShape)[];
  readonly configDrive: string | null;
  readonly nics: readonly NicShape[];
  /** Whether there is a channel to a guest agent. */
  readonly agent: boolean;
}

export function isVolume(disk: DiskShape | VolumeShape): disk is VolumeShape {
  return 'socket' in disk;
}
