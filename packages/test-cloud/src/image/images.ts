import { randomUUID } from 'node:crypto';
import type { ImageChange, ImageRecord } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, type Fields, fixed, settable } from '../service/field.js';
import type { Resource, ResourceSpec } from '../service/resource.js';
import { patch, Reply, type Route } from '../service/route.js';
import { forbidden, ServiceError } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { integerBetween, text } from '../service/wire-types.js';
import { readPatch } from './image-patch.js';
import { imageView, STORE_ID } from './image-view.js';
import { importMethods } from './import-routes.js';
import { CONTAINER_FORMATS, DISK_FORMATS } from './schemas.js';
import { isStaged } from './staging.js';

/** The names of the fields in the catalog, by wire name. */
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    name: 'name',
    visibility: 'visibility',
    owner: 'projectId',
    protected: 'protected',
    os_hidden: 'hidden',
    min_disk: 'minDiskGb',
    min_ram: 'minRamMb',
    disk_format: 'diskFormat',
    container_format: 'containerFormat',
    tags: 'tags',
  }),
);

const READ_ONLY = [
  'status',
  'checksum',
  'size',
  'virtual_size',
  'created_at',
  'updated_at',
  'self',
  'file',
  'schema',
  'direct_url',
  'os_hash_algo',
  'os_hash_value',
  'stores',
  'locations',
] as const;

/** Property names that only the service itself uses, and their prefix. */
const RESERVED = ['location', 'deleted', 'deleted_at'];
const RESERVED_PREFIX = 'os_glance';

export const PATCH_TYPES = [
  'application/openstack-images-v2.1-json-patch',
  'application/openstack-images-v2.0-json-patch',
] as const;

const amount = integerBetween(0, 2 ** 31 - 1);
const tag = z.string().max(255);

export const imageFields = (): Fields => ({
  id: fixed(z.guid()),
  name: settable(text.nullable()),
  visibility: settable(z.enum(['public', 'private', 'shared', 'community'])),
  owner: settable(text.nullable()),
  protected: settable(z.boolean()),
  os_hidden: settable(z.boolean()),
  min_disk: settable(amount),
  min_ram: settable(amount),
  disk_format: settable(z.enum(DISK_FORMATS).nullable()),
  container_format: settable(z.enum(CONTAINER_FORMATS).nullable()),
  tags: settable(z.array(tag)),
  ...Object.fromEntries(READ_ONLY.map((name) => [name, derived()])),
});

/** Converts a body to a change of the catalog: known fields, and all others as properties. */
function changeOf(wire: Wire): ImageChange {
  const fields: Record<string, unknown> = {};
  const properties: Record<string, string | null> = {};
  for (const [key, value] of Object.entries(wire)) {
    if (key === 'id') continue;
    const name = NAMES.get(key);
    if (name !== undefined) fields[name] = value ?? undefined;
    else properties[key] = value as string | null;
  }
  return { ...fields, ...(Object.keys(properties).length > 0 && { properties }) };
}

/** Rejects properties that are not strings, before anything is stored. */
function checkProperties(resource: Resource, wire: Wire): void {
  for (const [key, value] of Object.entries(wire)) {
    if (READ_ONLY.includes(key as (typeof READ_ONLY)[number]))
      throw resource.style.errors.readOnly(resource, key, 'change');
    if (Object.hasOwn(resource.fields, key)) continue;
    if (RESERVED.includes(key) || key.startsWith(RESERVED_PREFIX)) throw forbidden(`Attribute '${key}' is reserved.`);
    if (key.length === 0 || key.length > 255 || (typeof value !== 'string' && value !== null))
      throw resource.style.errors.invalid(resource, key, value, 'is not of type string');
  }
}

function checkPublication(call: Call, { visibility, owner }: Wire): void {
  if (visibility === 'public' && !call.isAdmin) throw forbidden('You are not authorized to publicize_image.');
  if (owner !== undefined && owner !== call.caller.projectId && !call.isAdmin)
    throw forbidden(`You are not permitted to create images owned by '${owner}'.`);
}

const docOf = (call: Call, image: ImageRecord): Doc => {
  const view = imageView(image);
  return isStaged(call, image.id) ? { ...view, status: 'uploading' } : view;
};

/** The images from which servers boot, and snapshots of servers. */
export const images: ResourceSpec = {
  path: 'images',
  one: 'image',
  many: 'images',
  verbs: ['list', 'show', 'create', 'remove'],
  fields: imageFields,
  routes: (resource) => [patchRoute(resource)],
  creating(call, requested, resource) {
    checkProperties(resource, requested);
    checkPublication(call, requested);
    return undefined;
  },
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
      return images.map((image) => docOf(call, image));
    },
    get: async (call, id) => docOf(call, await call.cloud.catalogs.images.get(call.caller, id)),
    create: async (call, requested) => {
      const { images: catalog } = call.cloud.catalogs;
      const { properties, ...fields } = changeOf(requested);
      const initial = Object.entries(properties ?? {}).filter(([, value]) => value !== null);
      const image = await catalog.create(call.caller, {
        ...fields,
        properties: Object.fromEntries(initial) as Record<string, string>,
        id: String(requested.id ?? randomUUID()),
      });
      call.res.setHeader('Location', `${call.base}/v2/images/${image.id}`);
      call.res.setHeader('OpenStack-image-import-methods', importMethods(call.cloud).join(','));
      call.res.setHeader('OpenStack-image-store-ids', STORE_ID);
      return docOf(call, await catalog.get(call.caller, image.id));
    },
    update: async (call, { id }, change) => {
      await call.cloud.catalogs.images.update(call.caller, id, changeOf(change));
      return docOf(call, await call.cloud.catalogs.images.get(call.caller, id));
    },
    remove: ({ cloud, caller }, { id }) => cloud.catalogs.images.delete(caller, id),
  },
};

function patchRoute(resource: Resource): Route {
  return patch('/v2/images/:id', async (call) => {
    const type = (call.req.header('content-type') ?? '').replace(/;.*/s, '').trim().toLowerCase();
    if (!(PATCH_TYPES as readonly string[]).includes(type)) {
      call.res.setHeader('Accept-Patch', PATCH_TYPES.join(', '));
      throw new ServiceError(415, `Unsupported Media Type: ${type}`);
    }
    const before = await resource.find(call, call.param('id'), 'change');
    const change = readPatch(resource, before, call.req.body, type === PATCH_TYPES[1]);
    checkProperties(resource, change);
    checkPublication(call, change);
    return new Reply(200, await resource.apply(call, before, change));
  });
}
