import { type NetworkRecord, type ProviderSegment, usesPhysicalNetwork } from '@apistrata/compute-engine/catalogs';
import { ServiceError } from '../service/service-error.js';

export const MAX_VLAN = 4094;
/** The type of networks that are not connected to a physical network. */
export const TUNNEL_TYPE = 'geneve';
/** The segment of a network that is not connected to a physical network, before the segment has an ID. */
export const UNSET_SEGMENT: ProviderSegment = { networkType: TUNNEL_TYPE, physicalNetwork: null, segmentationId: null };

export const invalidInputError = (message: string) =>
  new ServiceError(400, `Invalid input for operation: ${message}.`, 'InvalidInput');

/** Validates a segment of a physical network, with Neutron's error messages. A VLAN may have no ID yet. */
export function checkSegment({ networkType, physicalNetwork, segmentationId }: ProviderSegment): void {
  const networkLabel = networkType === 'vlan' ? 'VLAN' : networkType;
  if (!physicalNetwork) throw invalidInputError(`physical_network required for ${networkLabel} provider network`);
  if (networkType === 'flat' && segmentationId !== null)
    throw invalidInputError('segmentation_id prohibited for flat provider network');
  if (networkType === 'vlan' && segmentationId !== null && segmentationId > MAX_VLAN)
    throw invalidInputError(`segmentation_id out of range (1 through ${MAX_VLAN})`);
}

const SEGMENT_ATTRIBUTES = ['network_type', 'physical_network', 'segmentation_id'] as const;

/** The fields that describe a network's segment. They are hidden if the network has several segments. */
export const PROVIDER_FIELDS = SEGMENT_ATTRIBUTES.map((name) => `provider:${name}` as const);

type Segment = Readonly<Record<(typeof PROVIDER_FIELDS)[number], unknown>>;

/** Returns a segment in the catalog's format. Missing attributes become null, a missing type {@link TUNNEL_TYPE}. */
function toProvider(segment: Partial<Segment>): ProviderSegment {
  // Neutron treats 0 and the empty string, which the Terraform provider sends, as missing attributes.
  const [networkType, physicalNetwork, segmentationId] = PROVIDER_FIELDS.map((name) => segment[name] || null);
  return { networkType: networkType ?? TUNNEL_TYPE, physicalNetwork, segmentationId } as ProviderSegment;
}

/** Returns a segment in the format of network bodies. */
export const toProviderFields = ({ networkType, physicalNetwork, segmentationId }: ProviderSegment): Segment => ({
  'provider:network_type': networkType,
  'provider:physical_network': physicalNetwork,
  'provider:segmentation_id': segmentationId,
});

/**
 * Returns the segments that the body of a new network requests; an empty list if it requests none.
 *
 * @throws ServiceError 400 for duplicate segments, and for a body with both segments and provider attributes
 */
export function requestedSegments(body: Readonly<Record<string, unknown>>): readonly ProviderSegment[] {
  const hasProviderFields = PROVIDER_FIELDS.some((name) => body[name] !== undefined);
  if (body.segments === undefined) return hasProviderFields ? [toProvider(body as Partial<Segment>)] : [];
  if (hasProviderFields) throw invalidInputError('Segments and provider values cannot both be set');
  const segments = (body.segments as readonly Partial<Segment>[]).map(toProvider);
  const withIds = segments.filter(({ segmentationId }) => segmentationId !== null);
  if (new Set(withIds.map((segment) => JSON.stringify(segment))).size < withIds.length)
    throw invalidInputError('Duplicate segment entry in request');
  return segments;
}

/**
 * Separates the provider attributes of a network body from its other fields.
 *
 * @param before the network before the change; undefined for a new network
 * @param simulated whether machines are simulated; real hosts cannot connect guests to segments of external networks
 * @throws ServiceError 400 for invalid segments
 */
export function splitProvider(
  body: Readonly<Record<string, unknown>>,
  before: NetworkRecord | undefined,
  simulated: boolean,
): { readonly provider?: ProviderSegment; readonly rest: Readonly<Record<string, unknown>> } {
  const {
    'provider:network_type': networkType,
    'provider:physical_network': physicalNetwork,
    'provider:segmentation_id': segmentationId,
    ...rest
  } = body;
  const requested = Object.entries({ networkType, physicalNetwork, segmentationId }).filter(
    ([, value]) => value !== undefined,
  );
  const provider: ProviderSegment = { ...UNSET_SEGMENT, ...before?.provider, ...Object.fromEntries(requested) };
  const isExternal = rest['router:external'] ?? before?.external ?? false;
  if (usesPhysicalNetwork({ provider }) && isExternal && !simulated)
    throw invalidInputError(
      'external networks cannot be connected to a physical network: routers reach external networks through the host',
    );
  return requested.length > 0 ? { provider, rest } : { rest };
}
