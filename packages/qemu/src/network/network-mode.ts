import type { Server } from '@apistrata/compute-engine';
import type { Diagnostics } from '@apistrata/compute-engine/drivers';
import type { GuestInterface } from '../guest/guest-networks.js';
import type { MachineFolder } from '../machine/machine-folder.js';
import type { NetworkBackend } from './user-network.js';

/** The servers of this computer. */
export interface MachinePlaces {
  /** Returns the ids of the servers that have a folder on this host. */
  machineIds(): Promise<readonly string[]>;
  folderOf(serverId: string): MachineFolder;
}

/** What the devices of a machine need from their backends. */
export interface NicNeeds {
  /** The number of queue pairs of each interface; networks that QEMU emulates have one. */
  readonly queues: readonly number[];
  /** Whether the devices can use the kernel's implementation of virtio. */
  readonly virtio: boolean;
}

/** The networks that interfaces of guests are connected to. */
export interface NetworkMode {
  /**
   * Connects interfaces of a server. When it resolves, their backends exist, in the same order.
   *
   * @param starting true if these are all interfaces of a machine that is about to start
   */
  connect(
    server: Server,
    interfaces: readonly GuestInterface[],
    starting: boolean,
    needs: NicNeeds,
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
  /** Stops the work of this process; resources of guests stay. */
  leave(): Promise<void>;
}
