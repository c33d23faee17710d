import { formatCidr, parseCidr, parseIp } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan, PlannedPort } from '@apistrata/compute-engine/drivers';
import { selectServedNetworks } from './desired-links.js';
import { type DeviceNames, deriveMac } from './device-names.js';
import { hasDhcp } from './dhcp-files.js';
import { outerDevices, type PhysicalNetworks } from './physical-networks.js';
import { createRuleMatch } from './rule-match.js';
import { SERVICE_ADDRESS } from './service-address.js';
import type { Tunnels } from './tunnels.js';

/** The packet mark of replies on connections that security groups have allowed. */
const REPLY_MARK = '0x40000000';

const MAC_PATTERN = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/;

interface AllowedSources {
  readonly macs: readonly string[];
  readonly v4: readonly string[];
  readonly v6: readonly string[];
}

/** Returns the link-local address that a guest derives from its MAC address. */
function linkLocalAddress(mac: string): string {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = mac.split(':').map((byte) => Number.parseInt(byte, 16));
  const group = (high: number, low: number) => ((high << 8) | low).toString(16);
  return `fe80::${group(a ^ 2, b)}:${group(c, 0xff)}:${group(0xfe, d)}:${group(e, f)}`;
}

/** Returns the canonical form of an IP address or a CIDR; undefined if the text is neither. */
function normalizeAddress(text: string): string | undefined {
  if (parseIp(text)) return text.toLowerCase();
  const cidr = parseCidr(text);
  return cidr && formatCidr(cidr);
}

/** Returns the source addresses that a port's guest may use. */
function sourcesOf(port: PlannedPort): AllowedSources {
  const pairs = port.allowedAddressPairs.flatMap(({ ip_address: address = '', mac_address: mac = port.mac }) => {
    const normalizedAddress = normalizeAddress(address);
    return normalizedAddress !== undefined && MAC_PATTERN.test(mac.toLowerCase())
      ? [{ address: normalizedAddress, mac: mac.toLowerCase() }]
      : [];
  });
  const macs = [...new Set([port.mac, ...pairs.map(({ mac }) => mac)])];
  const all = [...new Set([...port.addresses.map(({ address }) => address), ...pairs.map(({ address }) => address)])];
  return {
    macs,
    v4: all.filter((address) => !address.includes(':')),
    v6: [...all.filter((address) => address.includes(':')), ...macs.map(linkLocalAddress)],
  };
}

const formatSet = (items: readonly string[]) => `{ ${items.join(', ')} }`;

/** Returns an IP address as a 128-bit number, to match header fields that have no name in nftables. */
function toHex128(address: string): string | undefined {
  const ip = parseIp(address);
  return ip && `0x${ip.value.toString(16).padStart(32, '0')}`;
}

/** Returns rules that drop frames with foreign source addresses, and frames that only routers or servers may send. */
function antiSpoofingRules(port: PlannedPort): readonly string[] {
  const { macs, v4, v6 } = sourcesOf(port);
  const targets = v6.map(toHex128);
  return [
    `ether saddr != ${formatSet(macs)} drop`,
    `ether type arp arp saddr ether != ${formatSet(macs)} drop`,
    `ether type arp arp saddr ip != ${formatSet([...v4, '0.0.0.0'])} drop`,
    // RARP (0x8035) announces the new location of a guest after a live migration.
    'ether type { arp, 0x8035 } return',
    'ether type ip udp sport 67 drop',
    'ether type ip ip saddr 0.0.0.0 udp sport 68 udp dport 67 return',
    v4.length > 0 ? `ether type ip ip saddr ${formatSet(v4)} return` : undefined,
    'ether type ip6 meta l4proto 58 icmpv6 type { nd-router-advert, nd-redirect } drop',
    'ether type ip6 udp sport 547 drop',
    // nftables has no name for the target of a neighbor advertisement, and cannot match its bits against a prefix.
    targets.every((bits) => bits !== undefined)
      ? `ether type ip6 icmpv6 type nd-neighbor-advert @nh,384,128 != ${formatSet(targets)} drop`
      : undefined,
    'ether type ip6 ip6 saddr :: return',
    `ether type ip6 ip6 saddr ${formatSet(v6)} return`,
    'drop',
  ].filter((line) => line !== undefined);
}

/** Rules for the traffic that every guest needs to obtain addresses. */
const BASE_RULES = {
  egress: [
    'ether type { arp, 0x8035 } return',
    'ether type ip udp sport 68 udp dport 67 return',
    'ether type ip6 udp sport 546 udp dport 547 return',
    'ether type ip6 icmpv6 type { 130, 131, 132, 133, 135, 136, 143 } return',
  ],
  ingress: [
    'ether type arp return',
    'ether type ip udp sport 67 udp dport 68 return',
    'ether type ip6 udp sport 547 udp dport 546 return',
    'ether type ip6 icmpv6 type { 130, 131, 132, 134, 135, 136 } return',
  ],
} as const;

function createFilterRules(
  port: PlannedPort,
  direction: 'egress' | 'ingress',
  rules: NetworkPlan['rules'],
  members: (groupId: string) => readonly string[],
): readonly string[] {
  const matches = rules
    .filter((rule) => rule.direction === direction && port.securityGroupIds.includes(rule.securityGroupId))
    .map((rule) => createRuleMatch(rule, members))
    .filter((match) => match !== undefined);
  const allowed = [...new Set(matches)].map((match) => `${match} return`);
  return [`meta mark and ${REPLY_MARK} == ${REPLY_MARK} return`, ...BASE_RULES[direction], ...allowed, 'drop'];
}

function chain(name: string, lines: readonly string[]): string {
  return `  chain ${name} {\n${lines.map((line) => `    ${line}\n`).join('')}  }\n`;
}

/** Returns an nftables map from network devices to rule chains. A map without entries matches nothing. */
function verdictMap(name: string, entries: readonly (readonly [string, string])[]): string {
  const elements = entries.map(([device, to]) => `"${device}" : jump ${to}`).join(', ');
  return `  map ${name} { type ifname : verdict; ${elements && `elements = { ${elements} };`} }\n`;
}

/** Returns nftables statements that replace a table atomically. */
export function table(family: string, name: string, body: string): string {
  return `table ${family} ${name}\ndelete table ${family} ${name}\ntable ${family} ${name} {\n${body}}\n`;
}

/** Returns rules for tunnel traffic between the hosts of a cloud. */
function tunnelRules(
  { networks, routers }: NetworkPlan,
  names: DeviceNames,
  { local, peers, wireguard }: Tunnels,
): {
  readonly arriving: readonly string[];
  readonly passing: readonly string[];
  readonly wire: readonly string[];
  readonly forwarded: readonly string[];
  readonly sent: readonly string[];
} {
  const [tunnels, services] = [names.patternFor('x'), names.patternFor('s')];
  const endpoints = [...peers.values()].map(({ address }) => address);
  const senderRules = (
    [
      ['ip', false],
      ['ip6', true],
    ] as const
  ).map(([family, isIpv6]) => {
    const sameFamilyEndpoints = endpoints.filter((address) => address.includes(':') === isIpv6);
    const otherSenders =
      sameFamilyEndpoints.length > 0
        ? `${family} saddr != ${formatSet([...new Set(sameFamilyEndpoints)])}`
        : `meta nfproto ${isIpv6 ? 'ipv6' : 'ipv4'}`;
    return `udp dport ${local.port} ${otherSenders} drop`;
  });
  const device = wireguard && `"${wireguard.device}"`;
  return {
    // Through the encrypting interface, other hosts reach only tunnels. They cannot reach tunnels in any other way.
    wire: device
      ? [
          `udp dport ${local.port} iifname != ${device} drop`,
          ...senderRules,
          `iifname ${device} udp dport != ${local.port} drop`,
          `iifname ${device} meta l4proto != 17 drop`,
        ]
      : senderRules,
    forwarded: device ? [`iifname ${device} drop`, `oifname ${device} drop`] : [],
    // If the encrypting interface were down, the kernel would select an unencrypted route.
    sent: device ? [`ip6 saddr ${local.address} oifname != ${device} drop`] : [],
    // A local router exists only on this host, even if another host still sends frames with its address.
    arriving: networks.flatMap(({ id }) => {
      const macs = routers
        .filter(({ host }) => host === null)
        .flatMap(({ interfaces }) => interfaces.filter(({ networkId }) => networkId === id).map(({ mac }) => mac));
      return macs.length > 0 ? [`iifname "${names.tunnel(id)}" ether saddr ${formatSet(macs)} drop`] : [];
    }),
    // Each host provides services to its own guests, at the same address on all hosts.
    passing: [`iifname ${tunnels} oifname ${services} drop`, `iifname ${services} oifname ${tunnels} drop`],
  };
}

/** Returns rules that separate a network's DHCP and metadata services from its physical network. */
function physicalRules(
  network: NetworkPlan['networks'][number],
  names: DeviceNames,
  physical: PhysicalNetworks,
): readonly string[] {
  const service = names.service(network.id);
  const dhcpMatches = hasDhcp(network)
    ? ['ether type ip udp sport { 67, 68 } udp dport { 67, 68 } drop', 'ether type ip6 udp sport { 546, 547 } drop']
    : [];
  return outerDevices(network, names, physical).flatMap((device) => [
    `iifname "${device}" oifname "${service}" drop`,
    `iifname "${service}" oifname "${device}" drop`,
    ...dhcpMatches.flatMap((match) => [`iifname "${device}" ${match}`, `oifname "${device}" ${match}`]),
  ]);
}

const NO_TUNNELS = { arriving: [], passing: [], wire: [], forwarded: [], sent: [] } as const;

/**
 * Returns the nftables rules for all bridges. A guest's frames are checked on entry (for spoofing) and on forwarding
 * (against the security groups of sender and receiver). Bridged frames also go through the IP filter, where connection
 * tracking marks replies, which are accepted. Packets in the original direction are always matched, so that deleting a
 * rule ends the connections that it allowed.
 *
 * @param plan a network plan that contains only the routers on this host
 * @param physical the physical networks of this computer
 * @param zones a connection tracking zone for each bridge, because networks can have overlapping addresses
 */
export function guestRules(
  plan: NetworkPlan,
  zones: ReadonlyMap<string, number>,
  names: DeviceNames,
  physical: PhysicalNetworks,
  tunnels?: Tunnels,
): string {
  const members = (groupId: string) => plan.members[groupId] ?? [];
  const tunnelChains = tunnels ? tunnelRules(plan, names, tunnels) : NO_TUNNELS;
  const securedPorts = plan.ports.filter(({ portSecurityEnabled }) => portSecurityEnabled);
  const entries = (chainKind: string) =>
    securedPorts.map(({ id }) => [names.tap(id), `${chainKind}-${names.tap(id)}`] as const);
  const services = selectServedNetworks(plan).map(({ id }) => {
    const tapDevices = plan.ports.filter(({ networkId }) => networkId === id).map((port) => `"${names.tap(port.id)}"`);
    return `iifname ${formatSet(tapDevices)} ip daddr ${SERVICE_ADDRESS} ether daddr set ${deriveMac(names.service(id))}`;
  });
  const bridged = [
    verdictMap('honest', entries('honest')),
    verdictMap('egress', entries('egress')),
    verdictMap('ingress', entries('ingress')),
    ...securedPorts.flatMap((port) => [
      chain(`honest-${names.tap(port.id)}`, antiSpoofingRules(port)),
      chain(`egress-${names.tap(port.id)}`, createFilterRules(port, 'egress', plan.rules, members)),
      chain(`ingress-${names.tap(port.id)}`, createFilterRules(port, 'ingress', plan.rules, members)),
    ]),
    chain('arriving', [
      'type filter hook prerouting priority -300; policy accept;',
      'iifname vmap @honest',
      ...tunnelChains.arriving,
      ...services,
    ]),
    chain('passing', [
      'type filter hook forward priority -200; policy accept;',
      ...tunnelChains.passing,
      ...plan.networks.flatMap((network) => physicalRules(network, names, physical)),
      // DHCPv6 requests go only to a network's own DHCP server, because routers assign no addresses.
      `oifname ${names.patternFor('r')} ether type ip6 udp dport 547 drop`,
      'iifname vmap @egress',
      'oifname vmap @ingress',
    ]),
    // Guest traffic is never addressed to the host itself, although the bridges are devices of the host.
    chain('staying', [
      'type filter hook input priority -200; policy accept;',
      ...(['t', 'r', 's', 'x'] as const).map((kind) => `iifname ${names.patternFor(kind)} drop`),
      ...plan.networks
        .flatMap((network) => outerDevices(network, names, physical))
        .map((device) => `iifname "${device}" drop`),
    ]),
  ];
  const routed = [
    chain('zones', [
      'type filter hook prerouting priority -300; policy accept;',
      ...[...zones].map(([name, zone]) => `iifname "${name}" ct zone set ${zone}`),
    ]),
    chain('answers', [
      'type filter hook prerouting priority -150; policy accept;',
      `iifname ${names.patternFor('b')} ct direction reply meta mark set meta mark or ${REPLY_MARK}`,
      `iifname ${names.patternFor('b')} ct state related meta mark set meta mark or ${REPLY_MARK}`,
    ]),
    // Guests can reach this computer only with pings and replies.
    chain('staying', [
      'type filter hook input priority 0; policy accept;',
      ...tunnelChains.wire,
      `iifname ${names.patternFor('b')} drop`,
      `iifname ${names.patternFor('u')} ct state established,related accept`,
      `iifname ${names.patternFor('u')} meta l4proto 1 accept`,
      `iifname ${names.patternFor('u')} icmpv6 type { echo-request, nd-neighbor-solicit, nd-neighbor-advert } accept`,
      `iifname ${names.patternFor('u')} drop`,
    ]),
    chain('forwarded', ['type filter hook forward priority 0; policy accept;', ...tunnelChains.forwarded]),
    chain('sent', ['type filter hook output priority 0; policy accept;', ...tunnelChains.sent]),
    chain('leaving', [
      'type nat hook postrouting priority 100; policy accept;',
      `meta nfproto ipv4 iifname ${names.patternFor('u')} oifname != ${names.patternFor('u')} masquerade`,
    ]),
  ];
  return table('bridge', names.tableName, bridged.join('')) + table('inet', names.tableName, routed.join(''));
}

/** Returns a connection tracking zone for each bridge of a plan, derived from the bridge's interface index. */
export function assignZones(
  plan: NetworkPlan,
  names: DeviceNames,
  indexOf: (device: string) => number,
): ReadonlyMap<string, number> {
  return new Map(plan.networks.map(({ id }) => [names.bridge(id), (indexOf(names.bridge(id)) % 65_535) + 1]));
}
