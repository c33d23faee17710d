import { isPhysical, type NetworkRecord, type ProviderSegment } from '@apistrata/compute-engine/catalogs';
import { ServiceError } from '../service/service-error.js';

const MAX_VLAN = 4094;
const UNSET: ProviderSegment = { networkType: 'geneve', physicalNetwork: null, segmentationId: null };

const invalid = (message: string) => new ServiceError(400, `Invalid input for operation: ${message}.`, 'InvalidInput');

/** Validates a segment of a physical network, with the messages of the original. */
function check({ networkType, physicalNetwork, segmentationId }: ProviderSegment): void {
  const kind = networkType === 'vlan' ? 'VLAN' : networkType;
  if (!physicalNetwork) throw invalid(`physical_network required for ${kind} provider network`);
  if (networkType === 'flat' && segmentationId !== null)
    throw invalid('segmentation_id prohibited for flat provider network');
  if (networkType === 'vlan' && (segmentationId === null || segmentationId > MAX_VLAN))
    throw invalid(`segmentation_id out of range (1 through ${MAX_VLAN})`);
}

/**
 * Separates the provider attributes of a body from the rest.
 *
 * @param before the network that the body changes
 * @param simulated false: real hosts connect guests to the segment, which they do not do for external networks
 * @throws ServiceError 400 for segments that cannot exist
 */
export function providerOf(
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
  const given = Object.entries({ networkType, physicalNetwork, segmentationId }).filter(
    ([, value]) => value !== undefined,
  );
  const provider: ProviderSegment = { ...UNSET, ...before?.provider, ...Object.fromEntries(given) };
  const external = rest['router:external'] ?? before?.external ?? false;
  if (isPhysical({ provider })) {
    if (given.length > 0) check(provider);
    if (external && !simulated)
      throw invalid(
        'external networks cannot be connected to a physical network: routers reach external networks through the host',
      );
  }
  return given.length > 0 ? { provider, rest } : { rest };
}
