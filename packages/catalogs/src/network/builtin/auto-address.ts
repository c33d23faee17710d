import { cidrOf, formatIp } from '../ip-address.js';
import type { SubnetRecord } from './network-tables.js';

/** Modes in which guests derive their addresses from the network's prefix and their MAC address. */
export const AUTOCONFIGURED: ReadonlySet<string | null> = new Set<string | null>(['slaac', 'dhcpv6-stateless']);

/** Returns whether guests derive their addresses in a subnet. */
export function isAutoconfigured({ ipv6AddressMode, ipv6RaMode }: SubnetRecord): boolean {
  return AUTOCONFIGURED.has(ipv6AddressMode) || AUTOCONFIGURED.has(ipv6RaMode);
}

/**
 * Returns the address that a guest with this MAC address derives in a subnet (EUI-64); undefined if guests do not
 * derive addresses. Such a subnet has a 64-bit prefix.
 */
export function autoAddress(subnet: SubnetRecord, mac: string | undefined): string | undefined {
  if (mac === undefined || subnet.ipVersion !== 6 || !isAutoconfigured(subnet)) return undefined;
  const cidr = cidrOf(subnet.cidr);
  if (cidr.prefix !== 64) return undefined;
  const bytes = BigInt(`0x${mac.replaceAll(':', '')}`);
  // Inverts the universal/local bit and inserts two bytes.
  const [vendor, device] = [(bytes >> 24n) ^ 0x020000n, bytes & 0xffffffn];
  return formatIp({ version: 6, value: cidr.first + ((vendor << 40n) | (0xfffen << 24n) | device) });
}
