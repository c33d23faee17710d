import type { Server } from '@apistrata/compute-engine';
import type { Diagnostics } from '@apistrata/compute-engine/drivers';
import type { GuestInterface } from '../guest/guest-networks.js';
import type { MachineFolder } from '../machine/machine-folder.js';
import type { NetworkBackend } from './user-network.js';

/** The servers of this computer, as networks know them. */
export interface MachinePlaces {
  /** Ids of the servers that have a folder here. */
  machineIds(): Promise<readonly string[]>;
  folderOf(serverId: string): MachineFolder;
}

/** What interfaces of guests lead to. */
export interface NetworkMode {
  /**
   * What these interfaces of a server lead to, in their order; all of it is there when this is done.
   * @param starting they are all that the machine has, and it is about to start
   */
  connect(server: Server, interfaces: readonly GuestInterface[], starting: boolean): Promise<readonly NetworkBackend[]>;
  /** What has gone over the interfaces of a server, as far as somebody counts it. */
  counters(server: Server): Promise<Diagnostics['nics']>;
  /** The server has nothing on this computer any more. */
  release(serverId: string): Promise<void>;
  /** Lets go; what guests need stays. */
  leave(): Promise<void>;
}
