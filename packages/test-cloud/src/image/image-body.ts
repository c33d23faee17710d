import type { ImageChange, ImageRecord } from '@apistrata/compute-engine';
import { z } from 'zod';
import { badRequest, forbidden } from '../service/service-error.js';

/** Wire names of the fields that clients set. */
const FIELDS = {
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
} as const;

const READ_ONLY = new Set([
  'status',
  'checksum',
  'size',
  'virtual_size',
  'created_at',
  'updated_at',
  'self',
  'file',
  'schema',
  'locations',
  'direct_url',
  'os_hash_algo',
  'os_hash_value',
  'stores',
]);

const number = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1);

/** The fields of an image, whatever else is a property of text. */
export const ImageBody = z
  .object({
    id: z.uuid().optional(),
    name: z.string().max(255).nullish(),
    visibility: z.enum(['public', 'private', 'shared', 'community']).optional(),
    owner: z.string().optional(),
    protected: z.boolean().optional(),
    os_hidden: z.boolean().optional(),
    min_disk: number.optional(),
    min_ram: number.optional(),
    disk_format: z.string().nullish(),
    container_format: z.string().nullish(),
    tags: z.array(z.string().max(255)).optional(),
  })
  .catchall(z.union([z.string(), z.null()]));

/** Fields and properties apart, in the catalog's words. */
export function readImageBody({ id: _, ...body }: z.infer<typeof ImageBody>): ImageChange {
  const fields: Record<string, unknown> = {};
  const properties: Record<string, string | null> = {};
  for (const [key, value] of Object.entries(body)) {
    if (READ_ONLY.has(key)) throw forbidden(`Attribute '${key}' is read-only.`);
    if (key in FIELDS) fields[FIELDS[key as keyof typeof FIELDS]] = value ?? undefined;
    else properties[key] = value as string | null;
  }
  return { ...fields, ...(Object.keys(properties).length > 0 && { properties }) };
}

export const Patch = z.array(
  z.object({
    op: z.enum(['add', 'replace', 'remove']),
    path: z.string().startsWith('/'),
    value: z.unknown().optional(),
  }),
);

/** What a JSON patch makes of the image. */
export function readPatch(patch: z.infer<typeof Patch>, image: ImageRecord): ImageChange {
  const body: Record<string, unknown> = {};
  for (const { op, path, value } of patch) {
    const key = path.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
    if (op === 'remove') {
      if (key in FIELDS) throw forbidden(`Property ${key} may not be removed.`);
      if (!(key in image.properties)) throw badRequest(`Property ${key} does not exist.`);
    }
    body[key] = op === 'remove' ? null : value;
  }
  const checked = ImageBody.safeParse(body);
  if (!checked.success) throw badRequest(`Invalid value: ${checked.error.issues[0]?.message}`);
  return readImageBody(checked.data);
}
