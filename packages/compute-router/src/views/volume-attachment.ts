import type { BlockDevice, Server } from '@apistrata/compute-engine';
import { since, until } from '@apistrata/microversion';
import { type ViewShape, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import { field, flag, nullableText, text } from './fields.js';

/** OpenAPI descriptions that several fields share. */
export const volumeAttachmentTexts = {
  id: 'Same value as `volumeId`. In requests (since 2.85), it must equal the current value.',
  device:
    'Device name in the guest, such as `/dev/vdb`. The hypervisor can select a name other than the requested one. Until a name is selected, the field is absent or null.',
  serverId: 'UUID of the server. In requests (since 2.85), it must equal the ID in the path.',
  volumeId: 'UUID of the volume.',
  deleteOnTermination: 'Whether the volume is deleted when the server is deleted. Default: false.',
  volumeAttachment: 'A volume attachment.',
  bodyVolumeAttachmentTag: 'Device tag. The guest can read it from the server metadata.',
} as const;

/** A block device that is a volume. */
export type AttachedVolume = BlockDevice & { readonly volumeId: string };

/** A server and one of the volumes that are attached to it. */
interface ServerVolume {
  readonly server: Server;
  readonly device: AttachedVolume;
}

const commonFields: ViewShape<ServerVolume, ComputeCall> = {
  serverId: text(volumeAttachmentTexts.serverId, ({ server }) => server.id),
  volumeId: text(volumeAttachmentTexts.volumeId, ({ device }) => device.volumeId),
  tag: since(
    '2.70',
    nullableText('Device tag, or null. The guest can read it from the server metadata.', ({ device }) => device.tag),
  ),
  delete_on_termination: since(
    '2.79',
    flag(volumeAttachmentTexts.deleteOnTermination, ({ device }) => device.deleteOnTermination),
  ),
};
const idField = text(volumeAttachmentTexts.id, ({ device }: ServerVolume) => device.volumeId);

export const volumeAttachment = view<ServerVolume, ComputeCall>({
  id: until('2.88', idField),
  device: field(volumeAttachmentTexts.device, z.string().optional(), ({ device }) => device.device || undefined),
  ...commonFields,
  attachment_id: since(
    '2.89',
    text('UUID of the attachment in the volume service.', ({ device }) => device.attachmentId ?? ''),
  ),
  bdm_uuid: since(
    '2.89',
    text('UUID of the block device mapping.', ({ device }) => device.id),
  ),
});

/** The representation of a new volume attachment. */
export const createdVolumeAttachment = view<ServerVolume, ComputeCall>({
  id: idField,
  device: nullableText(volumeAttachmentTexts.device, ({ device }) => device.device || null),
  ...commonFields,
});
