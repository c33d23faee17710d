import { type ProviderSegment, usesPhysicalNetwork } from '@apistrata/compute-engine/catalogs';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { networkError } from './network-errors.js';
import { allSegments, storedSegmentsOf } from './network-segments.js';
import { checkSegment, invalidInputError, MAX_VLAN } from './provider-attributes.js';

/** The highest segment ID of each network type that has segment IDs. */
export const MAX_SEGMENT_IDS: Readonly<Record<string, number>> = {
  vlan: MAX_VLAN,
  vxlan: 2 ** 24 - 1,
  gre: 2 ** 32 - 1,
  geneve: 2 ** 24 - 1,
};

const PHYSICAL_TYPES: ReadonlySet<string> = new Set(['flat', 'vlan']);

interface IdRange {
  readonly minimum: number;
  readonly maximum: number;
}

/** A range of segment IDs, for the networks of one project or of all projects. */
export interface SegmentRange extends Doc, IdRange {
  readonly network_type: string;
  readonly physical_network: string;
  readonly shared: boolean;
}

export const rangeTable = ({ cloud }: Call) => cloud.documents.table<SegmentRange>('network/network_segment_ranges');

/** Returns a function that matches segments of the type and, for physical networks, of the physical network. */
const isIn = (networkType: string, physicalNetwork: unknown) => (other: Doc) =>
  other.network_type === networkType &&
  (!PHYSICAL_TYPES.has(networkType) || other.physical_network === physicalNetwork);

/** Returns the segments of all networks with the same type and physical network. */
export async function segmentsIn(call: Call, networkType: string, physicalNetwork: unknown): Promise<readonly Doc[]> {
  const { initial, added } = await allSegments(call);
  return [...initial, ...added].filter(isIn(networkType, physicalNetwork));
}

/** Returns whether there are ranges of segment IDs for a network type. */
export const hasRanges = (call: Call, networkType: string) =>
  [...rangeTable(call).values()].some((range) => range.network_type === networkType);

/** Returns the lowest ID of a range that is neither used nor in a reserved range; undefined if there is none. */
function lowestFreeId(
  { minimum, maximum }: IdRange,
  usedIds: ReadonlySet<unknown>,
  reserved: readonly IdRange[],
): number | undefined {
  let id = minimum;
  while (id <= maximum) {
    const current = id;
    const reservedRange = reserved.find((range) => range.minimum <= current && current <= range.maximum);
    if (!reservedRange && !usedIds.has(id)) return id;
    id = (reservedRange?.maximum ?? id) + 1;
  }
  return undefined;
}

/**
 * Returns an unused segment ID: first from the ranges of the project, then from all other IDs that are not in a range
 * of another project. On real hosts, VLANs outside of ranges are not available.
 *
 * @throws ServiceError 400 if no ID is available
 */
async function freeSegmentId(
  call: Call,
  projectId: string,
  { networkType, physicalNetwork }: ProviderSegment,
  chosenSegments: readonly ProviderSegment[],
): Promise<number> {
  const ranges = [...rangeTable(call).values()].filter(isIn(networkType, physicalNetwork));
  const isOwn = ({ shared, project_id }: SegmentRange) => !shared && project_id === projectId;
  const rangesOfOtherProjects = ranges.filter((range) => !range.shared && !isOwn(range));
  const allIds = { minimum: 1, maximum: MAX_SEGMENT_IDS[networkType] ?? 0 };
  const candidates = [
    ...ranges.filter(isOwn),
    ...ranges.filter(({ shared }) => shared),
    ...(networkType !== 'vlan' || call.cloud.simulated ? [allIds] : []),
  ];
  const usedSegments = await segmentsIn(call, networkType, physicalNetwork);
  const usedIds = new Set<unknown>(usedSegments.map(({ segmentation_id }) => segmentation_id));
  for (const segment of chosenSegments) if (segment.networkType === networkType) usedIds.add(segment.segmentationId);
  for (const range of candidates) {
    const id = lowestFreeId(range, usedIds, rangesOfOtherProjects);
    if (id !== undefined) return id;
  }
  throw invalidInputError(`segmentation_id required for ${networkType} provider network: no range has an unused ID`);
}

/** Throws a 409 error if another network has the segment. */
async function rejectUsedSegment(call: Call, requested: ProviderSegment, networkId: string | undefined): Promise<void> {
  const { networkType, physicalNetwork, segmentationId } = requested;
  // The segment IDs of networks without provider attributes are not reserved.
  const { initial, added } = await allSegments(call, ({ id, provider }) => provider || storedSegmentsOf(call, id));
  const isUsed = [...initial, ...added]
    .filter(isIn(networkType, physicalNetwork))
    .some((other) => other.network_id !== networkId && other.segmentation_id === segmentationId);
  if (!isUsed) return;
  if (networkType === 'flat')
    throw networkError(
      'FlatNetworkInUse',
      `Unable to create the flat network. Physical network ${physicalNetwork} is in use.`,
    );
  const failure = 'Unable to create the network. The';
  throw networkType === 'vlan'
    ? networkError('VlanIdInUse', `${failure} VLAN ${segmentationId} on physical network ${physicalNetwork} is in use.`)
    : networkError('TunnelIdInUse', `${failure} tunnel ID ${segmentationId} is in use.`);
}

/**
 * Validates the segments of a network, and adds the segment IDs that the request does not contain.
 *
 * @param networkId the network, if it exists already
 * @throws ServiceError 400 for invalid segments, 409 for segments of other networks
 */
export async function completeSegments(
  call: Call,
  projectId: string,
  requested: readonly ProviderSegment[],
  networkId?: string,
): Promise<readonly ProviderSegment[]> {
  const complete: ProviderSegment[] = [];
  for (const segment of requested) {
    const { networkType, segmentationId } = segment;
    if (usesPhysicalNetwork({ provider: segment })) checkSegment(segment);
    const needsId = segmentationId === null && Object.hasOwn(MAX_SEGMENT_IDS, networkType);
    if (networkType === 'flat' || segmentationId !== null) await rejectUsedSegment(call, segment, networkId);
    complete.push(
      needsId ? { ...segment, segmentationId: await freeSegmentId(call, projectId, segment, complete) } : segment,
    );
  }
  return complete;
}
