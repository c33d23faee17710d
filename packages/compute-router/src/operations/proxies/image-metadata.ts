import { Refusal } from '@apistrata/compute-engine';
import type { Image } from '@apistrata/compute-engine/catalogs';
import { object } from '@apistrata/microversion/schema';
import { BadRequest } from '../../http/bad-request.js';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import { textMap } from '../../schemas/reply-types.js';
import { metadata } from '../../schemas/types.js';
import { imageMetadata } from './image-view.js';
import { imageMetadataProxied } from './window.js';

const all = '/images/{image_id}/metadata';
const item = '/images/{image_id}/metadata/{id}';

type Items = Readonly<Record<string, string>>;

const parentImage = ({ engine, caller, params }: ComputeCall & { readonly params: { readonly image_id: string } }) =>
  engine.catalogs.images.get(caller, params.image_id);

/** Throws the 403 for more items than a project may give one thing. */
async function checkCount({ engine, caller }: ComputeCall, items: Items): Promise<void> {
  const { metadata_items: most } = await engine.quotas.limits({ projectId: caller.projectId, userId: caller.userId });
  if (most >= 0 && Object.keys(items).length > most) throw new Refusal('FORBIDDEN', 'Image metadata limit exceeded');
}

/** Makes these all the items the image has; null in `gone` takes away what was there before. */
async function replace(call: ComputeCall & { readonly target: Image }, items: Items): Promise<Items> {
  const { engine, caller, target } = call;
  const gone = Object.keys(target.properties).filter((key) => !Object.hasOwn(items, key));
  const properties = { ...items, ...Object.fromEntries(gone.map((key) => [key, null])) };
  return imageMetadata(await engine.catalogs.images.update(caller, target.id, { properties }));
}

function presentItem(items: Items, key: string): string {
  if (Object.hasOwn(items, key)) return items[key]!;
  throw new Refusal('NOT_FOUND', 'Metadata item was not found');
}

const many = object({ metadata });
const single = object({
  meta: metadata.refine((items) => Object.keys(items).length === 1, { message: 'exactly one item is expected' }),
});

export const imageMetadataProxies = [
  operation({
    method: 'GET',
    path: all,
    window: imageMetadataProxied,
    summary: 'Show the metadata of an image',
    status: 200,
    errors: [404],
    target: parentImage,
    reply: { metadata: textMap },
    run: ({ target }) => ({ metadata: imageMetadata(target) }),
  }),
  operation({
    method: 'POST',
    path: all,
    window: imageMetadataProxied,
    summary: 'Add metadata to an image',
    status: 200,
    errors: [400, 403, 404],
    body: many,
    target: parentImage,
    reply: { metadata: textMap },
    run: async (call) => {
      const items = { ...call.target.properties, ...call.body.metadata };
      await checkCount(call, items);
      return { metadata: await replace(call, items) };
    },
  }),
  operation({
    method: 'PUT',
    path: all,
    window: imageMetadataProxied,
    summary: 'Replace the metadata of an image',
    status: 200,
    errors: [400, 403, 404],
    body: many,
    target: parentImage,
    reply: { metadata: textMap },
    run: async (call) => {
      await checkCount(call, call.body.metadata);
      return { metadata: await replace(call, call.body.metadata) };
    },
  }),
  operation({
    method: 'GET',
    path: item,
    window: imageMetadataProxied,
    summary: 'Show an item of the metadata of an image',
    status: 200,
    errors: [404],
    target: parentImage,
    reply: { meta: textMap },
    run: ({ target, params: { id } }) => ({ meta: { [id]: presentItem(target.properties, id) } }),
  }),
  operation({
    method: 'PUT',
    path: item,
    window: imageMetadataProxied,
    summary: 'Set an item of the metadata of an image',
    status: 200,
    errors: [400, 403, 404],
    body: single,
    target: parentImage,
    reply: { meta: textMap },
    run: async (call) => {
      const { meta } = call.body;
      if (!Object.hasOwn(meta, call.params.id)) throw new BadRequest('Request body and URI mismatch');
      const items = { ...call.target.properties, ...meta };
      await checkCount(call, items);
      await replace(call, items);
      return { meta };
    },
  }),
  operation({
    method: 'DELETE',
    path: item,
    window: imageMetadataProxied,
    summary: 'Remove an item of the metadata of an image',
    status: 204,
    errors: [403, 404],
    target: parentImage,
    run: async (call) => {
      const { target, params } = call;
      presentItem(target.properties, params.id);
      const { [params.id]: _, ...items } = target.properties;
      await replace(call, items);
    },
  }),
];
