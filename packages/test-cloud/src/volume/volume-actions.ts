import { randomUUID } from 'node:crypto';
import type { VolumeStatus } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { post, Reply, type Route } from '../service/route.js';
import { badRequest, notFound, unsupportedAction } from '../service/service-error.js';
import { micros } from '../service/times.js';
import { flag, integer, text, words } from '../service/wire-types.js';
import { actionOf } from './action-of.js';
import { release } from './manage-routes.js';
import { checkQuota } from './quota-check.js';
import { hasPoolFor } from './storage-pool.js';

/** An action: the schema of its arguments, its function, which returns the body, and the status of the response. */
interface Action<S extends z.ZodType> {
  readonly given: S;
  readonly status?: 200;
  readonly admin?: true;
  readonly run: (call: Call, id: string, given: z.infer<S>) => Promise<unknown>;
}

const action = <S extends z.ZodType>(given: S, run: Action<S>['run'], more: Pick<Action<S>, 'status' | 'admin'> = {}) =>
  ({ given, run, ...more }) as Action<z.ZodType>;

const nothing = z.unknown();
const catalog = (call: Call) => call.cloud.catalogs.volumes;
const change = (call: Call, id: string, fields: Parameters<ReturnType<typeof catalog>['updateVolume']>[2]) =>
  catalog(call).updateVolume(call.caller, id, fields);
const ok = { status: 200 } as const;
const admin = { admin: true } as const;

async function attach(
  call: Call,
  id: string,
  given: { instance_uuid?: string | null; host_name?: string | null; mountpoint?: string | null },
) {
  if ((await catalog(call).getVolume(call.caller, id)).status === 'attaching')
    await change(call, id, { status: 'available' });
  const serverId = given.instance_uuid ?? '';
  const attachment = await catalog(call).reserve(call.caller, { key: randomUUID(), volumeId: id, serverId });
  await catalog(call).connect(call.caller, attachment.id, {
    host: given.host_name ?? '',
    mountpoint: given.mountpoint ?? null,
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

async function upload(call: Call, id: string, given: z.infer<typeof Upload>) {
  const { images } = call.cloud.catalogs;
  const volume = await catalog(call).getVolume(call.caller, id);
  const diskFormat = given.disk_format ?? 'raw';
  const containerFormat = given.container_format ?? 'bare';
  const image = await images.create(call.caller, {
    id: randomUUID(),
    name: given.image_name,
    diskFormat,
    containerFormat,
    visibility: given.visibility ?? 'shared',
    protected: given.protected ?? false,
  });
  await images.upload(call.caller, image.id, new Uint8Array());
  return {
    'os-volume_upload_image': {
      id,
      image_id: image.id,
      image_name: given.image_name,
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
  const own = await catalog(call).listSnapshots(call.caller, { volumeId: id, allProjects: call.isAdmin });
  // Only the latest snapshot can be restored.
  if (own[0]?.id !== snapshotId)
    throw badRequest(`Specified snapshot ${snapshotId} is not the latest one of volume ${id}.`);
}

/** The actions of a volume, by the only key of the body. */
const ACTIONS: Readonly<Record<string, Action<z.ZodType>>> = {
  'os-extend': action(z.object({ new_size: integer }), async (call, id, { new_size }) => {
    const { sizeGb, volumeType } = await catalog(call).getVolume(call.caller, id);
    await checkQuota(call, { gigabytes: Math.max(new_size - sizeGb, 0) }, volumeType);
    await catalog(call).extendVolume(call.caller, id, new_size);
  }),
  'os-set_bootable': action(
    z.object({ bootable: flag }),
    async (call, id, given) => void (await change(call, id, given)),
    ok,
  ),
  'os-reset_status': action(
    z.object({
      status: z.string().nullish(),
      attach_status: z.string().nullish(),
      migration_status: z.string().nullish(),
    }),
    async (call, id, given) =>
      void (await change(call, id, {
        status: (given.status ?? undefined) as VolumeStatus | undefined,
        migrationStatus: given.migration_status === 'none' ? null : (given.migration_status ?? undefined),
      })),
    admin,
  ),
  'os-set_image_metadata': action(
    z.object({ metadata: words }),
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
  'os-detach': action(z.object({ attachment_id: z.string().nullish() }).nullish(), async (call, id, given) => {
    const { attachments } = await catalog(call).getVolume(call.caller, id);
    const attachment = given?.attachment_id
      ? attachments.find((one) => one.id === given.attachment_id)
      : attachments[0];
    if (attachment) await catalog(call).deleteAttachment(call.caller, attachment.id);
  }),
  'os-force_detach': action(
    z.object({ attachment_id: z.string().nullish(), connector: z.record(z.string(), nothing).nullish() }),
    async (call, id, { attachment_id }) => {
      const { attachments } = await catalog(call).getVolume(call.caller, id);
      const attachment = attachments.find((one) => !attachment_id || one.id === attachment_id);
      if (!attachment) throw badRequest('Invalid volume: unknown attachment.');
      // The volume becomes available from any status, for instance `error`.
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

/** `POST /volumes/{id}/action`. */
export function volumeActionRoutes(): readonly Route[] {
  return [
    post('/v3/volumes/:id/action', async (call) => {
      const { name, body } = actionOf(call);
      const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
      if (!action) throw unsupportedAction(name);
      const id = call.param('id');
      await catalog(call).getVolume(call.caller, id);
      if (action.admin) call.requireAdmin();
      return new Reply(action.status ?? 202, await action.run(call, id, body(action.given)));
    }),
  ];
}
