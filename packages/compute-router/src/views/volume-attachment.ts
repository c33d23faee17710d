import type { BlockDevice, Server } from '@apistrata/compute-engine';
import { since, until } from '@apistrata/microversion';
import { field, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';

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
  serverId: field<Shown, ComputeCall, z.ZodString>(z.string(), ({ server }) => server.id),
  volumeId: field<Shown, ComputeCall, z.ZodString>(z.string(), ({ device }) => device.volumeId),
  tag: since('2.70', tag),
  delete_on_termination: since('2.79', deleteOnTermination),
};
const id = field<Shown, ComputeCall, z.ZodString>(z.string(), ({ device }) => device.volumeId);

/** A volume attachment. */
export const volumeAttachment = view<Shown, ComputeCall>({
  id: until('2.88', id),
  device: field(z.string().optional(), ({ device }) => device.device || undefined),
  ...common,
  attachment_id: since(
    '2.89',
    field(z.string(), ({ device }) => device.attachmentId ?? ''),
  ),
  bdm_uuid: since(
    '2.89',
    field(z.string(), ({ device }) => device.id),
  ),
});

/** A volume attachment in the response that creates it. */
export const createdVolumeAttachment = view<Shown, ComputeCall>({
  id,
  device: field(z.string().nullable(), ({ device }) => device.device || null),
  ...common,
});
