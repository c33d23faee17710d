import { formatCidr, parseCidr } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan } from '@apistrata/compute-engine/drivers';

type Rule = NetworkPlan['rules'][number];

/** IP protocol numbers, by the names that security group rules can use. */
const PROTOCOL_NUMBERS: Readonly<Record<string, number>> = {
  icmp: 1,
  igmp: 2,
  ipip: 4,
  tcp: 6,
  egp: 8,
  udp: 17,
  dccp: 33,
  'ipv6-encap': 41,
  'ipv6-route': 43,
  'ipv6-frag': 44,
  rsvp: 46,
  gre: 47,
  esp: 50,
  ah: 51,
  icmpv6: 58,
  'ipv6-icmp': 58,
  'ipv6-nonxt': 59,
  'ipv6-opts': 60,
  ospf: 89,
  pgm: 113,
  vrrp: 112,
  sctp: 132,
  udplite: 136,
};

/** Protocols for which nftables can match ports, by number. */
const PORT_PROTOCOLS: Readonly<Record<number, string>> = {
  6: 'tcp',
  17: 'udp',
  33: 'dccp',
  132: 'sctp',
  136: 'udplite',
};
const [MAX_PORT, MAX_ICMP_TYPE] = [65_535, 255];
const ICMP_PROTOCOLS: Readonly<Record<number, string>> = { 1: 'icmp', 58: 'icmpv6' };

function protocolOf({ protocol, ethertype }: Rule): number | undefined {
  const protocolName = protocol ?? '';
  // In a security group rule for IPv6, `icmp` means ICMPv6.
  if (protocolName === 'icmp' && ethertype === 'IPv6') return 58;
  const protocolNumber = /^\d{1,3}$/.test(protocolName) ? Number(protocolName) : PROTOCOL_NUMBERS[protocolName];
  return protocolNumber !== undefined && protocolNumber <= 255 ? protocolNumber : undefined;
}

/** Returns true if all numbers fit into a header field. A larger number would make nftables reject the whole table. */
function fitsField(max: number, ...numbers: readonly (number | null)[]): boolean {
  return numbers.every((value) => value === null || (Number.isInteger(value) && value >= 0 && value <= max));
}

/** Returns the nftables match for a rule's protocol, and its ports or ICMP type and code; undefined if invalid. */
function transportMatch(rule: Rule): string | undefined {
  const { protocol, portMin, portMax, ethertype } = rule;
  if (protocol === null || protocol === 'any' || protocol === '0') return '';
  const protocolNumber = protocolOf(rule);
  if (protocolNumber === undefined) return undefined;
  const match = `meta l4proto ${protocolNumber}`;
  const icmp = ICMP_PROTOCOLS[protocolNumber];
  if (icmp !== undefined && (icmp === 'icmp') === (ethertype === 'IPv4')) {
    if (!fitsField(MAX_ICMP_TYPE, portMin, portMax)) return undefined;
    const type = portMin === null ? '' : ` ${icmp} type ${portMin}`;
    return `${match}${type}${portMin === null || portMax === null ? '' : ` ${icmp} code ${portMax}`}`;
  }
  const portProtocol = PORT_PROTOCOLS[protocolNumber];
  if (portProtocol === undefined || (portMin === null && portMax === null)) return match;
  const [first, last] = [portMin ?? portMax ?? 0, portMax ?? portMin ?? 0];
  return fitsField(MAX_PORT, first, last) && first <= last
    ? `${match} ${portProtocol} dport ${first}-${last}`
    : undefined;
}

/**
 * Returns the nftables match for a security group rule. It contains no user input except numbers and addresses, which
 * are parsed and formatted again.
 *
 * @param members returns the addresses of the ports in a security group
 * @returns undefined for a rule that cannot match any packet
 */
export function createRuleMatch(rule: Rule, members: (groupId: string) => readonly string[]): string | undefined {
  const { ethertype, direction, remoteCidr, remoteGroupId } = rule;
  const family = ethertype === 'IPv6' ? 'ip6' : 'ip';
  const addressField = direction === 'ingress' ? 'saddr' : 'daddr';
  const transport = transportMatch(rule);
  if (transport === undefined) return undefined;
  let remote = '';
  if (remoteCidr !== null) {
    const cidr = parseCidr(remoteCidr);
    if (!cidr || cidr.version !== (family === 'ip6' ? 6 : 4)) return undefined;
    if (cidr.prefix > 0) remote = `${family} ${addressField} ${formatCidr(cidr)}`;
  } else if (remoteGroupId !== null) {
    const addresses = members(remoteGroupId).filter((address) => address.includes(':') === (family === 'ip6'));
    if (addresses.length === 0) return undefined;
    remote = `${family} ${addressField} { ${addresses.join(', ')} }`;
  }
  return ['ether type', family, remote, transport].filter(Boolean).join(' ');
}
