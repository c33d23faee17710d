import type { Image, ImageStatus } from '@apistrata/compute-engine/catalogs';
import { type ViewShape, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { commonTexts } from '../../reference/common-texts.js';
import * as type from '../../schemas/reply-types.js';
import { field, integer, nullableText, text } from '../../views/fields.js';

const imageLinks = z
  .array(
    z.strictObject({
      rel: z.enum(['self', 'bookmark', 'alternate']).describe(commonTexts.rel),
      href: z.string().describe(commonTexts.href),
      type: z.string().optional().describe('Media type of the linked resource.'),
    }),
  )
  .length(3);

/** The `alternate` link refers to this API, because the router does not know the URL of the image service. */
const linksField = field(commonTexts.links, imageLinks, ({ id }: Image, call: ComputeCall) => [
  ...call.links(`/images/${id}`).map(({ rel, href }) => ({ rel: rel as 'self', href })),
  { rel: 'alternate' as const, type: 'application/vnd.openstack.image', href: `${call.base}/images/${id}` },
]);

const imageStatusSchema = z.enum(['ACTIVE', 'SAVING', 'DELETED', 'ERROR', 'UNKNOWN']);
type ComputeImageStatus = z.output<typeof imageStatusSchema>;

const computeStatuses: Readonly<Partial<Record<ImageStatus, ComputeImageStatus>>> = {
  active: 'ACTIVE',
  queued: 'SAVING',
  saving: 'SAVING',
  uploading: 'SAVING',
  importing: 'SAVING',
  deleted: 'DELETED',
  pending_delete: 'DELETED',
  killed: 'ERROR',
};

/** Upload progress in percent, by image status. */
const uploadProgress: Readonly<Partial<Record<ImageStatus, number>>> = {
  queued: 25,
  saving: 50,
  uploading: 50,
  importing: 50,
  active: 100,
};

/**
 * Returns the image service's statuses that correspond to a status in this API. Returns an empty list if the status is
 * unknown.
 */
export function statusesOf(text: string): readonly ImageStatus[] {
  const requested = text.toUpperCase();
  return (Object.keys(computeStatuses) as ImageStatus[]).filter((status) => computeStatuses[status] === requested);
}

const diskConfig = z.enum(['AUTO', 'MANUAL']).optional();
const serverReference = z.strictObject({
  id: z.string().describe(commonTexts.serverUuid),
  links: type.links.describe(commonTexts.links),
});

function diskConfigOf({ properties }: Image): 'AUTO' | 'MANUAL' | undefined {
  const autoDiskConfig = properties.auto_disk_config;
  return autoDiskConfig === undefined ? undefined : autoDiskConfig.toLowerCase() === 'true' ? 'AUTO' : 'MANUAL';
}

export const imageMetadata = ({ properties }: Image) => ({ ...properties });

const summaryFields: ViewShape<Image, ComputeCall> = {
  id: text('UUID of the image.', ({ id }) => id),
  name: nullableText('Name of the image, or null.', ({ name }) => name),
  links: linksField,
};

export const imageSummary = view(summaryFields);

export const imageDetail = view<Image, ComputeCall>({
  ...summaryFields,
  status: field(
    'Status of the image: `ACTIVE`, `SAVING`, `DELETED`, `ERROR` or `UNKNOWN`.',
    imageStatusSchema,
    ({ status }) => computeStatuses[status] ?? 'UNKNOWN',
  ),
  progress: field(
    'Progress of the upload, in percent.',
    z.union([z.literal(0), z.literal(25), z.literal(50), z.literal(100)]),
    ({ status }) => (uploadProgress[status] ?? 0) as 0,
  ),
  created: field('Creation time, in UTC with second precision.', type.serverTime, ({ createdAt }) =>
    type.formatServerTime(createdAt),
  ),
  updated: field('Time of the last change, in UTC with second precision.', type.serverTime, ({ updatedAt }) =>
    type.formatServerTime(updatedAt),
  ),
  minDisk: integer('Minimum root disk, in GiB.', ({ minDiskGb }) => minDiskGb),
  minRam: integer('Minimum memory, in MiB.', ({ minRamMb }) => minRamMb),
  metadata: field('Metadata of the image, as key-value pairs.', type.textMap, imageMetadata),
  'OS-EXT-IMG-SIZE:size': integer('Size of the image, in bytes.', ({ sizeBytes }) => sizeBytes ?? 0),
  'OS-DCF:diskConfig': field(
    '`AUTO` if the file system is resized to fill the disk, `MANUAL` if it is left unchanged.',
    diskConfig,
    diskConfigOf,
  ),
  server: field(
    'Server from which the image was created. Absent for other images.',
    serverReference.optional(),
    ({ properties: { instance_uuid: id } }, call) =>
      id ? { id, links: [...call.links(`/servers/${id}`)] as never } : undefined,
  ),
});
