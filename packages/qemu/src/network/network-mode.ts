import type { Server } from '@apistrata/compute-engine';
import type { GuestInterface } from '../guest/guest-networks.js';
import type { NetworkBackend } from './user-network.js';

/** What interfaces of guests lead to. */
export interface NetworkMode {
  /**
   * What these interfaces of a server lead to, in their order; all of it is there when this is done.
   * @param starting they are all that the machine has, and it is about to start
   */
  connect(server: Server, interfaces: readonly GuestInterface[], starting: boolean): Promise<readonly NetworkBackend[]>;
  /** The server has nothing on this computer any more. */
  release(serverId: string): Promise<void>;
  /** Lets go; what guests need stays. */
  leave(): Promise<void>;
}
