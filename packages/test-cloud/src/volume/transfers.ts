import { randomBytes } from 'node:crypto';
import { ignoreRejection } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { accepted, post } from '../service/route.js';
import { badRequest } from '../service/service-error.js';
import { onlyFields, withoutFields } from '../service/view.js';
import { text } from '../service/wire-types.js';
import { checkQuota } from './quota-check.js';
import { isListed, links } from './volume-style.js';
import { boolean, object, uuid } from './wire-types.js';

const AcceptBody = object({
  accept: object({ auth_key: z.union([z.string(), z.int().transform(String)]) }),
});

/**
 * The resource for volume transfers, which another project accepts with a key. The API has two paths to the same
 * transfers.
 */
function transferResource(path: string): ResourceSpec {
  return {
    path,
    one: 'transfer',
    many: 'transfers',
    filters: ['name', 'volume_id', 'id'],
    verbs: ['list', 'show', 'create', 'remove'],
    fields: () => ({
      id: derived(),
      volume_id: required(fixed(uuid)),
      name: fixed(text.trim().min(1, "The 'name' can not be empty.").nullable(), null),
      // Requests to the older path cannot set this field.
      no_snapshots: path === 'volume-transfers' ? fixed(boolean, false, { since: 55 }) : derived(false, { since: 55 }),
      auth_key: derived(),
      created_at: derived(),
      updated_at: derived(undefined, { hidden: true }),
      source_project_id: derived(undefined, { since: 57 }),
      destination_project_id: derived(null, { since: 57 }),
      accepted: derived(false, { since: 57 }),
      project_id: derived(undefined, { hidden: true }),
    }),
    // Only the response to the create request contains the key.
    views: { list: onlyFields('id', 'name', 'volume_id', 'links'), show: withoutFields('auth_key') },
    lists: (call, transfer) => isListed(call, transfer.project_id),
    isVisible: () => true,
    requireSource: ({ cloud, caller }, { volume_id }) => cloud.catalogs.volumes.getVolume(caller, String(volume_id)),
    async creating(call, { volume_id }) {
      const { volumes } = call.cloud.catalogs;
      const volume = await volumes.getVolume(call.caller, String(volume_id));
      if (volume.status !== 'available') throw badRequest('Invalid volume: status must be available');
      await volumes.updateVolume(call.caller, volume.id, { status: 'awaiting-transfer' }, 'available');
      return { auth_key: randomBytes(8).toString('hex'), source_project_id: call.caller.projectId };
    },
    async removing(call, { volume_id, accepted: wasAccepted }) {
      if (wasAccepted) return;
      const { volumes } = call.cloud.catalogs;
      const reset = volumes.updateVolume(call.caller, String(volume_id), { status: 'available' }, 'awaiting-transfer');
      await ignoreRejection(reset);
    },
    shows: (call, { id }) => ({ links: links(call, `${path}/${id}`) }),
    routes: (resource) => [
      post(`/v3/${path}/:id/accept`, async (call) => {
        const transfer = await resource.find(call, call.param('id'), 'change', 'volume:accept_transfer');
        if (call.body(AcceptBody).accept.auth_key !== transfer.auth_key)
          throw badRequest(`Invalid auth key: Attempt to transfer ${transfer.id} with invalid auth key.`);
        const { caller, cloud } = call;
        const { volumes } = cloud.catalogs;
        const { id, sizeGb, volumeType } = await volumes.getVolume(call.elevatedCaller, String(transfer.volume_id));
        await checkQuota(call, { volumes: 1, gigabytes: sizeGb }, volumeType, { id, sizeGb, volumeType });
        await volumes.transferVolume(String(transfer.volume_id), {
          projectId: caller.projectId,
          userId: caller.userId,
          withSnapshots: transfer.no_snapshots !== true,
        });
        cloud.documents.table<Doc>(resource.table).delete(transfer.id);
        return accepted({ transfer: summaryOf(call, path, transfer) });
      }),
    ],
  };
}

const summaryOf = (call: Call, path: string, { id, name, volume_id }: Doc) => ({
  id,
  name,
  volume_id,
  links: links(call, `${path}/${id}`),
});

export const transferResources: readonly ResourceSpec[] = ['os-volume-transfer', 'volume-transfers'].map(
  transferResource,
);
