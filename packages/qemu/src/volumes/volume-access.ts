import type { Server } from '@apistrata/compute-engine';
import type { VolumeShape } from '../machine/machine-shape.js';

/** The user of a volume: a server on this host, or, with a derived id, a server on another host. */
export type VolumeUser = Pick<Server, 'id' | 'userId' | 'projectId'>;

/** Gives the servers on this host access to volumes that this host or another one stores. */
export interface VolumeAccess {
  /** Makes a volume accessible to a server until `close()` is called. */
  open(server: VolumeUser, volumeId: string): Promise<VolumeShape>;
  close(serverId: string, volumeId: string): Promise<void>;
  /**
   * Disconnects a lost host from a volume of its server, even if the server is still running there. Called before
   * another host opens the volume.
   */
  detach(host: string, serverId: string, volumeId: string): Promise<void>;
  /** Reverts `detach`, because the server stays on that host. */
  reattach(host: string, server: VolumeUser, volumeId: string): Promise<void>;
  /** Takes over the volume connections of an earlier process. */
  recover(): Promise<void>;
  /** Stops managing volumes. The processes that serve volumes to guests keep running. */
  stop(): Promise<void>;
}

/** Returns the QEMU device id of a volume. */
export function volumeDeviceId(volumeId: string): string {
  return `volume-${volumeId}`;
}
