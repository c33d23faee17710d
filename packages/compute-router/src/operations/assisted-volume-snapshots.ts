import { Rejection } from '@apistrata/compute-engine';
import { described, object, one, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../operation.js';
import { resource } from '../reference/resource.js';
import { rejectedSince275 } from '../schemas/extra-parameters.js';
import { storableText } from '../schemas/storable-text.js';

const assistedSnapshotDocs = resource({
  tag: 'assisted-volume-snapshots',
  parameters: { id: 'UUID of the snapshot.' },
});

/** OpenAPI descriptions that several fields share. */
export const assistedVolumeSnapshotTexts = {
  snapshot: 'The snapshot.',
  snapshotVolumeId: 'UUID of the volume.',
} as const;

const idSchema = storableText.min(1);
const deleteInfoSchema = z.object({ volume_id: idSchema });

/** Returns the volume id from the query parameter `delete_info`, which contains a JSON string. */
function parseVolumeId(info: string | undefined): string {
  try {
    return deleteInfoSchema.parse(JSON.parse(info ?? '')).volume_id;
  } catch {
    throw new Rejection('BAD_REQUEST', 'delete_info must be a JSON object with a volume_id');
  }
}

/** Operations that a volume service calls for volumes whose snapshots the hosts must create. */
export const assistedVolumeSnapshots = [
  operation({
    ...assistedSnapshotDocs,
    name: 'createAssistedVolumeSnapshot',
    method: 'POST',
    path: '/os-assisted-volume-snapshots',
    summary: 'Create an assisted volume snapshot',
    description:
      'Creates a snapshot of an attached volume. The host of the server then writes changes to a new file. The progress is reported to the volume service.',
    policy: 'os_compute_api:os-assisted-volume-snapshots:create',
    status: 200,
    errors: [400],
    body: object({
      snapshot: described(
        assistedVolumeSnapshotTexts.snapshot,
        object({
          volume_id: described(assistedVolumeSnapshotTexts.snapshotVolumeId, idSchema),
          create_info: described(
            'Data that the driver requires to create the snapshot.',
            object({
              snapshot_id: described('UUID of the snapshot in the volume service.', idSchema),
              type: described('Format of the snapshot file: `qcow2`.', z.literal('qcow2')),
              new_file: described('Name of the file to which the host writes after the snapshot.', idSchema),
              id: described('Any string. The response contains it as `id`.', idSchema.optional()),
            }),
          ),
        }),
      ),
    }),
    reply: {
      snapshot: described(
        assistedVolumeSnapshotTexts.snapshot,
        z.strictObject({
          id: z.string().nullable().describe('The `id` in the request, or null.'),
          volumeId: z.string().describe(assistedVolumeSnapshotTexts.snapshotVolumeId),
        }),
      ),
    },
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
    description:
      'Deletes a snapshot of an attached volume. The host of the server merges the snapshot file into the volume. The progress is reported to the volume service.',
    policy: 'os_compute_api:os-assisted-volume-snapshots:delete',
    status: 204,
    errors: [400, 404],
    query: query(
      {
        delete_info: described(
          'JSON string with an object that contains `volume_id`, the UUID of the volume, and data for the driver.',
          one(z.string()),
        ),
      },
      { extra: rejectedSince275 },
    ),
    run: ({ engine, context, params, query: { delete_info } }) =>
      engine.assistedSnapshots.delete(context, parseVolumeId(delete_info), params.id),
  }),
];
