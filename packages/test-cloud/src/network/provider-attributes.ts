import { isPhysical, type NetworkRecord, type ProviderSegment } from '@apistrata/compute-engine/catalogs';
import { ServiceError } from '../service/service-error.js';

const MAX_VLAN = 4094;
const UNSET_SEGMENT: ProviderSegment = { networkType: 'geneve', physicalNetwork: null, segmentationId: null };

export const invalidInputError = (message: string) =>
  new ServiceError(400, `Invalid input for operation: ${message}.`, 'InvalidInput');

/** Validates a segment of a physical network, with Neutron's error messages. */
export function checkSegment({ networkType, physicalNetwork, segmentationId }: ProviderSegment): void {
  const networkLabel = networkType === 'vlan' ? 'VLAN' : networkType;
  if (!physicalNetwork) throw invalidInputError(`physical_network required for ${networkLabel} provider network`);
  if (networkType === 'flat' && segmentationId !== null)
    throw invalidInputError('segmentation_id prohibited for flat provider network');
  if (networkType === 'vlan' && (segmentationId === null || segmentationId > MAX_VLAN))
    throw invalidInputError(`segmentation_id out of range (1 through ${MAX_VLAN})`);
}

const SEGMENT_ATTRIBUTES = ['network_type', 'physical_network', 'segmentation_id'] as const;

/** The fields that describe a network's segment. They are hidden if the network has several segments. */
export const PROVIDER_FIELDS = SEGMENT_ATTRIBUTES.map((name) => `provider:${name}` as const);

type Segment = Readonly<Record<(typeof PROVIDER_FIELDS)[number], unknown>>;

/** Returns a segment in the catalog's format. */
export function toProvider(segment: Segment): ProviderSegment {
  const [networkType, physicalNetwork, segmentationId] = PROVIDER_FIELDS.map((name) => segment[name]);
  return { networkType, physicalNetwork, segmentationId } as ProviderSegment;
}

/**
 * Validates the segments of a new network.
 *
 * @returns the provider attributes of the first segment, and all segments if there are several
 * @throws ServiceError 400 for duplicate or invalid segments, and for a body with both segments and provider attributes
 */
export function validateSegments(
  body: Readonly<Record<string, unknown>>,
): Segment & { readonly segments: readonly Segment[] | undefined } {
  if (PROVIDER_FIELDS.some((name) => body[name] !== undefined))
    throw invalidInputError('Segments and provider values cannot both be set');
  // Neutron treats 0 and the empty string, which the Terraform provider sends, as missing attributes.
  const segments = (body.segments as readonly Partial<Segment>[]).map((requested) => {
    const segment = Object.fromEntries(PROVIDER_FIELDS.map((name) => [name, requested[name] || null])) as Segment;
    const provider = toProvider(segment);
    if (isPhysical({ provider })) checkSegment(provider);
    return segment;
  });
  const completeSegments = segments.filter((segment) => segment['provider:segmentation_id'] !== null);
  if (new Set(completeSegments.map((segment) => JSON.stringify(segment))).size < completeSegments.length)
    throw invalidInputError('Duplicate segment entry in request');
  return { ...(segments[0] as Segment), segments: segments.length > 1 ? segments : undefined };
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
  if (isPhysical({ provider })) {
    if (requested.length > 0) checkSegment(provider);
    if (isExternal && !simulated)
      throw invalidInputError(
        'external networks cannot be connected to a physical network: routers reach external networks through the host',
      );
  }
  return requested.length > 0 ? { provider, rest } : { rest };
}
