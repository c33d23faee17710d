import type { Server } from '@apistrata/compute-engine';
import type { VolumeShape } from '../machine/machine-shape.js';

/** Whoever uses a volume: a server of this host, or that of another one under a name of its own. */
export type VolumeUser = Pick<Server, 'id' | 'userId' | 'projectId'>;

/** The volumes that servers of this computer use, wherever their content is. */
export interface VolumeAccess {
  /** Has a volume within reach of a server, until `close`. */
  open(server: VolumeUser, volumeId: string): Promise<VolumeShape>;
  close(serverId: string, volumeId: string): Promise<void>;
  /** Keeps a host that is lost from a volume of its server, whatever still runs there: before another one opens it. */
  takeFrom(host: string, serverId: string, volumeId: string): Promise<void>;
  /** Undoes that: the server is that host's after all. */
  giveBackTo(host: string, server: VolumeUser, volumeId: string): Promise<void>;
  /** Takes up what a former process has left. */
  recover(): Promise<void>;
  /** Ends what is being done; what guests need of other processes stays. */
  leave(): Promise<void>;
}

/** The name of a volume's device in QEMU. */
export function volumeDeviceId(volumeId: string): string {
  return `volume-${volumeId}`;
}
