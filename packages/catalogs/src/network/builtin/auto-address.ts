import { cidrOf, formatIp } from '../ip-address.js';
import type { SubnetRecord } from './network-tables.js';

/** The modes in which guests make their addresses themselves, of their network's prefix and their MAC address. */
const SELF_MADE = new Set<string | null>(['slaac', 'dhcpv6-stateless']);

/**
 * The address that a guest with this MAC address makes itself in a subnet (EUI-64); undefined where guests are told theirs. Such
 * a subnet has a prefix of 64 bits.
 */
export function autoAddress(
  { cidr: text, ipVersion, ipv6AddressMode, ipv6RaMode }: SubnetRecord,
  mac: string | undefined,
): string | undefined {
  if (mac === undefined || ipVersion !== 6 || !(SELF_MADE.has(ipv6AddressMode) || SELF_MADE.has(ipv6RaMode)))
    return undefined;
  const cidr = cidrOf(text);
  if (cidr.prefix !== 64) return undefined;
  const bytes = BigInt(`0x${mac.replaceAll(':', '')}`);
  // The bit that says who gave the address is turned over, and two bytes go in between.
  const [vendor, device] = [(bytes >> 24n) ^ 0x020000n, bytes & 0xffffffn];
  return formatIp({ version: 6, value: cidr.first + ((vendor << 40n) | (0xfffen << 24n) | device) });
}
