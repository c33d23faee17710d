import type { NetworkBackend } from '../network/user-network.js';
import type { Acceleration } from '../programs/acceleration.js';
import type { NicModel, Tuning } from '../tuning/tuning.js';

/** A disk that is a file of this host. */
export interface DiskShape {
  /** Name of the device: `root`, `ephemeral-0`, `swap`. */
  readonly id: string;
  /** A qcow2 file that this program has made. */
  readonly file: string;
}

/** A volume that somebody serves. */
export interface VolumeShape {
  readonly id: string;
  /** What the guest sees as the serial number: the id of the volume. */
  readonly serial: string;
  /** The socket of the NBD server, and the name of the export. */
  readonly socket: string;
  readonly exportName: string;
  readonly readOnly: boolean;
  /** How long a guest waits for it when it cannot be reached; default: 60 seconds. */
  readonly reconnectSeconds?: number;
}

export interface NicShape {
  readonly id: string;
  readonly mac: string;
  readonly mtu: number;
  readonly model: NicModel;
  /** What the interface leads to. */
  readonly backend: NetworkBackend;
}

export interface KernelShape {
  readonly kernel: string;
  readonly ramdisk: string | null;
  readonly commandLine: string;
}

/** What a machine is made of, with all of it ready to be opened. */
export interface MachineShape {
  readonly serverId: string;
  readonly acceleration: Acceleration;
  readonly tuning: Tuning;
  readonly vcpus: number;
  readonly memoryMb: number;
  /** Left out: the firmware boots from the first disk. */
  readonly kernel: KernelShape | null;
  /** In the order in which the guest names them. */
  readonly disks: readonly (DiskShape | VolumeShape)[];
  readonly configDrive: string | null;
  readonly nics: readonly NicShape[];
  /** Whether there is a channel to an agent in the guest. */
  readonly agent: boolean;
}

export function isVolume(disk: DiskShape | VolumeShape): disk is VolumeShape {
  return 'socket' in disk;
}
