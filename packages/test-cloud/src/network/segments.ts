import { randomUUID } from 'node:crypto';
import { isPhysical, type NetworkRecord, type ProviderSegment } from '@apistrata/compute-engine/catalogs';
import { stableUuid } from '../identity/new-id.js';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import type { Storage } from '../service/storage.js';
import { formatSeconds } from '../service/times.js';
import type { Wire } from '../service/wire.js';
import { integerBetween, text } from '../service/wire-types.js';
import { networkError } from './network-errors.js';
import { networkView } from './network-views.js';
import { checkSegment, PROVIDER_FIELDS } from './provider-attributes.js';
import { hiddenOwner, resourceNames, stampFields } from './standard-fields.js';
import { uuid } from './value-types.js';

type ProviderFields = Readonly<Record<(typeof PROVIDER_FIELDS)[number], unknown>>;

/** The segments that administrators have added, and the changes to segments that were created with a network. */
const segmentTable = ({ cloud }: Call) => cloud.documents.table<Doc>('network/segments');

/** Returns the segments of a network that was created with several segments; undefined for other networks. */
export const storedSegmentsOf = ({ cloud }: Call, id: string) =>
  cloud.documents.table<{ readonly segments?: readonly ProviderFields[] }>('network/networks').get(id)?.segments;

/** Removes a network's segment records. */
export function removeSegments(call: Call, networkId: string): void {
  for (const [id, { network_id }] of segmentTable(call)) if (network_id === networkId) segmentTable(call).delete(id);
}

/** Returns the initial segments of a network. */
function initialSegments(call: Call, network: NetworkRecord): readonly Doc[] {
  const networkFields = networkView(network);
  const segments: readonly ProviderFields[] = storedSegmentsOf(call, network.id) ?? [networkFields];
  return segments.map((provider, index) => {
    const id = stableUuid('segment', `${network.id}/${index}`);
    const [network_type, physical_network, segmentation_id] = PROVIDER_FIELDS.map((name) => provider[name]);
    return {
      id,
      name: null,
      description: null,
      created_at: networkFields.created_at,
      updated_at: networkFields.created_at,
      revision_number: 0,
      ...segmentTable(call).get(id),
      network_id: network.id,
      network_type,
      physical_network,
      segmentation_id,
    };
  });
}

/** Returns the segments that were created with networks, and the segments that administrators have added. */
async function allSegments(call: Call): Promise<{ readonly initial: readonly Doc[]; readonly added: readonly Doc[] }> {
  // As in Neutron, only administrators see segments.
  if (!call.isAdmin) return { initial: [], added: [] };
  const networks = await call.cloud.catalogs.networks.listNetworks(call.caller);
  const initial = networks.flatMap((network) => initialSegments(call, network));
  const initialSegmentIds = new Set(initial.map(({ id }) => id));
  return { initial, added: [...segmentTable(call).values()].filter(({ id }) => !initialSegmentIds.has(id)) };
}

/** Throws a 409 error if a network other than `networkId` has the segment. */
export async function rejectUsedSegment(call: Call, requested: ProviderSegment, networkId?: string): Promise<void> {
  const { networkType, physicalNetwork, segmentationId } = requested;
  if (!networkType || (networkType !== 'flat' && segmentationId === null)) return;
  const networks = await call.cloud.catalogs.networks.listNetworks(call.elevatedCaller);
  const otherNetworks = networks.filter(
    ({ id, provider }) => id !== networkId && (provider || storedSegmentsOf(call, id)),
  );
  const isSame = ({ network_type, physical_network, segmentation_id }: Doc) =>
    network_type === networkType &&
    (!isPhysical({ provider: requested }) || physical_network === physicalNetwork) &&
    (networkType === 'flat' || segmentation_id === segmentationId);
  const segments = [...otherNetworks.flatMap((one) => initialSegments(call, one)), ...segmentTable(call).values()];
  if (!segments.some((segment) => segment.network_id !== networkId && isSame(segment))) return;
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

const storage: Storage = {
  async list(call) {
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
    await call.cloud.catalogs.networks.getNetwork(call.caller, String(network_id));
    const provider = {
      networkType: network_type,
      physicalNetwork: physical_network,
      segmentationId: segmentation_id,
    } as ProviderSegment;
    if (isPhysical({ provider })) checkSegment(provider);
    await rejectUsedSegment(call, provider);
    return undefined;
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
