import type { NetworkRecord, SubnetRecord } from '@apistrata/compute-engine/catalogs';
import { networkError } from './network-errors.js';
import { invalidInputError } from './provider-attributes.js';

/** The minimum MTU of a network, by the IP version of its subnets. */
const MIN_MTU = { 4: 68, 6: 1280 } as const;
/** The MTU without jumbo frames, which is Neutron's default. */
const PHYSICAL_MTU = 1500;
/** The MTU of a network in a tunnel: {@link PHYSICAL_MTU} minus the tunnel headers, by network type. */
const TUNNEL_MTUS: Readonly<Record<string, number>> = { gre: 1458, vxlan: 1450 };

/** Returns the MTU of a new network; undefined for the catalog's default. Rejects an MTU that is too large. */
export function mtuOf(mtu: unknown, networkTypes: readonly string[]): number | undefined {
  const tunnelMtus = networkTypes.flatMap((type) => TUNNEL_MTUS[type] ?? []);
  const maximum = Math.min(PHYSICAL_MTU, ...tunnelMtus);
  if (Number(mtu ?? 0) > maximum) throw invalidInputError(`Requested MTU is too big, maximum is ${maximum}`);
  return mtu ? Number(mtu) : tunnelMtus.length > 0 ? maximum : undefined;
}

/** Rejects an MTU that is smaller than the subnets of the network require. */
export function rejectSmallMtu(
  { id, mtu }: Pick<NetworkRecord, 'id' | 'mtu'>,
  subnets: readonly Pick<SubnetRecord, 'ipVersion'>[],
): void {
  // The minimum MTU of IPv4 also applies to networks that have only IPv6 subnets.
  const required = [MIN_MTU[4], ...subnets.map(({ ipVersion }) => MIN_MTU[ipVersion])];
  const minimum = subnets.length > 0 && required.find((one) => mtu > 0 && mtu < one);
  if (minimum)
    throw networkError(
      'NetworkMTUSubnetConflict',
      `MTU of ${id} is not valid, subnet requires a minimum of ${minimum}`,
    );
}
