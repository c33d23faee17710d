import { randomUUID } from 'node:crypto';
import type { EmbeddedCatalogs, VolumeStatus, VolumeView } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { badRequest, notFound } from '../service/service-error.js';
import { formatMicros } from '../service/times.js';
import { text } from '../service/wire-types.js';
import { type Actions, defineAction } from './action-route.js';
import { requirePolicy } from './policies.js';
import { isAtLeast } from './volume-style.js';
import { boolean, object, uuid } from './wire-types.js';

type Volumes = EmbeddedCatalogs['volumes'];

export const catalog = (call: Call): Volumes => call.cloud.catalogs.volumes;

export const changeVolume = (
  call: Call,
  id: string,
  fields: Parameters<Volumes['updateVolume']>[2],
  expectedStatus?: VolumeStatus,
): Promise<VolumeView> => catalog(call).updateVolume(call.caller, id, fields, expectedStatus);

export const ok = { status: 200 } as const;

export const invalidVolume = (message: string) => badRequest(`Invalid volume: ${message}`);

/** Throws a 400 error unless the volume is available. */
export function requireAvailable({ id, status }: VolumeView, purpose = ''): void {
  if (status !== 'available') throw invalidVolume(`Volume ${id} status must be available${purpose}`);
}

const Upload = object({
  image_name: text.min(1),
  disk_format: z.enum(['raw', 'vmdk', 'vdi', 'qcow2', 'vhd', 'vhdx', 'ploop']).default('raw'),
  container_format: text.nullable().default('bare'),
  visibility: z.enum(['community', 'public', 'private', 'shared']).optional(),
  protected: boolean.default(false),
  force: boolean.optional(),
});

/** Attributes of the image from which a volume was created. They do not apply to an image of the volume. */
const IMAGE_ATTRIBUTES = new Set(
  'checksum container_format disk_format image_id image_name min_disk min_ram name size'.split(' '),
);

async function upload(call: Call, volume: VolumeView, args: z.infer<typeof Upload>) {
  const { images } = call.cloud.catalogs;
  const { id } = volume;
  const visibility = args.visibility ?? (isAtLeast(call, 1) ? 'private' : 'shared');
  if (visibility === 'public') requirePolicy(call, 'volume_extension:volume_actions:upload_public', 'admin');
  requireAvailable(volume);
  const { disk_format, container_format, image_name } = args;
  const image = await images.create(call.caller, {
    id: randomUUID(),
    name: image_name,
    diskFormat: disk_format,
    containerFormat: container_format ?? 'bare',
    visibility,
    protected: args.protected,
    properties: Object.fromEntries(Object.entries(volume.imageMetadata).filter(([key]) => !IMAGE_ATTRIBUTES.has(key))),
  });
  try {
    const content = await catalog(call).readVolume(call.caller, id, disk_format);
    await images.upload(call.caller, image.id, content ?? new Uint8Array());
  } catch (error) {
    await images.delete(call.caller, image.id).catch(() => {});
    throw error;
  }
  return {
    'os-volume_upload_image': {
      id,
      image_id: image.id,
      image_name,
      status: 'uploading',
      size: volume.sizeGb,
      disk_format,
      container_format,
      display_description: volume.description,
      updated_at: formatMicros(volume.updatedAt),
      volume_type: volume.volumeType && { name: volume.volumeType },
      visibility,
      protected: args.protected,
    },
  };
}

/** The volume actions that read or write images, or that change the volume's image metadata. */
export const IMAGE_ACTIONS: Actions<VolumeView> = {
  'os-volume_upload_image': defineAction(Upload, upload, { policy: 'volume_extension:volume_actions:upload_image' }),
  'os-reimage': defineAction(
    object({ image_id: uuid, reimage_reserved: boolean.optional() }),
    (call, { id }, { image_id }) => catalog(call).reimage(call.caller, id, image_id),
    { since: 68, policy: 'volume:reimage' },
  ),
  'os-set_image_metadata': defineAction(
    object({ metadata: z.record(z.string().regex(/^[\w:. /-]{1,255}$/), z.string().max(65_535)) }),
    async (call, { id, imageMetadata }, { metadata }) => {
      const mergedMetadata = { ...imageMetadata, ...metadata };
      await changeVolume(call, id, { imageMetadata: mergedMetadata });
      return { metadata: mergedMetadata };
    },
    { ...ok, policy: 'volume_extension:volume_image_metadata:set' },
  ),
  'os-show_image_metadata': {
    run: (_call, { imageMetadata }) => ({ metadata: imageMetadata }),
    ...ok,
    role: 'reader',
    policy: 'volume:get_volume_metadata',
  },
  'os-unset_image_metadata': defineAction(
    object({ key: text.min(1) }),
    async (call, { id, imageMetadata }, { key }) => {
      const { [key]: removed, ...remaining } = imageMetadata;
      if (removed === undefined) throw notFound(`Glance metadata for volume/snapshot ${id} cannot be found.`);
      await changeVolume(call, id, { imageMetadata: remaining });
    },
    { ...ok, policy: 'volume_extension:volume_image_metadata:remove' },
  ),
};
