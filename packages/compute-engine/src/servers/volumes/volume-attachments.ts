import { attachedDevice } from '../../actions/volumes/find-volume.js';
import type { Context } from '../../core/context.js';
import { badRequest } from '../../errors/refusal.js';
import type { BlockDevice, Server } from '../../model/index.js';
import type { Servers } from '../servers.js';

/** What an update says of an attachment, beside the flag, must be as it is. */
export interface AttachmentUpdate {
  readonly deleteOnTermination?: boolean;
  readonly device?: string | null;
  readonly tag?: string;
  readonly serverId?: string;
  readonly id?: string;
}

/** Volumes of servers; they come and go by the actions `attachVolume`, `detachVolume` and `swapVolume`. */
export class VolumeAttachments {
  readonly #servers: Servers;

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** The server's disk that is this volume; 404 when there is none. */
  find(server: Server, volumeId: string): BlockDevice {
    return attachedDevice(server, volumeId);
  }

  /** Changes whether the volume goes with its server. Anything else that is said must be as it is. */
  async update(context: Context, server: Server, volumeId: string, said: AttachmentUpdate): Promise<void> {
    await this.#servers.change(context, server.id, 'update', (current) => {
      const device = this.find(current, volumeId);
      const now = { device: device.device, tag: device.tag ?? undefined, serverId: current.id, id: volumeId };
      for (const [name, value] of Object.entries(now)) {
        const given = said[name as keyof typeof now];
        if (given !== undefined && given !== null && given !== value)
          throw badRequest(`The ${name} property of a volume attachment cannot be changed.`);
      }
      if (said.deleteOnTermination === undefined) return undefined;
      const changed = { ...device, deleteOnTermination: said.deleteOnTermination };
      return { blockDevices: current.blockDevices.map((d) => (d.id === device.id ? changed : d)) };
    });
  }
}
