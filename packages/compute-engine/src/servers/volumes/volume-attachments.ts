import { findAttachedDevice } from '../../actions/volumes/find-volume.js';
import type { Context } from '../../core/context.js';
import { badRequest } from '../../errors/rejection.js';
import type { BlockDevice, Server } from '../../model/index.js';
import type { Servers } from '../servers.js';
import { patchDevice } from './patch-device.js';

/** A request to update a volume attachment. All fields except `deleteOnTermination` must equal the current values. */
export interface AttachmentUpdate {
  readonly deleteOnTermination?: boolean;
  readonly device?: string | null;
  readonly tag?: string;
  readonly serverId?: string;
  readonly id?: string;
}

/**
 * Finds and updates the volume attachments of servers. The actions `attachVolume`, `detachVolume` and `swapVolume`
 * change which volumes are attached.
 */
export class VolumeAttachments {
  readonly #servers: Servers;

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** Returns a server's block device for a volume. Throws 404 if the volume is not attached. */
  get(server: Server, volumeId: string): BlockDevice {
    return findAttachedDevice(server, volumeId);
  }

  /** Changes whether the volume is deleted with its server. Other fields must equal the current values. */
  async update(context: Context, server: Server, volumeId: string, change: AttachmentUpdate): Promise<void> {
    await this.#servers.change(context, server.id, 'update', (current) => {
      const device = this.get(current, volumeId);
      const currentValues = { device: device.device, tag: device.tag ?? undefined, serverId: current.id, id: volumeId };
      for (const [name, value] of Object.entries(currentValues)) {
        const requested = change[name as keyof typeof currentValues];
        if (requested !== undefined && requested !== null && requested !== value)
          throw badRequest(`The ${name} property of a volume attachment cannot be changed.`);
      }
      const { deleteOnTermination } = change;
      return deleteOnTermination === undefined ? undefined : patchDevice(current, device.id, { deleteOnTermination });
    });
  }
}
