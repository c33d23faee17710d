import { randomUUID } from 'node:crypto';
import type { VolumeStatus, VolumeView } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { type Route, serialized } from '../service/route.js';
import { badRequest, conflict } from '../service/service-error.js';
import { text } from '../service/wire-types.js';
import { type Actions, createActionRoute, defineAction, statusSchema } from './action-route.js';
import { catalog, changeVolume, IMAGE_ACTIONS, invalidVolume, ok, requireAvailable } from './image-actions.js';
import { markUnmanaged } from './manage-routes.js';
import { checkQuota } from './quota-check.js';
import { acceptsVolumes, findPool, poolsFor } from './storage-pool.js';
import { hostOrCluster, invalidInput, isAtLeast } from './volume-style.js';
import { boolean, object, size, uuid } from './wire-types.js';

const admin = { role: 'admin' } as const;
const connector = z.union([z.record(z.string(), z.unknown()), z.string()]);

interface Attach {
  readonly instance_uuid?: string;
  readonly host_name?: string;
  readonly mountpoint: string;
}

async function attach(call: Call, { id, status }: VolumeView, args: Attach) {
  if (status === 'attaching') await changeVolume(call, id, { status: 'available' }, status);
  const serverId = args.instance_uuid ?? '';
  const attachment = await catalog(call).reserve(call.caller, { key: randomUUID(), volumeId: id, serverId });
  await catalog(call).connect(call.caller, attachment.id, { host: args.host_name ?? '', mountpoint: args.mountpoint });
  await catalog(call).complete(call.caller, attachment.id);
}

async function detachAll(call: Call, { attachments }: Pick<VolumeView, 'attachments'>) {
  for (const { id } of attachments) await catalog(call).deleteAttachment(call.caller, id);
}

async function revert(call: Call, volume: VolumeView, snapshotId: string | null | undefined) {
  const { id } = volume;
  const snapshots = await catalog(call).listSnapshots(call.caller, { volumeId: id, allProjects: call.isAdmin });
  const [latest] = snapshots;
  if (!latest) throw badRequest(`Volume ${id} doesn't have any snapshots.`);
  // A volume can be reverted only to its latest snapshot.
  if (latest.id !== snapshotId)
    throw badRequest(`Specified snapshot ${snapshotId ?? null} is None or not the latest one of volume ${id}.`);
  const revertFailure = `Can't revert volume ${id} to its latest snapshot ${latest.id}.`;
  if (latest.sizeGb !== volume.sizeGb)
    throw badRequest(`${revertFailure} The volume size must be equal to the snapshot size.`);
  if (volume.status !== 'available')
    throw conflict(`Invalid volume: ${revertFailure} Volume's status must be 'available'.`);
  if (latest.status !== 'available')
    throw conflict(`Invalid snapshot: ${revertFailure} Snapshot's status must be 'available'.`);
}

const VolumeStatuses = statusSchema(
  'Volume',
  ...['creating', 'available', 'deleting', 'error', 'error_deleting', 'error_managing', 'managing', 'attaching'],
  ...['in-use', 'detaching', 'maintenance', 'restoring-backup', 'error_restoring', 'reserved', 'awaiting-transfer'],
  ...['backing-up', 'error_backing-up', 'error_extending', 'downloading', 'uploading', 'retyping', 'extending'],
);

/** The volume actions, by key in the request body. */
const ACTIONS: Actions<VolumeView> = {
  'os-extend': defineAction(
    object({ new_size: size }),
    async (call, volume, { new_size }) => {
      const { id, sizeGb, volumeType, status } = volume;
      if (status === 'in-use' && !isAtLeast(call, 42)) requireAvailable(volume, ` to extend, currently ${status}.`);
      const pending = { id, sizeGb: new_size, volumeType };
      await checkQuota(call, { gigabytes: Math.max(new_size - sizeGb, 0) }, volumeType, pending);
      await catalog(call).extendVolume(call.caller, id, new_size);
    },
    { policy: 'volume:extend' },
  ),
  'os-set_bootable': defineAction(
    object({ bootable: boolean }),
    async (call, { id }, args) => void (await changeVolume(call, id, args)),
    { ...ok, policy: 'volume:update' },
  ),
  'os-reset_status': defineAction(
    object({
      status: VolumeStatuses.nullish(),
      attach_status: statusSchema('Volume attach', 'attached', 'detached').nullish(),
      migration_status: statusSchema(
        'Volume migration',
        ...['migrating', 'error', 'success', 'completing', 'none', 'starting'],
      ).nullish(),
    }).refine(
      ({ status, attach_status, migration_status }) => status || attach_status || migration_status,
      "Must specify 'status', 'attach_status' or 'migration_status' for update.",
    ),
    async (call, volume, { status, attach_status, migration_status }) => {
      if (status === 'deleting') throw badRequest('Cannot reset-state to deleting');
      if (status === 'in-use' && volume.attachments.length === 0)
        throw badRequest('Cannot reset-state to in-use because volume does not have any attachments.');
      await changeVolume(call, volume.id, {
        status: (status ?? undefined) as VolumeStatus | undefined,
        migrationStatus: migration_status === 'none' ? null : (migration_status ?? undefined),
      });
      if (attach_status === 'detached') await detachAll(call, volume);
    },
    admin,
  ),
  'os-update_readonly_flag': defineAction(
    object({ readonly: boolean }),
    async (call, volume, { readonly }) => {
      requireAvailable(volume, ` to update readonly flag, but current status is: ${volume.status}.`);
      await changeVolume(call, volume.id, { metadata: { ...volume.metadata, readonly: readonly ? 'True' : 'False' } });
    },
    { policy: 'volume:update_readonly_flag' },
  ),
  'os-retype': defineAction(
    object({ new_type: z.string(), migration_policy: z.enum(['on-demand', 'never']).optional() }),
    async (call, volume, { new_type }) => {
      const { id, status, volumeType, sizeGb } = volume;
      const type = await catalog(call).getType(call.caller, new_type);
      const multiattach = type.extraSpecs.multiattach === '<is> True';
      if (multiattach !== volume.multiattach && status !== 'available')
        throw invalidInput(
          `Invalid volume_type passed, retypes affecting multiattach are only allowed on available volumes, the specified volume however currently has a status of: ${status}.`,
        );
      if (type.name === volumeType || !['available', 'in-use'].includes(status))
        throw invalidVolume(
          'Retype needs volume to be in available or in-use state, not be part of an active migration or a consistency group, requested type has to be different that the one from the volume, and for in-use volumes front-end qos specs cannot change.',
        );
      await checkQuota(call, { [`volumes_${type.name}`]: 1, [`gigabytes_${type.name}`]: sizeGb });
      // If the volume's pool does not meet the new type's specs, the volume keeps its type.
      if ((await poolsFor(call, type)).some(({ host }) => host === volume.host))
        await changeVolume(call, id, { volumeType: type.name, multiattach });
    },
    { policy: 'volume:retype' },
  ),
  'os-reserve': {
    async run(call, { id, status, multiattach }) {
      const expected = multiattach ? ['available', 'in-use'] : ['available'];
      if (!expected.includes(status))
        throw invalidVolume(`Volume status must be ${expected.join(' or ')} to reserve, but the status is ${status}.`);
      await changeVolume(call, id, { status: 'attaching' }, status);
    },
  },
  'os-unreserve': {
    async run(call, { id, status, attachments }) {
      if (status === 'attaching')
        await changeVolume(call, id, { status: attachments.length > 0 ? 'in-use' : 'available' }, status);
    },
  },
  'os-attach': defineAction(
    object({
      instance_uuid: uuid.optional(),
      mountpoint: text.min(1),
      host_name: text.optional(),
      mode: z.enum(['rw', 'ro']).optional(),
    }).refine(
      (args) => args.instance_uuid !== undefined || args.host_name !== undefined,
      "'instance_uuid' is a required property",
    ),
    attach,
  ),
  'os-detach': defineAction(
    object({ attachment_id: uuid.nullish() }).nullable(),
    async (call, { attachments }, args) => {
      const attachment = args?.attachment_id
        ? attachments.find((one) => one.id === args.attachment_id)
        : attachments[0];
      if (attachment) await catalog(call).deleteAttachment(call.caller, attachment.id);
    },
  ),
  'os-force_detach': defineAction(
    object({ attachment_id: z.string().nullish(), connector: connector.nullish() }),
    async (call, { id, attachments }, { attachment_id }) => {
      const attachment = attachments.find((one) => !attachment_id || one.id === attachment_id);
      if (!attachment) throw invalidVolume('unknown attachment.');
      // The volume becomes available even if its status was, for example, `error`.
      await changeVolume(call, id, { status: 'detaching' });
      await catalog(call).deleteAttachment(call.caller, attachment.id);
    },
    admin,
  ),
  'os-begin_detaching': { run: (call, { id }) => catalog(call).beginDetaching(call.caller, id) },
  'os-roll_detaching': { run: (call, { id }) => catalog(call).rollbackDetaching(call.caller, id) },
  'os-initialize_connection': defineAction(
    object({ connector }),
    (_call, { id }, args) => {
      const connectionData = { device_path: `/volumes/${id}`, access_mode: 'rw', target_discovered: false };
      const enforce_multipath = (typeof args.connector === 'object' && args.connector.enforce_multipath) || false;
      return { connection_info: { driver_volume_type: 'local', data: connectionData, enforce_multipath } };
    },
    ok,
  ),
  'os-terminate_connection': defineAction(object({ connector: connector.nullable() }), () => undefined),
  'os-force_delete': {
    async run(call, { id }) {
      await detachAll(call, await changeVolume(call, id, { status: 'error' }));
      await changeVolume(call, id, { status: 'error' });
      await catalog(call).deleteVolume(call.caller, id);
    },
    ...admin,
  },
  'os-unmanage': {
    async run(call, { id, status, sizeGb }) {
      if (status === 'in-use') throw invalidVolume(`Volume ${id} is attached.`);
      await catalog(call).deleteVolume(call.caller, id);
      markUnmanaged(call, 'volume', id, { size: sizeGb });
    },
    ...admin,
    policy: 'volume_extension:volume_unmanage',
  },
  'os-migrate_volume': defineAction(
    object({
      host: text.nullish(),
      cluster: text.nullish(),
      force_host_copy: boolean.optional(),
      lock_volume: boolean.optional(),
    }),
    async (call, { id }, args) => {
      const destination = hostOrCluster(call, args, 16);
      const pool = await findPool(call, destination);
      if (!pool || !acceptsVolumes(call, pool))
        throw badRequest(`Invalid host: No available service named '${destination}'`);
      // Volumes stay on their host.
      throw invalidVolume(
        `Volume ${id} status must be available or in-use, must not be migrating, have snapshots, be replicated, be part of a group and destination host/cluster must be different than the current one`,
      );
    },
    admin,
  ),
  'os-migrate_volume_completion': defineAction(
    object({ new_volume: uuid, error: z.union([z.string(), z.boolean()]).nullish() }),
    async (call, volume, { new_volume, error }) => {
      const destinationVolume = await catalog(call).getVolume(call.caller, new_volume);
      if (volume.migrationStatus || destinationVolume.migrationStatus)
        throw invalidVolume(
          volume.migrationStatus && destinationVolume.migrationStatus
            ? `Destination has migration_status ${destinationVolume.migrationStatus}, expected target:${volume.id}.`
            : `${volume.migrationStatus ? 'Destination' : 'Source'} volume not mid-migration.`,
        );
      const attachmentsToDetach = error ? [] : volume.attachments;
      await detachAll(call, { attachments: attachmentsToDetach });
      for (const { serverId, host, device } of attachmentsToDetach)
        await attach(call, destinationVolume, {
          instance_uuid: serverId,
          host_name: host ?? undefined,
          mountpoint: device ?? '',
        });
      return { save_volume_id: destinationVolume.id };
    },
    { ...admin, ...ok },
  ),
  'os-extend_volume_completion': defineAction(
    object({ error: z.union([z.string(), z.boolean()]).nullish() }),
    (_call, { status }) => {
      // A volume is extended before the response is sent, so it is never in the status `extending`.
      throw invalidVolume(
        status === 'extending'
          ? 'Required volume admin metadata is malformed or missing.'
          : 'Volume is not being extended.',
      );
    },
    admin,
  ),
  ...IMAGE_ACTIONS,
  revert: defineAction(
    z.object({ snapshot_id: z.string().nullish() }),
    (call, volume, { snapshot_id }) => revert(call, volume, snapshot_id),
    { since: 40, policy: 'volume:revert_to_snapshot' },
  ),
};

/** The route for volume actions. */
export const volumeActionRoute = (): Route =>
  serialized(
    'resource',
    createActionRoute('volumes/:id', (call) => catalog(call).getVolume(call.caller, call.param('id')), ACTIONS),
  );
