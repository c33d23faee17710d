import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import type { Wire } from '../service/wire.js';
import { flag, integerBetween, text } from '../service/wire-types.js';
import { networkError } from './network-errors.js';
import { invalidInputError } from './provider-attributes.js';
import { MAX_SEGMENT_IDS, rangeTable, type SegmentRange, segmentsIn } from './segment-allocation.js';
import { nameFields, resourceNames, standardFields } from './standard-fields.js';

const noFilter = { filter: false } as const;
const onlyFilter = { filter: 'only' } as const;
const segmentId = integerBetween(1, 2 ** 32 - 1);

/** The maximum number of unused segment IDs in responses. */
const MAX_LISTED_IDS = 4096;

/** Returns the network segments whose segment ID is in the range. */
async function usedSegments(call: Call, { network_type, physical_network, minimum, maximum }: SegmentRange) {
  const segments = await segmentsIn(call, network_type, physical_network);
  return segments.filter(({ segmentation_id }) => {
    const id = Number(segmentation_id);
    return id >= minimum && id <= maximum;
  });
}

/** Returns the IDs of a range that networks use, with their projects, and the lowest unused IDs. */
async function usage(call: Call, range: SegmentRange): Promise<Wire> {
  const segments = await usedSegments(call, range);
  const networks = await call.cloud.catalogs.networks.listNetworks(call.elevatedCaller);
  const projects = new Map(networks.map(({ id, projectId }) => [id, projectId]));
  const used = Object.fromEntries(
    segments.map(({ segmentation_id, network_id }) => [segmentation_id, projects.get(String(network_id))]),
  );
  const available = [];
  for (let id = range.minimum; id <= range.maximum && available.length < MAX_LISTED_IDS; id++)
    if (!Object.hasOwn(used, id)) available.push(id);
  return { used, available };
}

/** Rejects a range that is impossible for its network type, or that overlaps with another one. */
function checkRange(call: Call, range: SegmentRange): void {
  const { id: ownId, network_type, physical_network, minimum, maximum } = range;
  const limit = MAX_SEGMENT_IDS[network_type] ?? 0;
  const invalidId = [minimum, maximum].find((one) => one > limit);
  if (invalidId !== undefined) throw invalidInputError(`${invalidId} is not a valid ${network_type} identifier`);
  if (maximum < minimum) throw invalidInputError(`End of ${network_type} range is less than start of the range`);
  const overlappingRanges = [...rangeTable(call).values()].filter(
    (other) =>
      other.id !== ownId &&
      other.network_type === network_type &&
      other.physical_network === physical_network &&
      minimum <= other.maximum &&
      maximum >= other.minimum,
  );
  if (overlappingRanges.length > 0)
    throw networkError(
      'NetworkSegmentRangeOverlaps',
      `Network segment range overlaps with range(s) with id ${overlappingRanges.map(({ id }) => id).join(', ')}`,
    );
}

const rangeInUseError = ({ id }: Doc) =>
  networkError(
    'NetworkSegmentRangeReferencedByProject',
    `Network Segment Range ${id} is referenced by one or more project networks.`,
  );

/** Ranges of segment IDs, from which the networks of a project, or of all projects, get their segment IDs. */
export const segmentRanges: ResourceSpec = {
  ...resourceNames('network_segment_range'),
  tags: true,
  admin: ['create', 'change', 'remove'],
  // As in Neutron, only administrators see segment ranges.
  isVisible: () => false,
  fields: () => ({
    ...standardFields,
    ...nameFields,
    default: derived(false, noFilter),
    shared: fixed(flag, true, noFilter),
    network_type: required(fixed(z.enum(['vlan', 'vxlan', 'gre', 'geneve']), undefined, onlyFilter)),
    physical_network: fixed(text.max(64), null, onlyFilter),
    minimum: required(settable(segmentId, undefined, noFilter)),
    maximum: required(settable(segmentId, undefined, noFilter)),
    used: derived(undefined, noFilter),
    available: derived(undefined, noFilter),
  }),
  creating(call, range) {
    const { network_type, physical_network, shared } = range;
    if (network_type === 'vlan' && !physical_network)
      throw networkError(
        'BadRequest',
        "Bad network_segment_range request: Network type vlan requires 'physical_network' to be specified while creating new range.",
      );
    const complete = { ...range, physical_network: network_type === 'vlan' ? physical_network : '' };
    checkRange(call, complete as unknown as SegmentRange);
    const noOwner = shared === true && { project_id: null, tenant_id: null };
    return { physical_network: complete.physical_network, ...noOwner };
  },
  async changing(call, before, { minimum = before.minimum, maximum = before.maximum }) {
    const range = before as SegmentRange;
    const usedIds = (await usedSegments(call, range)).map(({ segmentation_id }) => Number(segmentation_id));
    // As in Neutron, the new limits must be outside of the IDs in use.
    const isImpacted = Number(minimum) >= Math.min(...usedIds) || Number(maximum) <= Math.max(...usedIds);
    if (usedIds.length > 0 && isImpacted) throw rangeInUseError(before);
    checkRange(call, { ...range, minimum: Number(minimum), maximum: Number(maximum) });
    return undefined;
  },
  async removing(call, range) {
    if ((await usedSegments(call, range as SegmentRange)).length > 0) throw rangeInUseError(range);
  },
  shows: (call, range) => usage(call, range as SegmentRange),
};
