import { Rejection } from '@apistrata/compute-engine';
import { object, one, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../operation.js';
import { rejectedSince275 } from '../schemas/extra-parameters.js';
import { idText } from '../schemas/id-text.js';
import { assistedSnapshotDocs } from './external-services.docs.js';

const text = idText.min(1);
const deleteInfo = z.object({ volume_id: text });

/** Returns the volume id in the JSON string of the query. */
function volumeOf(info: string | undefined): string {
  try {
    return deleteInfo.parse(JSON.parse(info ?? '')).volume_id;
  } catch {
    throw new Rejection('BAD_REQUEST', 'delete_info must be a JSON object with a volume_id');
  }
}

/** For volume services that let hosts write snapshots. */
export const assistedVolumeSnapshots = [
  operation({
    ...assistedSnapshotDocs,
    name: 'createAssistedVolumeSnapshot',
    method: 'POST',
    path: '/os-assisted-volume-snapshots',
    summary: 'Create an assisted volume snapshot',
    description:
      'Creates a snapshot of an attached volume. The host of the server writes subsequent changes to a new file.',
    policy: 'os_compute_api:os-assisted-volume-snapshots:create',
    status: 200,
    errors: [400],
    body: object({
      snapshot: object({
        volume_id: text,
        create_info: object({ snapshot_id: text, type: z.literal('qcow2'), new_file: text, id: text.optional() }),
      }),
    }),
    reply: { snapshot: z.strictObject({ id: z.string().nullable(), volumeId: z.string() }) },
    run: async ({ engine, context, body: { snapshot } }) => {
      const { volume_id, create_info } = snapshot;
      await engine.assistedSnapshots.create(context, volume_id, create_info.snapshot_id);
      return { snapshot: { id: create_info.id ?? null, volumeId: volume_id } };
    },
  }),
  operation({
    ...assistedSnapshotDocs,
    name: 'deleteAssistedVolumeSnapshot',
    method: 'DELETE',
    path: '/os-assisted-volume-snapshots/{id}',
    summary: 'Delete an assisted volume snapshot',
    description: 'Deletes a snapshot of an attached volume. The host merges the snapshot file back.',
    policy: 'os_compute_api:os-assisted-volume-snapshots:delete',
    status: 204,
    errors: [400, 404],
    query: query({ delete_info: one(z.string()) }, { extra: rejectedSince275 }),
    run: ({ engine, context, params, query: { delete_info } }) =>
      engine.assistedSnapshots.delete(context, volumeOf(delete_info), params.id),
  }),
];
