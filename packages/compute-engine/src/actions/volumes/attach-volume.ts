import { randomUUID } from 'node:crypto';
import { ignoreRejection } from '@apistrata/catalogs';
import { badRequest, conflict } from '../../errors/rejection.js';
import type { BlockDevice, Server } from '../../model/index.js';
import { deletePossibleReservation } from '../../servers/volumes/drop-reservation.js';
import { patchDevice } from '../../servers/volumes/patch-device.js';
import { type Change, concurrentAction } from '../runner/action.js';
import type { ConcurrentRun } from '../runner/concurrent-run.js';
import { changeDevice, removeDevice, requireDevice } from './attached-device.js';
import { findVolume } from './find-volume.js';
import { checkAttachable, createDevice, type NewAttachment } from './new-device.js';

/** Arguments of the job that attaches a volume. */
export interface AttachVolumeArguments {
  /** Id of the block device; also the key of the volume's reservation. */
  readonly deviceId: string;
  readonly volumeId: string;
}

/**
 * Connects a reserved volume to the server's host. If the server has no host, the attachment is completed without a
 * connection, so that the volume is in use, as in Nova. The server's next host then connects the volume.
 */
async function connectReservedVolume(run: ConcurrentRun<AttachVolumeArguments>): Promise<void> {
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
  const { deviceId: key, volumeId } = run.arguments;
  const { id: serverId, host } = run.server;
  const device = requireDevice(run.server, key);
  const attachmentId = device.attachmentId ?? (await volumes.reserve(caller, { key, volumeId, serverId })).id;
  if (attachmentId !== device.attachmentId) await changeDevice(run, key, { attachmentId });
  if (!host) return volumes.complete(caller, attachmentId);
  await volumes.connect(caller, attachmentId, { host, mountpoint: device.device });
  await run.perform({ verb: 'attach_volume', device: { ...device, attachmentId } });
  await volumes.complete(caller, attachmentId);
}

/** Reserves a volume and a device name, and attaches the volume. Returns the block device. */
export const attachVolume = concurrentAction({
  name: 'attachVolume',
  vmStates: ['active', 'paused', 'stopped', 'resized', 'soft-delete', 'shelved', 'shelved_offloaded'],
  lock: true,
  history: 'attach_volume',
  notifies: 'volume_attach',
  nameInMessages: 'attach_volume',
  begin: async (scope, request: NewAttachment) => {
    const { core, context, server } = scope;
    const { volumeId, tag } = request;
    if (!request.allowShelved && server.vmState.startsWith('shelved'))
      throw conflict(`Cannot 'attach_volume' instance ${server.id} while it is in vm_state ${server.vmState}`);
    if (server.vmState === 'shelved_offloaded' && tag)
      throw badRequest('Attaching tagged volumes is not supported for shelved-offloaded instances.');
    const volume = await findVolume(scope, volumeId);
    await checkAttachable(core, server, volume, request);
    const deviceId = randomUUID();
    const args: AttachVolumeArguments = { deviceId, volumeId };
    const change: Change = (_tx, current) => ({
      blockDevices: [...current.blockDevices, createDevice(core, current, deviceId, request, volume)],
    });
    const result = (current: Server): BlockDevice => {
      const device = current.blockDevices.find(({ id }) => id === deviceId);
      if (!device) throw conflict(`Volume ${volumeId} could not be attached to instance ${server.id}.`);
      return device;
    };
    return {
      arguments: args,
      change,
      undo: ({ blockDevices }: Server) => ({ blockDevices: blockDevices.filter(({ id }) => id !== deviceId) }),
      perform: async () => {
        const reservation = { key: deviceId, volumeId, serverId: server.id };
        const { id: attachmentId } = await core.catalogs.volumes.reserve(context.caller, reservation);
        return { result, change: (current: Server) => patchDevice(current, deviceId, { attachmentId }) };
      },
    };
  },
  run: async (run) => {
    const { deviceId } = run.arguments;
    let host: string | null;
    // If the server has moved to another host in the meantime, the volume is also connected to that host.
    do {
      host = run.server.host;
      await run.step('compute_attach_volume', () => connectReservedVolume(run));
      await changeDevice(run, deviceId, { attachedAt: run.core.clock.now() });
    } while (run.server.host !== host);
  },
  undo: async (run) => {
    const { deviceId, volumeId } = run.arguments;
    const { core, context, server } = run;
    const release = (id: string) => ignoreRejection(core.catalogs.volumes.deleteAttachment(context.caller, id));
    const attachmentId = server.blockDevices.find(({ id }) => id === deviceId)?.attachmentId ?? null;
    const reservation = { key: deviceId, volumeId, serverId: server.id };
    await (attachmentId ? release(attachmentId) : deletePossibleReservation(core, context.caller, reservation));
    await removeDevice(run, deviceId, attachmentId, release);
  },
});
