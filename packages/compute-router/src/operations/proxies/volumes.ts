import { randomUUID } from 'node:crypto';
import type { Volume } from '@apistrata/compute-engine/catalogs';
import { described, object, query } from '@apistrata/microversion/schema';
import { view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import { commonTexts } from '../../reference/common-texts.js';
import * as type from '../../schemas/reply-types.js';
import { storableText } from '../../schemas/storable-text.js';
import { positiveInteger } from '../../schemas/types.js';
import { field, integer, nullableText, text, time } from '../../views/fields.js';
import { offsetPage, offsetParameters } from './offset-page.js';
import { volumeProxyDocs } from './proxy-docs.js';

/** OpenAPI descriptions that several fields share. */
const volumeTexts = {
  id: 'UUID of the volume.',
  size: 'Size, in GiB.',
  metadata: 'Metadata of the volume, as key-value pairs.',
  volume: 'A volume.',
} as const;

const attachment = z.union([
  z.strictObject({
    id: z.string().describe(volumeTexts.id),
    volumeId: z.string().describe(volumeTexts.id),
    serverId: z.string().describe(commonTexts.serverUuid),
    device: z.string().optional().describe('Device name in the guest, such as `/dev/vdb`.'),
  }),
  z.strictObject({}),
]);

/** For a volume that is not attached, the API returns one empty attachment. */
function attachmentsOf({ id, attachments }: Volume): z.output<typeof attachment>[] {
  const currentAttachments = attachments.filter(({ status }) => status === 'attached' || status === 'detaching');
  if (currentAttachments.length === 0) return [{}];
  return currentAttachments.map(({ serverId, device }) => ({
    id,
    volumeId: id,
    serverId,
    ...(device !== null && { device }),
  }));
}

const volume = view<Volume, ComputeCall>({
  id: text(volumeTexts.id, ({ id }) => id),
  status: text('Status in the volume service, such as `available` or `in-use`.', ({ status }) => status),
  size: integer(volumeTexts.size, ({ sizeGb }) => sizeGb),
  availabilityZone: nullableText('Availability zone of the volume.', ({ availabilityZone }) => availabilityZone),
  createdAt: time('Creation time, in UTC with microsecond precision.', ({ createdAt }) => createdAt),
  attachments: field(
    'Attachments of the volume. A list with one empty object if the volume is not attached.',
    z.array(attachment),
    attachmentsOf,
  ),
  displayName: nullableText('Name, or null.', ({ name }) => name),
  displayDescription: nullableText('Description, or null.', ({ description }) => description),
  volumeType: nullableText('Volume type.', ({ volumeType }) => volumeType),
  snapshotId: nullableText(
    'UUID of the snapshot from which the volume was created, or null.',
    ({ snapshotId }) => snapshotId,
  ),
  metadata: field(volumeTexts.metadata, type.textMap, ({ metadata }) => ({ ...metadata })),
});

const path = '/os-volumes';
const listQuery = query(offsetParameters, { extra: 'ignore' });

async function loadPage(call: ComputeCall, requested: { readonly limit?: number; readonly offset?: number }) {
  return { volumes: offsetPage(call, await call.engine.catalogs.volumes.listVolumes(call.caller), requested) };
}

const findVolume = ({ engine, caller, params }: ComputeCall & { readonly params: { readonly id: string } }) =>
  engine.catalogs.volumes.getVolume(caller, params.id);

const listOperations = [
  {
    name: 'listVolumes',
    path,
    description: 'Lists the volumes of the project.',
    policy: 'os_compute_api:os-volumes:list',
  },
  {
    name: 'listVolumesDetail',
    path: `${path}/detail`,
    description: 'Lists the volumes of the project. The response is the same as that of the list without details.',
    policy: 'os_compute_api:os-volumes:detail',
  },
] as const;

export const volumeProxies = [
  ...listOperations.map((list) =>
    operation({
      ...volumeProxyDocs,
      ...list,
      method: 'GET',
      summary: 'List volumes',
      status: 200,
      query: listQuery,
      reply: { volumes: described('The volumes on this page.', [volume]) },
      run: (call) => loadPage(call, call.query),
    }),
  ),
  operation({
    ...volumeProxyDocs,
    name: 'createVolume',
    method: 'POST',
    path,
    summary: 'Create a volume',
    description: 'Creates an empty volume, or a volume from a snapshot.',
    policy: 'os_compute_api:os-volumes:create',
    status: 200,
    errors: [400, 403, 404],
    body: object({
      volume: described(
        volumeTexts.volume,
        object({
          volume_type: described(
            'Type of the volume. Default: the default type of the volume service.',
            storableText.optional(),
          ),
          metadata: described(volumeTexts.metadata, z.record(z.string(), z.string()).optional()),
          snapshot_id: described('UUID of the snapshot from which to create the volume.', storableText.optional()),
          size: described(volumeTexts.size, positiveInteger),
          availability_zone: described('Availability zone in which to create the volume.', storableText.optional()),
          display_name: described('Name. Not unique.', storableText.optional()),
          display_description: described('Description.', storableText.optional()),
        }),
      ),
    }),
    reply: { volume: described(volumeTexts.volume, volume) },
    run: async ({ engine, caller, body: { volume: requested } }) => ({
      volume: await engine.catalogs.volumes.createVolume(caller, {
        key: randomUUID(),
        sizeGb: requested.size,
        name: requested.display_name,
        description: requested.display_description,
        volumeType: requested.volume_type,
        availabilityZone: requested.availability_zone,
        snapshotId: requested.snapshot_id,
        metadata: requested.metadata,
      }),
    }),
  }),
  operation({
    ...volumeProxyDocs,
    name: 'showVolume',
    method: 'GET',
    path: `${path}/{id}`,
    summary: 'Show a volume',
    description: 'Shows a volume.',
    policy: 'os_compute_api:os-volumes:show',
    status: 200,
    errors: [404],
    target: findVolume,
    reply: { volume: described(volumeTexts.volume, volume) },
    run: ({ target }) => ({ volume: target }),
  }),
  operation({
    ...volumeProxyDocs,
    name: 'deleteVolume',
    method: 'DELETE',
    path: `${path}/{id}`,
    summary: 'Delete a volume',
    description: 'Deletes a volume. The volume must not be attached to a server.',
    policy: 'os_compute_api:os-volumes:delete',
    status: 202,
    errors: [400, 404],
    target: findVolume,
    run: ({ engine, caller, target }) => engine.catalogs.volumes.deleteVolume(caller, target.id),
  }),
];
