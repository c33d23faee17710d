import { randomUUID } from 'node:crypto';
import type { ProviderSegment } from '@apistrata/compute-engine/catalogs';
import { fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import type { Storage } from '../service/storage.js';
import { formatSeconds } from '../service/times.js';
import type { Wire } from '../service/wire.js';
import { integerBetween, text } from '../service/wire-types.js';
import { networkError } from './network-errors.js';
import { allSegments, segmentTable } from './network-segments.js';
import { completeSegments } from './segment-allocation.js';
import { hiddenOwner, resourceNames, stampFields } from './standard-fields.js';
import { uuid } from './value-types.js';

const storage: Storage = {
  async list(call) {
    // As in Neutron, only administrators see segments.
    if (!call.isAdmin) return [];
    const { initial, added } = await allSegments(call);
    return [...initial, ...added];
  },
  get: async (call, id) => (await storage.list(call)).find((segment) => segment.id === id),
  create(call, { project_id: _, ...segment }) {
    const createdAt = formatSeconds(call.cloud.clock.now());
    const doc = { ...segment, id: randomUUID(), created_at: createdAt, updated_at: createdAt, revision_number: 0 };
    segmentTable(call).set(doc.id, doc);
    return doc;
  },
  update(call, before, change) {
    const updated_at = formatSeconds(call.cloud.clock.now());
    const doc = { ...before, ...change, updated_at, revision_number: Number(before.revision_number) + 1 };
    segmentTable(call).set(doc.id, doc);
    return doc;
  },
  remove: (call, { id }) => segmentTable(call).delete(id),
};

/** Network segments. Each network has at least one segment. Segments that are added later do not affect servers. */
export const segments: ResourceSpec = {
  ...resourceNames('segment'),
  admin: ['create'],
  fields: () => ({
    ...hiddenOwner,
    ...stampFields,
    description: settable(text, '', { filter: 'only' }),
    name: settable(text.nullable(), null),
    network_id: required(fixed(uuid)),
    network_type: required(fixed(text.max(32))),
    physical_network: fixed(text.max(64), null),
    segmentation_id: fixed(integerBetween(1, 2 ** 24), null, { filter: 'sort' }),
  }),
  async creating(call, { network_id, network_type, physical_network, segmentation_id }) {
    const { projectId } = await call.cloud.catalogs.networks.getNetwork(call.caller, String(network_id));
    const requested = {
      networkType: network_type,
      physicalNetwork: physical_network,
      segmentationId: segmentation_id,
    } as ProviderSegment;
    const [segment] = await completeSegments(call, projectId, [requested]);
    return { segmentation_id: segment?.segmentationId };
  },
  async removing(call, { id }) {
    const subnetFields = call.cloud.documents.table<Wire>('network/subnets');
    const subnetIds = [...subnetFields].flatMap(([subnetId, { segment_id }]) => (segment_id === id ? [subnetId] : []));
    if (subnetIds.length > 0)
      throw networkError(
        'SegmentInUse',
        `Segment '${id}' cannot be deleted: The segment is still associated with subnet(s) ${subnetIds.join(', ')}.`,
      );
    if ((await allSegments(call)).initial.some((segment) => segment.id === id))
      throw networkError('SegmentInUse', `Segment '${id}' cannot be deleted: it was created with its network.`);
  },
  storage,
};
