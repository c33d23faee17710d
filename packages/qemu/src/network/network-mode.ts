import type { Server } from '@apistrata/compute-engine';
import type { Diagnostics } from '@apistrata/compute-engine/drivers';
import type { GuestInterface } from '../guest/guest-networks.js';
import type { MachineFolder } from '../machine/machine-folder.js';
import type { NetworkBackend } from './user-network.js';

/** Finds the machine folders on this host. */
export interface MachineFolders {
  /** Returns the ids of the servers that have a machine folder on this host. */
  machineIds(): Promise<readonly string[]>;
  folderOf(serverId: string): MachineFolder;
}

/** What a machine's interfaces require of their network backends. */
export interface NicRequirements {
  /** The number of queue pairs of each interface. Networks that QEMU emulates support only one. */
  readonly queues: readonly number[];
  /** Whether the interfaces are virtio devices, for which vhost-net can be used. */
  readonly virtio: boolean;
}

/** A way to connect guest interfaces to networks. */
export interface NetworkMode {
  /**
   * Connects interfaces of a server to their networks. Returns the network backends in the same order.
   *
   * @param starting whether the machine is about to start; if so, `interfaces` contains all of its interfaces
   */
  connect(
    server: Server,
    interfaces: readonly GuestInterface[],
    starting: boolean,
    requirements: NicRequirements,
  ): Promise<readonly NetworkBackend[]>;
  /** Returns the traffic counters of a server's interfaces; empty if traffic is not counted. */
  counters(server: Server): Promise<Diagnostics['nics']>;
  /** Releases the network resources of a server that is removed from this host. */
  release(serverId: string): Promise<void>;
  /**
   * Waits for the first build, and returns why guests cannot be connected to networks, in one line; null if they can.
   */
  problem(): Promise<string | null>;
  /** Calls the listener when `problem` may have changed. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
  /** This host's endpoint for encrypted tunnels; undefined if tunnels are not encrypted. */
  readonly wireguard?: { readonly publicKey: string; readonly port: number } | undefined;
  /** Stops managing networks. The networks of running guests remain. */
  close(): Promise<void>;
}
