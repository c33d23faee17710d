import type { NetworkRecord } from '@apistrata/compute-engine/catalogs';
import { stableUuid } from '../identity/new-id.js';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { networkView } from './network-views.js';
import { PROVIDER_FIELDS } from './provider-attributes.js';

type ProviderFields = Readonly<Record<(typeof PROVIDER_FIELDS)[number], unknown>>;

/** The segments that administrators have added, and the changes to segments that were created with a network. */
export const segmentTable = ({ cloud }: Call) => cloud.documents.table<Doc>('network/segments');

/** Returns the segments of a network that was created with several segments; undefined for other networks. */
export const storedSegmentsOf = ({ cloud }: Call, id: string) =>
  cloud.documents.table<{ readonly segments?: readonly ProviderFields[] }>('network/networks').get(id)?.segments;

/** Removes a network's segment records. */
export function removeSegments(call: Call, networkId: string): void {
  for (const [id, { network_id }] of segmentTable(call)) if (network_id === networkId) segmentTable(call).delete(id);
}

/** Returns the initial segments of a network. */
export function initialSegments(call: Call, network: NetworkRecord): readonly Doc[] {
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

interface Segments {
  /** The segments that were created with networks. */
  readonly initial: readonly Doc[];
  /** The segments that administrators have added. */
  readonly added: readonly Doc[];
}

/**
 * Returns the segments of all networks, including those that the caller cannot see.
 *
 * @param includes returns whether the initial segments of a network are included; default: always
 */
export async function allSegments(
  call: Call,
  includes: (network: NetworkRecord) => unknown = () => true,
): Promise<Segments> {
  const networks = await call.cloud.catalogs.networks.listNetworks(call.elevatedCaller);
  const initial = networks.filter(includes).flatMap((network) => initialSegments(call, network));
  const initialSegmentIds = new Set(initial.map(({ id }) => id));
  return { initial, added: [...segmentTable(call).values()].filter(({ id }) => !initialSegmentIds.has(id)) };
}
