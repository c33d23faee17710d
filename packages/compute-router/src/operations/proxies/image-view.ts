import type { Image, ImageStatus } from '@apistrata/compute-engine/catalogs';
import { field, type ViewShape, view } from '@apistrata/microversion/router';
import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { commonTexts } from '../../reference/common-texts.js';
import * as type from '../../schemas/reply-types.js';

const imageLinks = z
  .array(
    z.strictObject({
      rel: z.enum(['self', 'bookmark', 'alternate']).describe(commonTexts.rel),
      href: z.string().describe(commonTexts.href),
      type: z.string().optional().describe('Media type of the linked resource.'),
    }),
  )
  .length(3);

/** The image service's own URL is unknown here, so the link is a separate path on this host. */
const links = field<Image, ComputeCall, typeof imageLinks>(imageLinks, ({ id }, call) => [
  ...call.links(`/images/${id}`).map(({ rel, href }) => ({ rel: rel as 'self', href })),
  { rel: 'alternate' as const, type: 'application/vnd.openstack.image', href: `${call.base}/images/${id}` },
]);

const shownStatus = z.enum(['ACTIVE', 'SAVING', 'DELETED', 'ERROR', 'UNKNOWN']);
type ShownStatus = z.output<typeof shownStatus>;

const statuses: Readonly<Partial<Record<ImageStatus, ShownStatus>>> = {
  active: 'ACTIVE',
  queued: 'SAVING',
  saving: 'SAVING',
  uploading: 'SAVING',
  importing: 'SAVING',
  deleted: 'DELETED',
  pending_delete: 'DELETED',
  killed: 'ERROR',
};

/** Progress of the image towards usability, in percent. */
const progress: Readonly<Partial<Record<ImageStatus, number>>> = {
  queued: 25,
  saving: 50,
  uploading: 50,
  importing: 50,
  active: 100,
};

/** Returns the statuses of the image service for a status of the old API; none for an unknown status. */
export function statusesOf(text: string): readonly ImageStatus[] {
  const requested = text.toUpperCase();
  return (Object.keys(statuses) as ImageStatus[]).filter((status) => statuses[status] === requested);
}

const diskConfig = z.enum(['AUTO', 'MANUAL']).optional();
const serverOf = z.strictObject({
  id: z.string().describe(commonTexts.serverUuid),
  links: type.links.describe(commonTexts.links),
});

function diskConfigOf({ properties }: Image): 'AUTO' | 'MANUAL' | undefined {
  const auto = properties.auto_disk_config;
  return auto === undefined ? undefined : auto.toLowerCase() === 'true' ? 'AUTO' : 'MANUAL';
}

/** The metadata of an image, as strings. */
export const imageMetadata = ({ properties }: Image) => ({ ...properties });

const summary: ViewShape<Image, ComputeCall> = {
  id: described(
    'UUID of the image.',
    field(z.string(), ({ id }) => id),
  ),
  name: described(
    'Name of the image, or null.',
    field(type.nullableText, ({ name }) => name),
  ),
  links: described(commonTexts.links, links),
};

export const imageSummary = view(summary);

export const imageDetail = view<Image, ComputeCall>({
  ...summary,
  status: described(
    'Status of the image: `ACTIVE`, `SAVING`, `DELETED`, `ERROR` or `UNKNOWN`.',
    field(shownStatus, ({ status }) => statuses[status] ?? 'UNKNOWN'),
  ),
  progress: described(
    'Progress of the upload, in percent.',
    field(
      z.union([z.literal(0), z.literal(25), z.literal(50), z.literal(100)]),
      ({ status }) => (progress[status] ?? 0) as 0,
    ),
  ),
  created: described(
    'Creation time, in UTC with seconds.',
    field(type.serverTime, ({ createdAt }) => type.showServerTime(createdAt)),
  ),
  updated: described(
    'Time of the last change, in UTC with seconds.',
    field(type.serverTime, ({ updatedAt }) => type.showServerTime(updatedAt)),
  ),
  minDisk: described(
    'Minimum root disk, in GiB.',
    field(type.integer, ({ minDiskGb }) => minDiskGb),
  ),
  minRam: described(
    'Minimum memory, in MiB.',
    field(type.integer, ({ minRamMb }) => minRamMb),
  ),
  metadata: described('Metadata of the image, as key-value pairs.', field(type.textMap, imageMetadata)),
  'OS-EXT-IMG-SIZE:size': described(
    'Size of the image, in bytes.',
    field(type.integer, ({ sizeBytes }) => sizeBytes ?? 0),
  ),
  'OS-DCF:diskConfig': described(
    '`AUTO` if the file system can grow with the disk, otherwise `MANUAL`.',
    field(diskConfig, diskConfigOf),
  ),
  server: described(
    'Server from which the image was created. Absent for other images.',
    field(serverOf.optional(), ({ properties: { instance_uuid: id } }, call) =>
      id ? { id, links: [...call.links(`/servers/${id}`)] as never } : undefined,
    ),
  ),
});
