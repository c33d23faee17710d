import { isAutoconfigured } from './auto-address.js';
import type { SubnetRecord } from './network-tables.js';

/** Groups subnets by IP version, and returns separately the subnets in which `isDerived` returns true. */
export function groupSubnets(subnets: readonly SubnetRecord[], isDerived: (subnet: SubnetRecord) => boolean) {
  const derived = subnets.filter(isDerived);
  const withVersion = (version: 4 | 6) =>
    subnets.filter((subnet) => subnet.ipVersion === version && !derived.includes(subnet));
  return { v4: withVersion(4), v6: withVersion(6), derived };
}

/**
 * Returns subnets in the order in which a new port locks them by default. A request that locks all subnets of a network
 * uses the same order, so that it does not deadlock with requests that create ports.
 */
export function inAllocationOrder(subnets: readonly SubnetRecord[]): readonly SubnetRecord[] {
  const { v4, v6, derived } = groupSubnets(subnets, isAutoconfigured);
  return [...v4, ...v6, ...derived];
}
