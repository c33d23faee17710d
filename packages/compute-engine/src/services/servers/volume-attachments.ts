import { randomUUID } from 'node:crypto';
import { CatalogError, type Volume } from '../../catalogs/index.js';
import type { Context } from '../../context.js';
import type { Core } from '../../core.js';
import { badRequest, conflict, forbidden, notFound } from '../../errors.js';
import { type ActionName, checkTransition } from '../../lifecycle/transitions.js';
import type { BlockDevice, Server } from '../../model/index.js';
import { isFree, nextDevice } from './device-names.js';
import type { Servers } from './servers.js';
import { SideActions } from './side-actions.js';

export interface NewAttachment {
  readonly volumeId: string;
  /** Device path such as `/dev/vdb`; left out: the next free one. */
  readonly device?: string | null;
  readonly tag?: string | null;
  readonly deleteOnTermination?: boolean;
  /** Whether servers that are shelved may be given volumes; false is the 409 of old versions. */
  readonly toShelved: boolean;
  /** Whether volumes of several servers may be attached; false is the 400 of old versions. */
  readonly multiattach: boolean;
}

/** What an update says of an attachment, beside the flag, must be as it is. */
export interface AttachmentUpdate {
  readonly deleteOnTermination?: boolean;
  readonly device?: string | null;
  readonly tag?: string;
  readonly serverId?: string;
  readonly id?: string;
}

function without(deviceId: string) {
  return async (_tx: unknown, { blockDevices }: Server) => ({
    blockDevices: blockDevices.filter(({ id }) => id !== deviceId),
  });
}

/** Volumes of servers. */
export class VolumeAttachments {
  readonly #core: Core;
  readonly #servers: Servers;
  readonly #actions: SideActions;

  constructor(core: Core, servers: Servers) {
    this.#core = core;
    this.#servers = servers;
    this.#actions = new SideActions(core);
  }

  /** The server's disk that is this volume; 404 when there is none. */
  find(server: Server, volumeId: string): BlockDevice {
    const device = server.blockDevices.find((d) => d.volumeId === volumeId && d.destination === 'volume');
    if (!device) throw notFound(`Instance ${server.id} is not attached to volume ${volumeId}`);
    return device;
  }

  /** Reserves the volume and a device, and leaves the rest to the background. Resolves to the device. */
  async attach(context: Context, server: Server, wanted: NewAttachment): Promise<BlockDevice> {
    const { volumeId } = wanted;
    if (!wanted.toShelved && server.vmState.startsWith('shelved'))
      throw conflict(`Cannot 'attach_volume' instance ${server.id} while it is in vm_state ${server.vmState}`);
    checkTransition('attachVolume', server, context.isAdmin);
    if (server.vmState === 'shelved_offloaded' && wanted.tag)
      throw badRequest('Attaching tagged volumes is not supported for shelved-offloaded instances.');
    const volume = await this.#volume(context, volumeId, notFound);
    await this.#checkAttachable(server, volume, wanted);
    const deviceId = randomUUID();
    const asked = { deviceId, volumeId };
    const { volumes } = this.#core.catalogs;
    const reserve = async (guardId: string) => {
      const { id: attachmentId } = await this.#asking(server.id, guardId, without(deviceId), () =>
        volumes.reserve(context.caller, { key: deviceId, volumeId, serverId: server.id }),
      );
      return this.#proceed(context, server.id, 'attachVolume', guardId, asked, { deviceId, attachmentId });
    };
    const device = async (_tx: unknown, current: Server) => ({
      blockDevices: [...current.blockDevices, this.#newDevice(current, deviceId, wanted, volume)],
    });
    const options = { arguments: asked, also: device };
    const changed = await this.#actions.guarded(context, server.id, 'attachVolume', options, reserve);
    const attached = changed.blockDevices.find(({ id }) => id === deviceId);
    if (!attached) throw conflict(`Volume ${volumeId} could not be attached to instance ${server.id}.`);
    return attached;
  }

  /** Begins to take a volume away. */
  async detach(context: Context, server: Server, volumeId: string): Promise<void> {
    checkTransition('detachVolume', server, context.isAdmin);
    const volume = await this.#volume(context, volumeId, notFound);
    const device = this.find(server, volumeId);
    if (device.bootIndex === 0) throw badRequest('Cannot detach a root device volume');
    await this.#checkHostUp(server);
    const asked = { deviceId: device.id, volumeId };
    await this.#actions.guarded(context, server.id, 'detachVolume', { arguments: asked }, async (guardId) => {
      await this.#asking(server.id, guardId, undefined, async () => {
        // A volume that waits for its server's next host is only reserved: there is nothing to be disconnected.
        const reserved = volume.status === 'reserved' && device.attachmentId && !server.host;
        if (!reserved) await this.#core.catalogs.volumes.beginDetaching(context.caller, volumeId);
      });
      await this.#proceed(context, server.id, 'detachVolume', guardId, asked);
    });
  }

  /** Begins to put the volume that the old one is being migrated to in its place. */
  async swap(context: Context, server: Server, oldVolumeId: string, newVolumeId: string): Promise<void> {
    checkTransition('swapVolume', server, context.isAdmin);
    const { volumes } = this.#core.catalogs;
    const old = await this.#volume(context, oldVolumeId, notFound);
    if (old.migrationStatus !== 'migrating')
      throw conflict(`Volume ${oldVolumeId} is not being migrated, so server ${server.id} keeps it.`);
    const replacement = await this.#volume(context, newVolumeId, badRequest);
    const device = this.find(server, oldVolumeId);
    if (replacement.sizeGb < old.sizeGb)
      throw badRequest(`Volume ${newVolumeId} is smaller (${replacement.sizeGb} GiB) than volume ${oldVolumeId}.`);
    if (replacement.status !== 'available')
      throw badRequest(`Volume ${newVolumeId} must be available, but it is ${replacement.status}.`);
    const key = randomUUID();
    const asked = { deviceId: device.id, oldVolumeId, newVolumeId, key };
    await this.#actions.guarded(context, server.id, 'swapVolume', { arguments: asked }, async (guardId) => {
      await this.#asking(server.id, guardId, undefined, async () => {
        await volumes.beginDetaching(context.caller, oldVolumeId);
        await volumes
          .reserve(context.caller, { key, volumeId: newVolumeId, serverId: server.id })
          .catch(async (error) => {
            await volumes.rollbackDetaching(context.caller, oldVolumeId);
            throw error;
          });
      });
      await this.#proceed(context, server.id, 'swapVolume', guardId, asked);
    });
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

  async #volume(context: Context, id: string, refusal: typeof notFound): Promise<Volume> {
    try {
      return await this.#core.catalogs.volumes.getVolume(context.caller, id);
    } catch (error) {
      if (error instanceof CatalogError && error.kind === 'not-found')
        throw refusal(`Volume ${id} could not be found.`);
      throw error;
    }
  }

  async #checkAttachable(server: Server, volume: Volume, wanted: NewAttachment): Promise<void> {
    if (volume.multiattach && !wanted.multiattach)
      throw badRequest('Multiattach volumes are only supported starting with compute API version 2.60.');
    if (volume.multiattach && server.vmState === 'shelved_offloaded')
      throw badRequest('Attaching multiattach volumes is not supported for shelved-offloaded instances.');
    const free = volume.status === 'available' || (volume.multiattach && volume.status === 'in-use');
    if (!free && !server.blockDevices.some(({ volumeId }) => volumeId === volume.id))
      throw badRequest(
        `Invalid volume: volume '${volume.id}' status must be 'available'. Currently in '${volume.status}' status.`,
      );
    if (this.#core.settings.crossZoneAttach || !server.host) return;
    const { hosts } = await this.#core.infrastructure.hosts();
    const zone = hosts.get(server.host)?.zone;
    if (zone !== volume.availabilityZone)
      throw badRequest(
        `Invalid volume: server ${server.id} is in zone ${zone} and volume ${volume.id} in zone ${volume.availabilityZone}.`,
      );
  }

  #newDevice(server: Server, id: string, wanted: NewAttachment, volume: Volume): BlockDevice {
    const { volumeId, device } = wanted;
    if (server.blockDevices.some((d) => d.volumeId === volumeId))
      throw badRequest(`Invalid volume: Volume ${volumeId} is already attached to instance ${server.id}.`);
    const most = this.#core.settings.maxDiskDevices;
    if (most >= 0 && server.blockDevices.length >= most)
      throw forbidden(
        `The maximum allowed number of disk devices (${most}) to attach to a single instance is exceeded.`,
      );
    if (device && !isFree(server, device)) throw conflict(`The supplied device path (${device}) is in use.`);
    return {
      id,
      device: device ?? nextDevice(server),
      source: 'volume',
      destination: 'volume',
      bootIndex: null,
      volumeId,
      sourceId: null,
      sizeGb: volume.sizeGb,
      volumeType: volume.volumeType,
      deleteOnTermination: wanted.deleteOnTermination ?? false,
      tag: wanted.tag ?? null,
      diskBus: null,
      deviceType: null,
      guestFormat: null,
      attachmentId: null,
      attachedAt: null,
    };
  }

  async #checkHostUp(server: Server): Promise<void> {
    if (!server.host) return;
    const { hosts } = await this.#core.infrastructure.hosts();
    const host = hosts.get(server.host);
    if (host && !this.#core.infrastructure.isUp(host.service))
      throw conflict(`Compute service of ${server.host} is unavailable at this time.`);
  }

  /**
   * Asks the volume service under the guard. What it refuses has not happened; when it does not answer at all nobody
   * knows, and the guard is left to find out.
   */
  async #asking<T>(
    serverId: string,
    guardId: string,
    undo: ReturnType<typeof without> | undefined,
    ask: () => Promise<T>,
  ): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      const refused = error instanceof CatalogError && error.kind !== 'unavailable';
      if (refused) await this.#actions.abandon(serverId, guardId, undo);
      throw error;
    }
  }

  /** Goes on in the background. */
  #proceed(
    context: Context,
    serverId: string,
    action: ActionName,
    guardId: string,
    asked: Readonly<Record<string, unknown>>,
    reserved?: { readonly deviceId: string; readonly attachmentId: string },
  ): Promise<Server> {
    return this.#actions.proceed(context, serverId, action, guardId, {
      arguments: asked,
      also: async (_tx, { blockDevices }) =>
        reserved && {
          blockDevices: blockDevices.map((device) =>
            device.id === reserved.deviceId ? { ...device, attachmentId: reserved.attachmentId } : device,
          ),
        },
    });
  }
}
