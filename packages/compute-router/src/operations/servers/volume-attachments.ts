import { type BlockDevice, Rejection, type Server } from '@apistrata/compute-engine';
import { at, since, until } from '@apistrata/microversion';
import { described, object, one, query } from '@apistrata/microversion/schema';
import { prepareResponse } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import { commonTexts } from '../../reference/common-texts.js';
import { resource } from '../../reference/resource.js';
import { rejectedSince275 } from '../../schemas/extra-parameters.js';
import * as type from '../../schemas/types.js';
import {
  type AttachedVolume,
  createdVolumeAttachment,
  volumeAttachment,
  volumeAttachmentTexts,
} from '../../views/volume-attachment.js';
import { parentServer } from './target.js';

const volumeAttachmentDocs = resource({
  tag: 'volume-attachments',
  parameters: { id: 'UUID of the volume.' },
  when: { 409: 'The state of the server does not allow the operation, or the server is locked.' },
});

const listPath = '/servers/{server_id}/os-volume_attachments';
const itemPath = '/servers/{server_id}/os-volume_attachments/{id}';

/** Schema for a device path in the guest, such as `/dev/vdb` or `/dev/xvdc1`. */
const devicePath = z
  .string()
  .max(255)
  .regex(/^\/dev\/x?[a-z]?d?[a-z]+[0-9]*$/)
  .nullable();

/**
 * Replaces an attached volume with the volume to which the volume service migrates it. Throws a 404 if the volume is
 * not attached, regardless of the server's state.
 */
async function swapVolume(
  { engine, context }: ComputeCall,
  server: Server,
  previousVolumeId: string,
  replacementVolumeId: string,
): Promise<void> {
  engine.volumeAttachments.get(server, previousVolumeId);
  await engine.servers.act(context, server.id, 'swapVolume', {
    oldVolumeId: previousVolumeId,
    newVolumeId: replacementVolumeId,
  });
}

/** Since 2.89, volumes without an attachment id are not shown. */
const requiresAttachmentId = since('2.89', true);

function isShown(call: ComputeCall, device: BlockDevice): device is AttachedVolume {
  if (device.destination !== 'volume' || device.volumeId === null) return false;
  return device.attachmentId !== null || !at(requiresAttachmentId, call.version);
}

const acceptsShelved = since('2.20', true);
const acceptsMultiattach = since('2.60', true);

const swapRule = 'os_compute_api:os-volumes-attachments:swap';

const pageParameter = z
  .string()
  .regex(/^[0-9]+$/)
  .transform(Number);

const updateDefinition = {
  ...volumeAttachmentDocs,
  name: 'updateVolumeAttachment',
  description:
    'Replaces the volume of an attachment while the volume service migrates the volume. Asynchronous; poll the list of attachments until it contains the new volume. The server must be `ACTIVE`, `PAUSED` or `VERIFY_RESIZE`. Since 2.85, a request with the current `volumeId` updates `delete_on_termination` instead, and is synchronous.',
  when: {
    409: 'The state of the server does not allow the operation, the server is locked, or the volume is not being migrated.',
  },
} as const;

export const volumeAttachments = [
  operation({
    ...volumeAttachmentDocs,
    name: 'listVolumeAttachments',
    method: 'GET',
    path: listPath,
    summary: 'List the volume attachments of a server',
    description: 'Lists the volume attachments of a server.',
    policy: 'os_compute_api:os-volumes-attachments:index',
    status: 200,
    errors: [404],
    query: query(
      {
        limit: described(commonTexts.limit, one(pageParameter)),
        offset: described(commonTexts.offset, one(pageParameter)),
      },
      { extra: rejectedSince275 },
    ),
    target: parentServer,
    reply: { volumeAttachments: described('The volume attachments on this page.', [volumeAttachment]) },
    run: (call) => {
      const { limit = 0, offset = 0 } = call.query;
      const size = limit === 0 ? call.maxLimit : Math.min(limit, call.maxLimit);
      const server = call.target;
      const devices = server.blockDevices.filter((device): device is AttachedVolume => isShown(call, device));
      return { volumeAttachments: devices.slice(offset, offset + size).map((device) => ({ server, device })) };
    },
  }),
  operation({
    ...volumeAttachmentDocs,
    name: 'createVolumeAttachment',
    method: 'POST',
    path: listPath,
    summary: 'Attach a volume to a server',
    description:
      'Attaches a volume to a server. The operation is asynchronous: poll the volume in the volume service until its status is `in-use`; the list of actions shows failures. Until 2.100, the response contains the attachment; since 2.101, the response is 202 without a body. Since 2.20, the server can also be shelved; since 2.60, the volume can be a multiattach volume.',
    policy: 'os_compute_api:os-volumes-attachments:create',
    status: [until('2.100', 200), since('2.101', 202)],
    errors: [400, 403, 404, 409],
    when: {
      ...volumeAttachmentDocs.when,
      400: 'The request body is malformed, the volume is not available, or the volume is a multiattach volume and the version is below 2.60.',
    },
    body: object({
      volumeAttachment: described(
        volumeAttachmentTexts.volumeAttachment,
        object({
          volumeId: described(volumeAttachmentTexts.volumeId, type.uuid),
          device: described(volumeAttachmentTexts.device, devicePath.optional()),
          tag: since('2.49', described(volumeAttachmentTexts.bodyVolumeAttachmentTag, type.tag.optional())),
          delete_on_termination: since(
            '2.79',
            described(volumeAttachmentTexts.deleteOnTermination, type.lenientBoolean.optional()),
          ),
        }),
      ),
    }),
    target: parentServer,
    reply: until('2.100', {
      volumeAttachment: described(volumeAttachmentTexts.volumeAttachment, createdVolumeAttachment),
    }),
    run: async (call) => {
      const { engine, context, target, version, body } = call;
      const { volumeId, device, tag: deviceTag, delete_on_termination } = body.volumeAttachment;
      const attachedDevice = await engine.servers.act(context, target.id, 'attachVolume', {
        volumeId,
        device,
        tag: deviceTag,
        deleteOnTermination: delete_on_termination,
        allowShelved: at(acceptsShelved, version) ?? false,
        multiattach: at(acceptsMultiattach, version) ?? false,
      });
      const response = { volumeAttachment: { server: target, device: { ...attachedDevice, volumeId } } };
      return at(until('2.100', true), version) ? response : prepareResponse({});
    },
  }),
  operation({
    ...volumeAttachmentDocs,
    name: 'showVolumeAttachment',
    method: 'GET',
    path: itemPath,
    summary: 'Show a volume attachment of a server',
    description: 'Shows a volume attachment of a server.',
    policy: 'os_compute_api:os-volumes-attachments:show',
    status: 200,
    errors: [404],
    query: query({}, { extra: 'ignore' }),
    target: parentServer,
    reply: { volumeAttachment: described(volumeAttachmentTexts.volumeAttachment, volumeAttachment) },
    run: async (call) => {
      const { engine, target, params } = call;
      const device = engine.volumeAttachments.get(target, params.id);
      if (!isShown(call, device))
        throw new Rejection('NOT_FOUND', `Instance ${target.id} is not attached to volume ${params.id}`);
      return { volumeAttachment: { server: target, device } };
    },
  }),
  operation({
    ...updateDefinition,
    method: 'PUT',
    path: itemPath,
    window: until('2.84', true),
    summary: 'Replace the volume of an attachment',
    policy: swapRule,
    status: 202,
    errors: [400, 404, 409],
    body: object({
      volumeAttachment: described(
        volumeAttachmentTexts.volumeAttachment,
        object({ volumeId: described(volumeAttachmentTexts.volumeId, type.uuid) }),
      ),
    }),
    target: parentServer,
    run: (call) => swapVolume(call, call.target, call.params.id, call.body.volumeAttachment.volumeId),
  }),
  operation({
    ...updateDefinition,
    method: 'PUT',
    path: itemPath,
    window: since('2.85', true),
    summary: 'Update a volume attachment',
    status: 202,
    errors: [400, 403, 404, 409],
    body: object({
      volumeAttachment: described(
        volumeAttachmentTexts.volumeAttachment,
        object({
          volumeId: described(volumeAttachmentTexts.volumeId, type.uuid),
          device: described(volumeAttachmentTexts.device, devicePath.optional()),
          tag: described(volumeAttachmentTexts.bodyVolumeAttachmentTag, type.tag.optional()),
          delete_on_termination: described(volumeAttachmentTexts.deleteOnTermination, type.lenientBoolean.optional()),
          serverId: described(volumeAttachmentTexts.serverId, type.uuid.optional()),
          id: described(volumeAttachmentTexts.id, type.uuid.optional()),
        }),
      ),
    }),
    target: parentServer,
    run: async (call) => {
      const { engine, context, target, params } = call;
      const { volumeId, delete_on_termination, ...fields } = call.body.volumeAttachment;
      if (volumeId !== params.id) {
        call.require(swapRule, target);
        return swapVolume(call, target, params.id, volumeId);
      }
      call.require('os_compute_api:os-volumes-attachments:update', target);
      await engine.volumeAttachments.update(context, target, volumeId, {
        ...fields,
        deleteOnTermination: delete_on_termination,
      });
    },
  }),
  operation({
    ...volumeAttachmentDocs,
    name: 'deleteVolumeAttachment',
    method: 'DELETE',
    path: itemPath,
    summary: 'Detach a volume from a server',
    description:
      'Detaches a volume from a server. The operation is asynchronous; poll the list of attachments until it does not contain the volume. Since 2.20, the server can be shelved.',
    policy: 'os_compute_api:os-volumes-attachments:delete',
    status: 202,
    errors: [400, 403, 404, 409],
    when: {
      ...volumeAttachmentDocs.when,
      400: 'The volume is the root disk of the server.',
    },
    target: parentServer,
    run: ({ engine, context, target, params }) =>
      engine.servers.act(context, target.id, 'detachVolume', { volumeId: params.id }),
  }),
];
