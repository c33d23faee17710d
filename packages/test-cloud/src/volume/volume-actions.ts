import { randomUUID } from 'node:crypto';
import type { VolumeStatus } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { post, Reply, type Route } from '../service/route.js';
import { badRequest, notFound, unsupportedAction } from '../service/service-error.js';
import { micros } from '../service/times.js';
import { flag, integer, stringMap, text } from '../service/wire-types.js';
import { actionOf } from './action-of.js';
import { release } from './manage-routes.js';
import { checkQuota } from './quota-check.js';
import { hasPoolFor } from './storage-pool.js';

/** An action on a volume. */
interface Action<S extends z.ZodType> {
  /** The schema of the arguments. */
  readonly schema: S;
  /** The status of the response; default: 202. */
  readonly status?: 200;
  /** Whether the action is restricted to administrators. */
  readonly admin?: true;
  /** Executes the action, and returns the body of the response. */
  readonly run: (call: Call, id: string, args: z.infer<S>) => Promise<unknown>;
}

const action = <S extends z.ZodType>(
  schema: S,
  run: Action<S>['run'],
  options: Pick<Action<S>, 'status' | 'admin'> = {},
) => ({ schema, run, ...options }) as Action<z.ZodType>;

const nothing = z.unknown();
const catalog = (call: Call) => call.cloud.catalogs.volumes;
const change = (call: Call, id: string, fields: Parameters<ReturnType<typeof catalog>['updateVolume']>[2]) =>
  catalog(call).updateVolume(call.caller, id, fields);
const ok = { status: 200 } as const;
const admin = { admin: true } as const;

async function attach(
  call: Call,
  id: string,
  args: { instance_uuid?: string | null; host_name?: string | null; mountpoint?: string | null },
) {
  if ((await catalog(call).getVolume(call.caller, id)).status === 'attaching')
    await change(call, id, { status: 'available' });
  const serverId = args.instance_uuid ?? '';
  const attachment = await catalog(call).reserve(call.caller, { key: randomUUID(), volumeId: id, serverId });
  await catalog(call).connect(call.caller, attachment.id, {
    host: args.host_name ?? '',
    mountpoint: args.mountpoint ?? null,
  });
  await catalog(call).complete(call.caller, attachment.id);
}

const Upload = z.object({
  image_name: z.string(),
  disk_format: z.string().optional(),
  container_format: z.string().optional(),
  visibility: z.enum(['public', 'private', 'shared', 'community']).optional(),
  protected: flag.optional(),
  force: nothing.optional(),
});

async function upload(call: Call, id: string, args: z.infer<typeof Upload>) {
  const { images } = call.cloud.catalogs;
  const volume = await catalog(call).getVolume(call.caller, id);
  const diskFormat = args.disk_format ?? 'raw';
  const containerFormat = args.container_format ?? 'bare';
  const image = await images.create(call.caller, {
    id: randomUUID(),
    name: args.image_name,
    diskFormat,
    containerFormat,
    visibility: args.visibility ?? 'shared',
    protected: args.protected ?? false,
  });
  await images.upload(call.caller, image.id, new Uint8Array());
  return {
    'os-volume_upload_image': {
      id,
      image_id: image.id,
      image_name: args.image_name,
      status: 'uploading',
      size: volume.sizeGb,
      disk_format: diskFormat,
      container_format: containerFormat,
      display_description: volume.description,
      updated_at: micros(volume.updatedAt),
      volume_type: volume.volumeType && { name: volume.volumeType },
    },
  };
}

async function revert(call: Call, id: string, snapshotId: string) {
  const snapshots = await catalog(call).listSnapshots(call.caller, { volumeId: id, allProjects: call.isAdmin });
  // Only the latest snapshot can be restored.
  if (snapshots[0]?.id !== snapshotId)
    throw badRequest(`Specified snapshot ${snapshotId} is not the latest one of volume ${id}.`);
}

/** The actions on a volume, by the key that a body contains. */
const ACTIONS: Readonly<Record<string, Action<z.ZodType>>> = {
  'os-extend': action(z.object({ new_size: integer }), async (call, id, { new_size }) => {
    const { sizeGb, volumeType } = await catalog(call).getVolume(call.caller, id);
    await checkQuota(call, { gigabytes: Math.max(new_size - sizeGb, 0) }, volumeType);
    await catalog(call).extendVolume(call.caller, id, new_size);
  }),
  'os-set_bootable': action(
    z.object({ bootable: flag }),
    async (call, id, args) => void (await change(call, id, args)),
    ok,
  ),
  'os-reset_status': action(
    z.object({
      status: z.string().nullish(),
      attach_status: z.string().nullish(),
      migration_status: z.string().nullish(),
    }),
    async (call, id, args) =>
      void (await change(call, id, {
        status: (args.status ?? undefined) as VolumeStatus | undefined,
        migrationStatus: args.migration_status === 'none' ? null : (args.migration_status ?? undefined),
      })),
    admin,
  ),
  'os-set_image_metadata': action(
    z.object({ metadata: stringMap }),
    async (call, id, { metadata }) => {
      const { imageMetadata } = await catalog(call).getVolume(call.caller, id);
      const merged = { ...imageMetadata, ...metadata };
      await change(call, id, { imageMetadata: merged });
      return { metadata: merged };
    },
    ok,
  ),
  'os-show_image_metadata': action(
    nothing,
    async (call, id) => ({ metadata: (await catalog(call).getVolume(call.caller, id)).imageMetadata }),
    ok,
  ),
  'os-unset_image_metadata': action(
    z.object({ key: z.string() }),
    async (call, id, { key }) => {
      const { [key]: removed, ...imageMetadata } = (await catalog(call).getVolume(call.caller, id)).imageMetadata;
      if (removed === undefined) throw notFound('Metadata item was not found.');
      await change(call, id, { imageMetadata });
    },
    ok,
  ),
  'os-update_readonly_flag': action(z.object({ readonly: flag }), async (call, id, { readonly }) => {
    const { metadata } = await catalog(call).getVolume(call.caller, id);
    await change(call, id, { metadata: { ...metadata, readonly: readonly ? 'True' : 'False' } });
  }),
  'os-retype': action(
    z.object({ new_type: z.string(), migration_policy: z.enum(['on-demand', 'never']).optional() }),
    async (call, id, { new_type }) => {
      const type = await catalog(call).getType(call.caller, new_type);
      // Without a pool for the new type, the volume keeps its type.
      if (hasPoolFor(call, type)) await change(call, id, { volumeType: type.name });
    },
  ),
  'os-reimage': action(
    z.object({ image_id: z.string(), reimage_reserved: flag.optional() }),
    (call, id, { image_id }) => catalog(call).reimage(call.caller, id, image_id),
  ),
  'os-reserve': action(nothing, async (call, id) => {
    const { status } = await catalog(call).getVolume(call.caller, id);
    if (status !== 'available')
      throw badRequest(`Invalid volume: Volume status must be available to reserve, but the status is ${status}.`);
    await change(call, id, { status: 'attaching' });
  }),
  'os-unreserve': action(nothing, async (call, id) => void (await change(call, id, { status: 'available' }))),
  'os-attach': action(
    z.object({
      instance_uuid: text.nullish(),
      mountpoint: text.nullish(),
      host_name: text.nullish(),
      mode: text.nullish(),
    }),
    attach,
  ),
  'os-detach': action(z.object({ attachment_id: z.string().nullish() }).nullish(), async (call, id, args) => {
    const { attachments } = await catalog(call).getVolume(call.caller, id);
    const attachment = args?.attachment_id ? attachments.find((one) => one.id === args.attachment_id) : attachments[0];
    if (attachment) await catalog(call).deleteAttachment(call.caller, attachment.id);
  }),
  'os-force_detach': action(
    z.object({ attachment_id: z.string().nullish(), connector: z.record(z.string(), nothing).nullish() }),
    async (call, id, { attachment_id }) => {
      const { attachments } = await catalog(call).getVolume(call.caller, id);
      const attachment = attachments.find((one) => !attachment_id || one.id === attachment_id);
      if (!attachment) throw badRequest('Invalid volume: unknown attachment.');
      // The volume becomes available regardless of its status, such as `error`.
      await change(call, id, { status: 'detaching' });
      await catalog(call).deleteAttachment(call.caller, attachment.id);
    },
    admin,
  ),
  'os-begin_detaching': action(nothing, (call, id) => catalog(call).beginDetaching(call.caller, id)),
  'os-roll_detaching': action(nothing, (call, id) => catalog(call).rollbackDetaching(call.caller, id)),
  'os-initialize_connection': action(
    z.object({ connector: z.record(z.string(), nothing) }),
    async (call, id) => {
      await catalog(call).getVolume(call.caller, id);
      const data = { device_path: `/volumes/${id}`, access_mode: 'rw', target_discovered: false };
      return { connection_info: { driver_volume_type: 'local', data } };
    },
    ok,
  ),
  'os-terminate_connection': action(
    z.object({ connector: z.record(z.string(), nothing).nullable() }),
    async (call, id) => void (await catalog(call).getVolume(call.caller, id)),
  ),
  'os-force_delete': action(
    nothing,
    async (call, id) => {
      const { attachments } = await change(call, id, { status: 'error' });
      for (const attachment of attachments) await catalog(call).deleteAttachment(call.caller, attachment.id);
      await change(call, id, { status: 'error' });
      await catalog(call).deleteVolume(call.caller, id);
    },
    admin,
  ),
  'os-unmanage': action(
    nothing,
    async (call, id) => {
      const { status, sizeGb } = await catalog(call).getVolume(call.caller, id);
      if (status === 'in-use') throw badRequest(`Invalid volume: Volume ${id} is attached.`);
      await catalog(call).deleteVolume(call.caller, id);
      release(call, 'volume', id, { size: sizeGb });
    },
    admin,
  ),
  'os-volume_upload_image': action(Upload, upload),
  revert: action(z.object({ snapshot_id: z.string() }), (call, id, { snapshot_id }) => revert(call, id, snapshot_id)),
};

/** Returns the route `POST /volumes/{id}/action`. */
export function volumeActionRoutes(): readonly Route[] {
  return [
    post('/v3/volumes/:id/action', async (call) => {
      const { name, body } = actionOf(call);
      const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
      if (!action) throw unsupportedAction(name);
      const id = call.param('id');
      await catalog(call).getVolume(call.caller, id);
      if (action.admin) call.requireAdmin();
      return new Reply(action.status ?? 202, await action.run(call, id, body(action.schema)));
    }),
  ];
}
