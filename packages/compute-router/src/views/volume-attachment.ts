import type { BlockDevice, Server } from '@apistrata/compute-engine';
import { since, until } from '@apistrata/microversion';
import { field, view } from '@apistrata/microversion/router';
import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';

/** Descriptions of fields that occur in several places. */
export const volumeAttachmentTexts = {
  id: 'Same as `volumeId`. In requests since 2.85: must equal the current value.',
  device:
    'Device name in the guest, such as `/dev/vdb`. The hypervisor can select a name other than the requested one.',
  serverId: 'UUID of the server. In requests since 2.85: must equal the ID in the path.',
  volumeId: 'UUID of the volume.',
  deleteOnTermination: 'Whether the volume is deleted when the server is deleted. Default: false.',
  volumeAttachment: 'A volume attachment.',
  bodyVolumeAttachmentTag: 'Device tag, which the guest reads from its metadata.',
} as const;

/** A volume that is attached to a server. */
export type AttachedVolume = BlockDevice & { readonly volumeId: string };

/** A server and one of its volumes. */
interface Shown {
  readonly server: Server;
  readonly device: AttachedVolume;
}

const tag = field<Shown, ComputeCall, z.ZodNullable<z.ZodString>>(z.string().nullable(), ({ device }) => device.tag);
const deleteOnTermination = field<Shown, ComputeCall, z.ZodBoolean>(
  z.boolean(),
  ({ device }) => device.deleteOnTermination,
);

const common = {
  serverId: described(
    volumeAttachmentTexts.serverId,
    field<Shown, ComputeCall, z.ZodString>(z.string(), ({ server }) => server.id),
  ),
  volumeId: described(
    volumeAttachmentTexts.volumeId,
    field<Shown, ComputeCall, z.ZodString>(z.string(), ({ device }) => device.volumeId),
  ),
  tag: since('2.70', described('Device tag, which the guest reads from its metadata, or null.', tag)),
  delete_on_termination: since('2.79', described(volumeAttachmentTexts.deleteOnTermination, deleteOnTermination)),
};
const id = field<Shown, ComputeCall, z.ZodString>(z.string(), ({ device }) => device.volumeId);

/** A volume attachment. */
export const volumeAttachment = view<Shown, ComputeCall>({
  id: until('2.88', described(volumeAttachmentTexts.id, id)),
  device: described(
    volumeAttachmentTexts.device,
    field(z.string().optional(), ({ device }) => device.device || undefined),
  ),
  ...common,
  attachment_id: since(
    '2.89',
    described(
      'UUID of the attachment in the volume service.',
      field(z.string(), ({ device }) => device.attachmentId ?? ''),
    ),
  ),
  bdm_uuid: since(
    '2.89',
    described(
      'UUID of the block device mapping.',
      field(z.string(), ({ device }) => device.id),
    ),
  ),
});

/** A volume attachment in the response that creates it. */
export const createdVolumeAttachment = view<Shown, ComputeCall>({
  id: described(volumeAttachmentTexts.id, id),
  device: described(
    volumeAttachmentTexts.device,
    field(z.string().nullable(), ({ device }) => device.device || null),
  ),
  ...common,
});
