import { randomUUID } from 'node:crypto';
import type { ImageRecord } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { ifMissing } from '../service/if-missing.js';
import type { Resource, ResourceSpec } from '../service/resource.js';
import { created, patch, post, type Route } from '../service/route.js';
import { conflict, ServiceError } from '../service/service-error.js';
import { removeFromCache } from './cache-routes.js';
import { parseImage, toCatalogChange } from './image-attributes.js';
import { applyPatch, parsePatch } from './image-patch.js';
import { imageView, STORE_ID } from './image-view.js';
import { importMethods } from './import-routes.js';
import { stagedBytes, takeStaged } from './staging.js';
import { isSaving } from './store-content.js';

const PATCH_TYPES = [
  'application/openstack-images-v2.0-json-patch',
  'application/openstack-images-v2.1-json-patch',
] as const;

function imageDoc(call: Call, image: ImageRecord): Doc {
  const view = imageView(image);
  if (isSaving(call, image.id)) return { ...view, status: 'saving' };
  const stagedSize = stagedBytes(call, image.id);
  return stagedSize === undefined ? view : { ...view, status: 'uploading', size: stagedSize };
}

/** The resource for images, including snapshots of servers. Servers boot from images. */
export const images: ResourceSpec = {
  path: 'images',
  one: 'image',
  many: 'images',
  verbs: ['list', 'show', 'remove'],
  fields: () => ({}),
  routes: (resource) => [createRoute(resource), patchRoute(resource)],
  storage: {
    list: async (call) => {
      const { query } = call;
      const visibility = query.get('visibility');
      const status = query.get('member_status') ?? 'accepted';
      if (!['pending', 'accepted', 'rejected', 'all'].includes(status))
        throw new ServiceError(400, `Invalid status: ${status}`);
      const images = await call.cloud.catalogs.images.list(call.caller, {
        hidden: query.get('os_hidden')?.toLowerCase() === 'true',
        memberStatus: status as 'accepted',
        ...(visibility === 'community' && { visibility }),
      });
      return images.map((image) => imageDoc(call, image));
    },
    get: async (call, id) => imageDoc(call, await call.cloud.catalogs.images.get(call.caller, id)),
    create: async (call, requested) => {
      const { images: catalog } = call.cloud.catalogs;
      const { properties, ...fields } = toCatalogChange(requested);
      const existingImage = requested.id && (await catalog.get(call.caller, String(requested.id)).catch(ifMissing));
      if (existingImage) throw conflict(`Image ID ${requested.id} already exists!`);
      const { id } = await catalog.create(call.caller, {
        ...fields,
        properties: (properties ?? {}) as Readonly<Record<string, string>>,
        id: String(requested.id ?? randomUUID()),
      });
      return imageDoc(call, await catalog.get(call.caller, id));
    },
    update: async (call, { id }, change) => {
      await call.cloud.catalogs.images.update(call.caller, id, toCatalogChange(change));
      return imageDoc(call, await call.cloud.catalogs.images.get(call.caller, id));
    },
    remove: async (call, { id }) => {
      await call.cloud.catalogs.images.delete(call.caller, id);
      takeStaged(call, id);
      removeFromCache(call, id);
    },
  },
};

function createRoute(resource: Resource): Route {
  return post('/v2/images', async (call) => {
    const doc = await resource.storage.create(call, parseImage(call, call.req.body));
    call.res.setHeader('Location', `${call.base}/v2/images/${doc.id}`);
    call.res.setHeader('OpenStack-image-import-methods', importMethods(call.cloud).join(','));
    call.res.setHeader('OpenStack-image-store-ids', STORE_ID);
    return created(await resource.show(call, doc));
  });
}

function patchRoute(resource: Resource): Route {
  return patch('/v2/images/:id', async (call) => {
    const type = (call.req.header('content-type') ?? '').replace(/;.*/s, '').trim().toLowerCase();
    const acceptedTypes = PATCH_TYPES.join(', ');
    if (!(PATCH_TYPES as readonly string[]).includes(type)) {
      call.res.setHeader('Accept-Patch', acceptedTypes);
      throw new ServiceError(415, `Image PATCH expects Content-Type one of: ${acceptedTypes}`);
    }
    const isOlderFormat = type === PATCH_TYPES[0];
    const operations = parsePatch(call.req.body, isOlderFormat);
    const before = await resource.find(call, call.param('id'), 'change');
    if (operations.length === 0) return resource.show(call, before);
    return resource.apply(call, before, applyPatch(call, before, operations, isOlderFormat));
  });
}
