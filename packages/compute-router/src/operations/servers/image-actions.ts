import { at, since, until } from '@apistrata/microversion';
import { described, object } from '@apistrata/microversion/schema';
import { prepareResponse } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import * as type from '../../schemas/types.js';
import { serverAction, serverDocs } from './server-docs.js';

/** OpenAPI descriptions that several fields share. */
const imageActionTexts = {
  name: 'Name of the image.',
  metadata: 'Metadata of the image, as key-value pairs.',
} as const;

/** Since 2.45, the response body contains the image id. Until 2.44, the `Location` header contains the image URL. */
const returnsImageId = since('2.45', true);
/** Until 2.38, image properties count against the quota for metadata items. */
const limitsMetadata = until('2.38', true);

const reply = { image_id: since('2.45', described('UUID of the created image.', z.string())) };

/** Returns the response, which contains the image's id or URL. */
function imageReply(call: ComputeCall, imageId: string, isRetained = true) {
  if (at(returnsImageId, call.version)) return prepareResponse({ body: { image_id: imageId } });
  return prepareResponse({ headers: isRetained ? { Location: `${call.base}/images/${imageId}` } : {} });
}

/** Server actions that create images. */
export const imageActions = [
  operation({
    ...serverAction,
    name: 'createServerImage',
    action: 'createImage',
    summary: 'Create an image of a server',
    description:
      'Creates an image of the root disk. If the root disk is a volume, creates snapshots of all volumes, and an image that refers to the snapshots. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`. The action is asynchronous; poll the image until it is active. Until 2.44, the `Location` header contains the URL of the image; since 2.45, the response body contains its ID.',
    policy: 'os_compute_api:servers:create_image',
    errors: [400, 403, 404, 409],
    when: {
      ...serverDocs.when,
      403: 'The policy does not allow the operation, or a quota is exceeded.',
      409: 'The status or the task state of the server does not allow the operation.',
    },
    body: object({
      createImage: described(
        'The image to create.',
        object({
          name: described(imageActionTexts.name, type.name),
          metadata: described(imageActionTexts.metadata, type.metadata.optional()),
        }),
      ),
    }),
    reply,
    run: async (call) => {
      const { engine, context, target, version } = call;
      const { name, metadata } = call.body.createImage;
      if (target.blockDevices.some(({ bootIndex, destination }) => bootIndex === 0 && destination === 'volume'))
        call.require('os_compute_api:servers:create_image:allow_volume_backed', target);
      const imageId = await engine.servers.act(context, target.id, 'createImage', {
        name,
        metadata,
        limitMetadata: at(limitsMetadata, version) ?? false,
      });
      return imageReply(call, imageId);
    },
  }),
  operation({
    ...serverAction,
    name: 'createServerBackup',
    action: 'createBackup',
    summary: 'Create a backup of a server',
    description:
      'Creates an image of a server whose root disk is not a volume, and then deletes the oldest backups of the same type until `rotation` backups are left. The server must be `ACTIVE`, `PAUSED`, `SUSPENDED` or `SHUTOFF`. The action is asynchronous; poll the image until it is active. Until 2.44, the `Location` header contains the URL of the image; since 2.45, the response body contains its ID.',
    policy: 'os_compute_api:os-create-backup',
    errors: [400, 403, 404, 409],
    when: {
      ...serverDocs.when,
      403: 'The policy does not allow the operation, or a quota is exceeded.',
      409: 'The status or the task state of the server does not allow the operation.',
    },
    body: object({
      createBackup: described(
        'The backup to create.',
        object({
          name: described(imageActionTexts.name, type.name),
          backup_type: described(
            'Type of the backup, such as `daily`. Rotation applies to each type separately.',
            z.string(),
          ),
          rotation: described(
            'Number of backups of this type to keep. With 0, all backups are deleted, including the new one.',
            type.nonNegativeInteger,
          ),
          metadata: described(imageActionTexts.metadata, type.metadata.optional()),
        }),
      ),
    }),
    reply,
    run: async (call) => {
      const { engine, context, target, version } = call;
      const { name, backup_type, rotation, metadata } = call.body.createBackup;
      const imageId = await engine.servers.act(context, target.id, 'createBackup', {
        name,
        metadata,
        backupType: backup_type,
        rotation,
        limitMetadata: at(limitsMetadata, version) ?? false,
      });
      return imageReply(call, imageId, rotation > 0);
    },
  }),
];
