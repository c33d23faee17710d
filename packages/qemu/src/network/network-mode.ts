import type { Server } from '@apistrata/compute-engine';
import type { Diagnostics } from '@apistrata/compute-engine/drivers';
import type { GuestInterface } from '../guest/guest-networks.js';
import type { MachineFolder } from '../machine/machine-folder.js';
import type { NetworkBackend } from './user-network.js';

/** The folders of the servers on this computer. */
export interface MachineFolders {
  /** Returns the ids of the servers that have a folder on this host. */
  machineIds(): Promise<readonly string[]>;
  folderOf(serverId: string): MachineFolder;
}

/** What a machine's interfaces require of their network backends. */
export interface NicRequirements {
  /** The number of queue pairs of each interface; networks that QEMU emulates have one. */
  readonly queues: readonly number[];
  /** Whether the devices can use the kernel's implementation of virtio. */
  readonly virtio: boolean;
}

/** The networks to which guest interfaces are connected. */
export interface NetworkMode {
  /**
   * Connects interfaces of a server. Returns their backends, in the same order, when they exist.
   *
   * @param starting true if these are all interfaces of a machine that is about to start
   */
  connect(
    server: Server,
    interfaces: readonly GuestInterface[],
    starting: boolean,
    requirements: NicRequirements,
  ): Promise<readonly NetworkBackend[]>;
  /** Returns the traffic of a server's interfaces, if it is counted. */
  counters(server: Server): Promise<Diagnostics['nics']>;
  /** Frees the resources of a server that is removed from this computer. */
  release(serverId: string): Promise<void>;
  /** Returns why guests cannot be connected, in one line; null: they can. Waits for the first attempt. */
  problem(): Promise<string | null>;
  /** Calls a listener when `problem` may have changed. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
  /** The end of the encrypted tunnels of this computer; undefined: they are not encrypted. */
  readonly wireguard?: { readonly publicKey: string; readonly port: number } | undefined;
  /** Stops the work of this process; guest resources stay. */
  leave(): Promise<void>;
}
