import type { ImageChange } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import { badRequest, forbidden, ServiceError } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { requirePolicy } from './policies.js';
import { validateBody } from './schema-check.js';
import { IMAGE } from './schemas.js';

/** The image catalog's names of the attributes that clients can set, by attribute. */
export const SETTABLE_ATTRIBUTES: ReadonlyMap<string, string> = new Map(
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

/** The image attributes that no request may contain. */
const DISALLOWED_ATTRIBUTES = ['direct_url', 'self', 'file', 'schema', 'stores'];
const DERIVED_ATTRIBUTES = [
  'created_at',
  'updated_at',
  'status',
  'checksum',
  'os_hash_algo',
  'os_hash_value',
  'size',
  'virtual_size',
];
/** The image attributes that clients cannot change. */
export const READ_ONLY_ATTRIBUTES: readonly string[] = [...DERIVED_ATTRIBUTES, ...DISALLOWED_ATTRIBUTES, 'id'];

/** The property names that only the image service itself may set, and the prefix of more such names. */
const RESERVED_NAMES = ['location', 'deleted', 'deleted_at'];
const RESERVED_PREFIX = 'os_glance';

export function checkNotReserved(key: string): void {
  if (RESERVED_NAMES.includes(key) || key.startsWith(RESERVED_PREFIX))
    throw forbidden(`Attribute '${key}' is reserved.`);
}

export function requirePublicationPolicy(call: Call, { visibility }: Wire): void {
  if (visibility === 'public') requirePolicy(call, 'publicize_image');
}

export function checkSizes(wire: Wire): void {
  for (const key of ['min_disk', 'min_ram']) {
    const value = Number(wire[key] ?? 0);
    if (value >= 0 && value < 2 ** 31) continue;
    const problem = value < 0 ? 'Cannot be a negative value' : 'Cannot be greater than 2147483647';
    throw badRequest(`Invalid value '${value}' for parameter '${key}': ${problem}`);
  }
}

/** The maximum number of properties, of tags and of members that an image can have. */
const MAX_ITEMS = 128;

/** Throws a 413 error if an image would have more properties, tags or members than allowed. */
export function checkCount(
  kind: 'members for this image' | 'properties' | 'tags',
  attempted: number,
  prefix = '',
): void {
  if (attempted <= MAX_ITEMS) return;
  const limit = `The limit has been exceeded on the number of allowed image ${kind}. Attempted: ${attempted}, Maximum: ${MAX_ITEMS}`;
  throw new ServiceError(413, prefix === '' ? limit : `${prefix}: ${limit}:`);
}

/** Throws a 413 error if an image in wire format has too many properties or tags. */
export function checkCounts(wire: Wire): void {
  const isProperty = (key: string) => !SETTABLE_ATTRIBUTES.has(key) && !READ_ONLY_ATTRIBUTES.includes(key);
  const properties = Object.entries(wire).filter(([key, value]) => value !== null && isProperty(key));
  checkCount('properties', properties.length);
  checkCount('tags', new Set((wire.tags ?? []) as readonly string[]).size);
}

/** Validates the body of a create request and returns the image's fields. Throws a 403 error for readers. */
export function parseImage(call: Call, body: unknown): Wire {
  const wire = validateBody(IMAGE, body, DISALLOWED_ATTRIBUTES);
  for (const key of Object.keys(wire)) {
    if (Object.hasOwn(IMAGE.properties ?? {}, key)) continue;
    if (key.length > 255) throw badRequest('Custom property should not be greater than 255 characters.');
    checkNotReserved(key);
  }
  const { owner, locations } = wire;
  if (owner !== undefined && owner !== call.caller.projectId && !call.isAdmin)
    throw forbidden(`You are not permitted to create images owned by '${owner}'`);
  requirePolicy(call, 'add_image', call.caller.projectId);
  requirePublicationPolicy(call, wire);
  const readOnly = DERIVED_ATTRIBUTES.find((key) => Object.hasOwn(wire, key));
  if (readOnly !== undefined) throw forbidden(`Attribute '${readOnly}' is read-only.`);
  if (locations !== undefined) throw forbidden("Attribute 'locations' is reserved.");
  checkSizes(wire);
  checkCounts(wire);
  return wire;
}

/** Converts an image in wire format to a catalog change. Unknown fields become properties. */
export function toCatalogChange(wire: Wire): ImageChange {
  const fields: Record<string, unknown> = {};
  const properties: Record<string, string | null> = {};
  for (const [key, value] of Object.entries(wire)) {
    if (key === 'id') continue;
    const name = SETTABLE_ATTRIBUTES.get(key);
    if (name === undefined) properties[key] = value as string | null;
    else fields[name] = key === 'owner' ? (value ?? undefined) : value;
  }
  return { ...fields, ...(Object.keys(properties).length > 0 && { properties }) };
}
