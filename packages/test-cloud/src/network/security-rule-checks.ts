import { parseCidr } from '@apistrata/compute-engine/catalogs';
import type { Wire } from '../service/wire.js';
import { networkError } from './network-errors.js';

/** The names and numbers of protocols that have ports. */
const PROTOCOLS_WITH_PORTS = new Set(['tcp', '6', 'udp', '17', 'dccp', '33', 'sctp', '132', 'udplite', '136']);
const ICMP_PROTOCOLS = new Set(['icmp', '1', 'icmpv6', 'ipv6-icmp', '58']);
const IPV6_ONLY_PROTOCOLS = ['icmpv6', 'ipv6-encap', 'ipv6-frag', 'ipv6-icmp', 'ipv6-nonxt', 'ipv6-opts', 'ipv6-route'];
const IPV6_ONLY_NUMBERS = ['41', '44', '58', '59', '60', '43'];
/** The range of all ports. A rule for all ports is stored without ports. */
const ALL_PORTS = { min: 1, max: 65_535 };
/** The stored name or number of ICMP in IPv6 rules, by the name or number in the request. */
const ICMP_IN_IPV6_RULES: Readonly<Record<string, string>> = { icmp: 'ipv6-icmp', icmpv6: 'ipv6-icmp', 1: '58' };
const REMOTE_KEYS = ['remote_ip_prefix', 'remote_group_id', 'remote_address_group_id'] as const;
/** The protocol names that rules may contain. Rules may also contain protocol numbers from 0 to 255. */
const PROTOCOL_NAMES = [
  ...['ah', 'any', 'dccp', 'egp', 'esp', 'gre', 'hopopt', 'icmp', 'igmp', 'ip', 'ipip', ...IPV6_ONLY_PROTOCOLS],
  ...['ospf', 'pgm', 'rsvp', 'sctp', 'tcp', 'udp', 'udplite', 'vrrp'],
];

/** Returns a rule's port as a number, or undefined. Throws `SecurityGroupInvalidPortValue` for an invalid port. */
function parsePort(requested: unknown): number | undefined {
  if (requested === undefined) return undefined;
  const port = /^\d+$/.test(String(requested)) ? Number(requested) : Number.NaN;
  if (port <= ALL_PORTS.max) return port;
  throw networkError('SecurityGroupInvalidPortValue', `Invalid value for port ${requested}`);
}

/** Throws `SecurityGroupRuleInvalidProtocol` for an unknown protocol name or number. */
export function checkProtocol(protocol: string): void {
  if (!PROTOCOL_NAMES.includes(protocol) && !(/^\d+$/.test(protocol) && Number(protocol) <= 255))
    throw networkError(
      'SecurityGroupRuleInvalidProtocol',
      `Security group rule protocol ${protocol} not supported. Only protocol values [${PROTOCOL_NAMES.map((name) => `'${name}'`).join(', ')}] and integer representations [0 to 255] are supported.`,
    );
}

function checkEthertype(protocol: string, ethertype: unknown): void {
  if ([...IPV6_ONLY_PROTOCOLS, ...IPV6_ONLY_NUMBERS].includes(protocol) && ethertype === 'IPv4')
    throw networkError(
      'SecurityGroupEthertypeConflictWithProtocol',
      `Invalid ethertype ${ethertype} for protocol ${protocol}.`,
    );
}

function checkIcmp(type: number | undefined, code: number | undefined): void {
  const icmpParts = [
    { field: 'type', attr: 'port_range_min', value: type },
    { field: 'code', attr: 'port_range_max', value: code },
  ];
  for (const { field, attr, value } of icmpParts)
    if (value !== undefined && value > 255)
      throw networkError(
        'SecurityGroupInvalidIcmpValue',
        `Invalid value for ICMP ${field} (${attr}) ${value}. It must be 0 to 255.`,
      );
  if (type === undefined)
    throw networkError(
      'SecurityGroupMissingIcmpType',
      `ICMP code (port-range-max) ${code} is provided but ICMP type (port-range-min) is missing.`,
    );
}

function checkPortFields(protocol: string | undefined, min: number | undefined, max: number | undefined): void {
  if (min === undefined && max === undefined) return;
  if (protocol === undefined)
    throw networkError('SecurityGroupProtocolRequiredWithPorts', 'Must also specify protocol if port range is given.');
  if (ICMP_PROTOCOLS.has(protocol)) checkIcmp(min, max);
  else checkPortRange(protocol, min, max);
}

function checkPortRange(protocol: string, min: number | undefined, max: number | undefined): void {
  if (!PROTOCOLS_WITH_PORTS.has(protocol))
    throw networkError(
      'SecurityGroupInvalidProtocolForPort',
      `Ports cannot be specified for protocol ${protocol}. Ports are only supported for DCCP, SCTP, TCP, UDP, UDPLITE.`,
    );
  if (min === 0 || max === 0) throw networkError('SecurityGroupInvalidPortValue', 'Invalid value for port 0');
  if (min === undefined || max === undefined || min > max)
    throw networkError(
      'SecurityGroupInvalidPortRange',
      'For TCP/UDP protocols, port_range_min must be <= port_range_max',
    );
}

function checkPrefix({ remote_ip_prefix, ethertype }: Wire): void {
  if (typeof remote_ip_prefix !== 'string') return;
  const version = parseCidr(remote_ip_prefix)?.version;
  if (ethertype !== undefined && ethertype !== `IPv${version}`)
    throw networkError(
      'SecurityGroupRuleParameterConflict',
      `Conflicting value ethertype ${ethertype} for CIDR ${remote_ip_prefix}`,
    );
}

function checkRemotes(rule: Wire): void {
  if (REMOTE_KEYS.filter((key) => rule[key] !== undefined && rule[key] !== null).length > 1)
    throw networkError(
      'SecurityGroupMultipleRemoteEntites',
      'Only one of remote_ip_prefix or remote_group_id or remote_address_group_id may be provided.',
    );
}

/**
 * Returns a new rule's protocol and ports in the format in which they are stored. Throws a 400 error if the rule's
 * fields contradict each other.
 */
export function normalizeRule(rule: Wire): Wire {
  const requested = rule.protocol === undefined ? undefined : String(rule.protocol).toLowerCase();
  const protocol = (rule.ethertype === 'IPv6' && requested !== undefined && ICMP_IN_IPV6_RULES[requested]) || requested;
  let [min, max] = [parsePort(rule.port_range_min), parsePort(rule.port_range_max)];
  if (min === ALL_PORTS.min && max === ALL_PORTS.max) [min, max] = [undefined, undefined];
  if (protocol !== undefined) checkProtocol(protocol);
  checkPortFields(protocol, min, max);
  checkPrefix(rule);
  if (protocol !== undefined) checkEthertype(protocol, rule.ethertype ?? 'IPv4');
  checkRemotes(rule);
  return { ...(requested !== undefined && { protocol }), port_range_min: min, port_range_max: max };
}
