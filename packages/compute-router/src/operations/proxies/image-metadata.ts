import { Rejection } from '@apistrata/compute-engine';
import type { Image } from '@apistrata/compute-engine/catalogs';
import { until } from '@apistrata/microversion';
import type { ComputeCall } from '../../http/call.js';
import { itemOf, metadataOperations } from '../metadata-operations.js';
import { imageMetadata } from './image-view.js';
import { imageProxyDocs } from './proxy-docs.js';

type Items = Readonly<Record<string, string>>;

/**
 * Checks the number of metadata items of an image against the quota.
 *
 * @throws Rejection (403) if there are too many
 */
async function checkCount({ engine, caller }: ComputeCall, items: Items): Promise<void> {
  const { metadata_items: max } = await engine.quotas.limits({ projectId: caller.projectId, userId: caller.userId });
  if (max >= 0 && Object.keys(items).length > max) throw new Rejection('FORBIDDEN', 'Image metadata limit exceeded');
}

/** Replaces all metadata items of an image. Items to remove are sent to the image service with the value null. */
async function writeMetadata({ engine, caller }: ComputeCall, image: Image, items: Items): Promise<Items> {
  const removedKeys = Object.keys(image.properties).filter((key) => !Object.hasOwn(items, key));
  const properties = { ...items, ...Object.fromEntries(removedKeys.map((key) => [key, null])) };
  return imageMetadata(await engine.catalogs.images.update(caller, image.id, { properties }));
}

async function replaceMetadata(call: ComputeCall, image: Image, items: Items): Promise<Items> {
  await checkCount(call, items);
  return writeMetadata(call, image, items);
}

export const imageMetadataProxies = metadataOperations<Image>({
  docs: { ...imageProxyDocs, window: until('2.38', true) },
  metadata: 'Metadata of the image, as key-value pairs.',
  meta: 'A metadata item.',
  path: '/images/{image_id}/metadata',
  target: ({ engine, caller, params }: ComputeCall & { readonly params: { readonly image_id: string } }) =>
    engine.catalogs.images.get(caller, params.image_id),
  items: imageMetadata,
  merge: (call, image, items) => replaceMetadata(call, image, { ...image.properties, ...items }),
  replace: replaceMetadata,
  remove: async (call, image, key) => {
    itemOf(image.properties, key);
    const { [key]: _, ...items } = image.properties;
    await writeMetadata(call, image, items);
  },
  list: {
    name: 'listImageMetadata',
    summary: 'List the metadata of an image',
    description: 'Lists the metadata of an image.',
    errors: [404],
  },
  add: {
    name: 'updateImageMetadata',
    summary: 'Create or update metadata items of an image',
    description: 'Creates or replaces metadata items of an image. Other items are unchanged.',
    errors: [400, 403, 404],
  },
  replaceAll: {
    name: 'replaceImageMetadata',
    summary: 'Replace the metadata of an image',
    description: 'Replaces all metadata of an image.',
    errors: [400, 403, 404],
  },
  show: {
    name: 'showImageMetadataItem',
    summary: 'Show a metadata item of an image',
    description: 'Shows a metadata item of an image.',
    errors: [404],
  },
  set: {
    name: 'updateImageMetadataItem',
    summary: 'Create or update a metadata item of an image',
    description: 'Creates or replaces a metadata item of an image.',
    errors: [400, 403, 404],
  },
  delete: {
    name: 'deleteImageMetadataItem',
    summary: 'Delete a metadata item of an image',
    description: 'Deletes a metadata item of an image.',
    errors: [403, 404],
  },
});
