import { randomUUID } from 'node:crypto';
import type { VolumeSnapshot } from '@apistrata/compute-engine/catalogs';
import { described, object, query } from '@apistrata/microversion/schema';
import { view } from '@apistrata/microversion-router';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import { storableText } from '../../schemas/storable-text.js';
import { lenientBoolean } from '../../schemas/types.js';
import { integer, nullableText, text, time } from '../../views/fields.js';
import { offsetPage, offsetParameters } from './offset-page.js';
import { volumeProxyDocs } from './proxy-docs.js';
import { withRejectionCodes } from './rejected-as.js';

/** OpenAPI descriptions that several fields share. */
const snapshotTexts = {
  volumeId: 'UUID of the volume.',
  snapshot: 'A volume snapshot.',
} as const;

const snapshot = view<VolumeSnapshot, ComputeCall>({
  id: text('UUID of the snapshot.', ({ id }) => id),
  volumeId: text(snapshotTexts.volumeId, ({ volumeId }) => volumeId),
  status: text('Status in the volume service, such as `available` or `creating`.', ({ status }) => status),
  size: integer('Size, in GiB.', ({ sizeGb }) => sizeGb),
  createdAt: time('Creation time, in UTC with microsecond precision.', ({ createdAt }) => createdAt),
  displayName: nullableText('Name, or null.', ({ name }) => name),
  displayDescription: nullableText('Description, or null.', ({ description }) => description),
});

const path = '/os-snapshots';

const findSnapshot = ({ engine, caller, params }: ComputeCall & { readonly params: { readonly id: string } }) =>
  engine.catalogs.volumes.getSnapshot(caller, params.id);

const listOperations = [
  {
    name: 'listSnapshots',
    path,
    description: 'Lists the volume snapshots of the project.',
    policy: 'os_compute_api:os-volumes:snapshots:list',
  },
  {
    name: 'listSnapshotsDetail',
    path: `${path}/detail`,
    description:
      'Lists the volume snapshots of the project. The response is the same as that of the list without details.',
    policy: 'os_compute_api:os-volumes:snapshots:detail',
  },
] as const;

export const snapshotProxies = [
  ...listOperations.map((list) =>
    operation({
      ...volumeProxyDocs,
      ...list,
      method: 'GET',
      summary: 'List volume snapshots',
      status: 200,
      query: query(offsetParameters, { extra: 'ignore' }),
      reply: { snapshots: described('The snapshots on this page.', [snapshot]) },
      run: async (call) => {
        const allSnapshots = await call.engine.catalogs.volumes.listSnapshots(call.caller);
        return { snapshots: offsetPage(call, allSnapshots, call.query) };
      },
    }),
  ),
  operation({
    ...volumeProxyDocs,
    name: 'createSnapshot',
    method: 'POST',
    path,
    summary: 'Create a volume snapshot',
    description: 'Creates a snapshot of a volume.',
    policy: 'os_compute_api:os-volumes:snapshots:create',
    status: 200,
    errors: [400, 403],
    body: object({
      snapshot: described(
        snapshotTexts.snapshot,
        object({
          volume_id: described(snapshotTexts.volumeId, storableText),
          force: described(
            'Whether to create a snapshot of an attached volume. Default: false.',
            lenientBoolean.optional(),
          ),
          display_name: described('Name. Not unique.', storableText.optional()),
          display_description: described('Description.', storableText.optional()),
        }),
      ),
    }),
    reply: { snapshot: described(snapshotTexts.snapshot, snapshot) },
    run: async ({ engine, caller, body: { snapshot: requested } }) => ({
      snapshot: await withRejectionCodes(
        { VOLUME_NOT_FOUND: 'BAD_REQUEST' },
        engine.catalogs.volumes.createSnapshot(caller, {
          key: randomUUID(),
          volumeId: requested.volume_id,
          name: requested.display_name,
          description: requested.display_description,
          force: requested.force,
        }),
      ),
    }),
  }),
  operation({
    ...volumeProxyDocs,
    name: 'showSnapshot',
    method: 'GET',
    path: `${path}/{id}`,
    summary: 'Show a volume snapshot',
    description: 'Shows a volume snapshot.',
    policy: 'os_compute_api:os-volumes:snapshots:show',
    status: 200,
    errors: [404],
    target: findSnapshot,
    reply: { snapshot: described(snapshotTexts.snapshot, snapshot) },
    run: ({ target }) => ({ snapshot: target }),
  }),
  operation({
    ...volumeProxyDocs,
    name: 'deleteSnapshot',
    method: 'DELETE',
    path: `${path}/{id}`,
    summary: 'Delete a volume snapshot',
    description: 'Deletes a volume snapshot.',
    policy: 'os_compute_api:os-volumes:snapshots:delete',
    status: 202,
    errors: [404],
    target: findSnapshot,
    run: ({ engine, caller, target }) => engine.catalogs.volumes.deleteSnapshot(caller, target.id),
  }),
];
