import { cidrOf, formatIp } from '../ip-address.js';
import type { SubnetRecord } from './network-tables.js';

/** The IPv6 modes in which a guest derives its address from the subnet's prefix and the guest's MAC address. */
export const AUTOCONFIGURED_MODES: ReadonlySet<string | null> = new Set<string | null>(['slaac', 'dhcpv6-stateless']);

/** Returns whether guests derive their own IPv6 addresses in a subnet. */
export function isAutoconfigured({ ipv6AddressMode, ipv6RaMode }: SubnetRecord): boolean {
  return AUTOCONFIGURED_MODES.has(ipv6AddressMode) || AUTOCONFIGURED_MODES.has(ipv6RaMode);
}

/**
 * Returns the address that a guest with this MAC address derives in a subnet (EUI-64). Returns undefined if guests do
 * not derive addresses in this subnet, or if its prefix does not have 64 bits.
 */
export function deriveAddress(subnet: SubnetRecord, mac: string | undefined): string | undefined {
  if (mac === undefined || subnet.ipVersion !== 6 || !isAutoconfigured(subnet)) return undefined;
  const cidr = cidrOf(subnet.cidr);
  if (cidr.prefix !== 64) return undefined;
  const macValue = BigInt(`0x${mac.replaceAll(':', '')}`);
  // EUI-64 inverts the universal/local bit and inserts the bytes ff:fe in the middle of the MAC address.
  const [vendor, device] = [(macValue >> 24n) ^ 0x020000n, macValue & 0xffffffn];
  return formatIp({ version: 6, value: cidr.first + ((vendor << 40n) | (0xfffen << 24n) | device) });
}
