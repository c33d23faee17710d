import type { Server } from '@apistrata/compute-engine';
import type { VolumeShape } from '../machine/machine-shape.js';

/** The user of a volume: a server on this host, or a server on another host under a derived name. */
export type VolumeUser = Pick<Server, 'id' | 'userId' | 'projectId'>;

/** The volumes that servers of this computer use, stored on any computer. */
export interface VolumeAccess {
  /** Makes a volume accessible for a server, until `close`. */
  open(server: VolumeUser, volumeId: string): Promise<VolumeShape>;
  close(serverId: string, volumeId: string): Promise<void>;
  /**
   * Disconnects a lost host from a volume of its server, even if the server still runs there. Called before another host
   * opens the volume.
   */
  detach(host: string, serverId: string, volumeId: string): Promise<void>;
  /** Undoes `detach`, because the server stays on that host. */
  reattach(host: string, server: VolumeUser, volumeId: string): Promise<void>;
  /** Takes over the state of an earlier process. */
  recover(): Promise<void>;
  /** Stops the work of this process; other processes that guests need continue. */
  leave(): Promise<void>;
}

/** Returns the name of a volume's device in QEMU. */
export function volumeDeviceId(volumeId: string): string {
  return `volume-${volumeId}`;
}
