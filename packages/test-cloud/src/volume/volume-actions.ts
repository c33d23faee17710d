import { randomUUID } from 'node:crypto';
import type { EmbeddedCatalogs, VolumeStatus } from '@apistrata/compute-engine';
import type { z } from 'zod';
import type { Call } from '../service/call.js';
import { accepted, post, type Route } from '../service/route.js';
import { badRequest } from '../service/service-error.js';
import { micros } from '../service/times.js';
import { type ActionName, actions } from './volume-bodies.js';

type Catalogs = () => EmbeddedCatalogs;
type Arguments<A extends ActionName> = z.infer<(typeof actions)[A]>;

interface Work<A extends ActionName> {
  readonly call: Call;
  readonly id: string;
  readonly given: Arguments<A>;
  readonly catalogs: EmbeddedCatalogs;
}

/** What each action does; a result is the answer's body. */
const work: { readonly [A in ActionName]: (w: Work<A>) => Promise<unknown> } = {
  'os-extend': ({ catalogs, call, id, given }) => catalogs.volumes.extendVolume(call.caller, id, given.new_size),
  'os-set_bootable': ({ catalogs, call, id, given }) =>
    catalogs.volumes.updateVolume(call.caller, id, { bootable: given.bootable }),
  'os-reset_status': ({ catalogs, call, id, given }) => {
    call.requireAdmin();
    return catalogs.volumes.updateVolume(call.caller, id, {
      status: (given.status ?? undefined) as VolumeStatus | undefined,
    });
  },
  'os-set_image_metadata': async ({ catalogs, call, id, given }) => {
    const { imageMetadata } = await catalogs.volumes.getVolume(call.caller, id);
    await catalogs.volumes.updateVolume(call.caller, id, { imageMetadata: { ...imageMetadata, ...given.metadata } });
    return { metadata: { ...imageMetadata, ...given.metadata } };
  },
  'os-unset_image_metadata': async ({ catalogs, call, id, given }) => {
    const { [given.key]: _, ...imageMetadata } = (await catalogs.volumes.getVolume(call.caller, id)).imageMetadata;
    await catalogs.volumes.updateVolume(call.caller, id, { imageMetadata });
  },
  'os-update_readonly_flag': async ({ catalogs, call, id, given }) => {
    const { metadata } = await catalogs.volumes.getVolume(call.caller, id);
    const readonly = /^(true|1)$/i.test(String(given.readonly)) ? 'True' : 'False';
    await catalogs.volumes.updateVolume(call.caller, id, { metadata: { ...metadata, readonly } });
  },
  'os-retype': async ({ catalogs, call, id, given }) => {
    const { name } = await catalogs.volumes.getType(call.caller, given.new_type);
    await catalogs.volumes.updateVolume(call.caller, id, { volumeType: name });
  },
  'os-reserve': ({ catalogs, call, id }) => catalogs.volumes.updateVolume(call.caller, id, { status: 'attaching' }),
  'os-unreserve': ({ catalogs, call, id }) => catalogs.volumes.updateVolume(call.caller, id, { status: 'available' }),
  'os-attach': async ({ catalogs, call, id, given }) => {
    const key = randomUUID();
    const serverId = given.instance_uuid ?? '';
    if ((await catalogs.volumes.getVolume(call.caller, id)).status === 'attaching')
      await catalogs.volumes.updateVolume(call.caller, id, { status: 'available' });
    const tie = await catalogs.volumes.reserve(call.caller, { key, volumeId: id, serverId });
    await catalogs.volumes.connect(call.caller, tie.id, {
      host: given.host_name ?? '',
      mountpoint: given.mountpoint ?? null,
    });
    await catalogs.volumes.complete(call.caller, tie.id);
  },
  'os-detach': async ({ catalogs, call, id, given }) => {
    const { attachments } = await catalogs.volumes.getVolume(call.caller, id);
    const tie = given?.attachment_id ? attachments.find((one) => one.id === given.attachment_id) : attachments[0];
    if (tie) await catalogs.volumes.deleteAttachment(call.caller, tie.id);
  },
  'os-begin_detaching': ({ catalogs, call, id }) => catalogs.volumes.beginDetaching(call.caller, id),
  'os-roll_detaching': ({ catalogs, call, id }) => catalogs.volumes.rollbackDetaching(call.caller, id),
  'os-force_delete': async ({ catalogs, call, id }) => {
    call.requireAdmin();
    await catalogs.volumes.updateVolume(call.caller, id, { status: 'error' });
    await catalogs.volumes.deleteVolume(call.caller, id);
  },
  'os-volume_upload_image': async ({ catalogs, call, id, given }) => {
    const volume = await catalogs.volumes.getVolume(call.caller, id);
    const diskFormat = given.disk_format ?? 'raw';
    const containerFormat = given.container_format ?? 'bare';
    const image = await catalogs.images.create(call.caller, {
      id: randomUUID(),
      name: given.image_name,
      diskFormat,
      containerFormat,
      visibility: given.visibility ?? 'shared',
    });
    await catalogs.images.upload(call.caller, image.id, new Uint8Array());
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
  },
};

function isAction(name: string | undefined): name is ActionName {
  return name !== undefined && Object.hasOwn(work, name);
}

/** `POST /volumes/{id}/action`. */
export function volumeActionRoutes(catalogs: Catalogs): readonly Route[] {
  return [
    post('/v3/volumes/:id/action', async (call) => {
      const [name] = Object.keys(call.req.body ?? {});
      if (!isAction(name)) throw badRequest(`There is no such action: ${name}`);
      const checked = actions[name].safeParse(call.req.body[name]);
      if (!checked.success) throw badRequest(`Invalid input for ${name}: ${checked.error.issues[0]?.message}`);
      const run = work[name] as (w: Work<any>) => Promise<unknown>;
      const body = await run({ call, id: call.param('id'), given: checked.data as never, catalogs: catalogs() });
      const shown = name === 'os-set_image_metadata' || name === 'os-volume_upload_image';
      return accepted(shown ? body : undefined);
    }),
  ];
}
