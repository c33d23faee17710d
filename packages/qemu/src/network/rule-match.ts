import { formatCidr, parseCidr } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan } from '@apistrata/compute-engine/drivers';

type Rule = NetworkPlan['rules'][number];

/** IP protocol numbers, by the names that security group rules can use. */
const PROTOCOLS: Readonly<Record<string, number>> = {
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
const WITH_PORTS: Readonly<Record<number, string>> = { 6: 'tcp', 17: 'udp', 33: 'dccp', 132: 'sctp', 136: 'udplite' };
const [MAX_PORT, MAX_TYPE] = [65_535, 255];
const ICMP: Readonly<Record<number, string>> = { 1: 'icmp', 58: 'icmpv6' };

function protocolOf({ protocol, ethertype }: Rule): number | undefined {
  const given = protocol ?? '';
  // In a security group rule for IPv6, `icmp` means ICMPv6.
  if (given === 'icmp' && ethertype === 'IPv6') return 58;
  const number = /^\d{1,3}$/.test(given) ? Number(given) : PROTOCOLS[given];
  return number !== undefined && number <= 255 ? number : undefined;
}

/** Returns true if all numbers fit into a header field. A larger number would make nftables reject the whole table. */
function fits(max: number, ...numbers: readonly (number | null)[]): boolean {
  return numbers.every((one) => one === null || (Number.isInteger(one) && one >= 0 && one <= max));
}

/** Returns the nftables match of a rule's protocol, and of its ports or ICMP type and code; undefined if invalid. */
function transportMatch(rule: Rule): string | undefined {
  const { protocol, portMin, portMax, ethertype } = rule;
  if (protocol === null || protocol === 'any' || protocol === '0') return '';
  const number = protocolOf(rule);
  if (number === undefined) return undefined;
  const match = `meta l4proto ${number}`;
  const icmp = ICMP[number];
  if (icmp !== undefined && (icmp === 'icmp') === (ethertype === 'IPv4')) {
    if (!fits(MAX_TYPE, portMin, portMax)) return undefined;
    const type = portMin === null ? '' : ` ${icmp} type ${portMin}`;
    return `${match}${type}${portMin === null || portMax === null ? '' : ` ${icmp} code ${portMax}`}`;
  }
  const ported = WITH_PORTS[number];
  if (ported === undefined || (portMin === null && portMax === null)) return match;
  const [first, last] = [portMin ?? portMax ?? 0, portMax ?? portMin ?? 0];
  return fits(MAX_PORT, first, last) && first <= last ? `${match} ${ported} dport ${first}-${last}` : undefined;
}

/**
 * Returns the nftables match of a security group rule. The only user input in it is numbers and addresses that were
 * parsed and formatted again.
 *
 * @param members returns the addresses of the ports in a security group
 * @returns undefined for a rule that cannot match any packet
 */
export function ruleMatch(rule: Rule, members: (groupId: string) => readonly string[]): string | undefined {
  const { ethertype, direction, remoteCidr, remoteGroupId } = rule;
  const family = ethertype === 'IPv6' ? 'ip6' : 'ip';
  const end = direction === 'ingress' ? 'saddr' : 'daddr';
  const ports = transportMatch(rule);
  if (ports === undefined) return undefined;
  let remote = '';
  if (remoteCidr !== null) {
    const cidr = parseCidr(remoteCidr);
    if (!cidr || cidr.version !== (family === 'ip6' ? 6 : 4)) return undefined;
    if (cidr.prefix > 0) remote = `${family} ${end} ${formatCidr(cidr)}`;
  } else if (remoteGroupId !== null) {
    const addresses = members(remoteGroupId).filter((address) => address.includes(':') === (family === 'ip6'));
    if (addresses.length === 0) return undefined;
    remote = `${family} ${end} { ${addresses.join(', ')} }`;
  }
  return ['ether type', family, remote, ports].filter(Boolean).join(' ');
}
