import { formatCidr, parseCidr, parseIp } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan, PlannedPort } from '@apistrata/compute-engine/drivers';
import { servedNetworks } from './desired-links.js';
import { type DeviceNames, macFor } from './device-names.js';
import { ruleMatch } from './rule-match.js';
import type { Tunnels } from './tunnels.js';

/** Where the services of each network are reached. */
export const SERVICE_ADDRESS = '169.254.169.254';

/** The mark of packets that answer what a guest was allowed to get, or to send. */
const ANSWER = '0x40000000';

const MAC = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/;

interface Sources {
  readonly macs: readonly string[];
  readonly v4: readonly string[];
  readonly v6: readonly string[];
}

/** The link-local address that a guest makes of its MAC address. */
function linkLocal(mac: string): string {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = mac.split(':').map((byte) => Number.parseInt(byte, 16));
  const group = (high: number, low: number) => ((high << 8) | low).toString(16);
  return `fe80::${group(a ^ 2, b)}:${group(c, 0xff)}:${group(0xfe, d)}:${group(e, f)}`;
}

/** An address or a network, read and written anew; undefined where it is neither. */
function written(text: string): string | undefined {
  if (parseIp(text)) return text.toLowerCase();
  const cidr = parseCidr(text);
  return cidr && formatCidr(cidr);
}

/** From what a port may send. */
function sourcesOf(port: PlannedPort): Sources {
  const pairs = port.allowedAddressPairs.flatMap(({ ip_address: address = '', mac_address: mac = port.mac }) => {
    const known = written(address);
    return known !== undefined && MAC.test(mac.toLowerCase()) ? [{ address: known, mac: mac.toLowerCase() }] : [];
  });
  const macs = [...new Set([port.mac, ...pairs.map(({ mac }) => mac)])];
  const all = [...new Set([...port.addresses.map(({ address }) => address), ...pairs.map(({ address }) => address)])];
  return {
    macs,
    v4: all.filter((address) => !address.includes(':')),
    v6: [...all.filter((address) => address.includes(':')), ...macs.map(linkLocal)],
  };
}

const set = (items: readonly string[]) => `{ ${items.join(', ')} }`;

/** The same address as 128 bits, for what nftables has no name of. */
function bitsOf(address: string): string | undefined {
  const ip = parseIp(address);
  return ip && `0x${ip.value.toString(16).padStart(32, '0')}`;
}

/** Frames of a guest that say they are somebody else's, and those that only routers and servers send. */
function honesty(port: PlannedPort): readonly string[] {
  const { macs, v4, v6 } = sourcesOf(port);
  const targets = v6.map(bitsOf);
  return [
    `ether saddr != ${set(macs)} drop`,
    `ether type arp arp saddr ether != ${set(macs)} drop`,
    `ether type arp arp saddr ip != ${set([...v4, '0.0.0.0'])} drop`,
    // The second one tells, after a move, where the guest is now.
    'ether type { arp, 0x8035 } return',
    'ether type ip udp sport 67 drop',
    'ether type ip ip saddr 0.0.0.0 udp sport 68 udp dport 67 return',
    v4.length > 0 ? `ether type ip ip saddr ${set(v4)} return` : undefined,
    'ether type ip6 meta l4proto 58 icmpv6 type { nd-router-advert, nd-redirect } drop',
    'ether type ip6 udp sport 547 drop',
    // nftables has no name for whom an announcement is of, and no way to compare that with a network.
    targets.every((bits) => bits !== undefined)
      ? `ether type ip6 icmpv6 type nd-neighbor-advert @nh,384,128 != ${set(targets)} drop`
      : undefined,
    'ether type ip6 ip6 saddr :: return',
    `ether type ip6 ip6 saddr ${set(v6)} return`,
    'drop',
  ].filter((line) => line !== undefined);
}

/** What every guest needs to have an address at all. */
const ALWAYS = {
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

function filter(
  port: PlannedPort,
  direction: 'egress' | 'ingress',
  rules: NetworkPlan['rules'],
  members: (groupId: string) => readonly string[],
): readonly string[] {
  const matches = rules
    .filter((rule) => rule.direction === direction && port.securityGroupIds.includes(rule.securityGroupId))
    .map((rule) => ruleMatch(rule, members))
    .filter((match) => match !== undefined);
  const allowed = [...new Set(matches)].map((match) => `${match} return`);
  return [`meta mark and ${ANSWER} == ${ANSWER} return`, ...ALWAYS[direction], ...allowed, 'drop'];
}

function chain(name: string, lines: readonly string[]): string {
  return `  chain ${name} {\n${lines.map((line) => `    ${line}\n`).join('')}  }\n`;
}

/** A map from interfaces to chains; one without elements matches nothing. */
function jumps(name: string, entries: readonly (readonly [string, string])[]): string {
  const elements = entries.map(([device, to]) => `"${device}" : jump ${to}`).join(', ');
  return `  map ${name} { type ifname : verdict; ${elements && `elements = { ${elements} };`} }\n`;
}

/** A table in the place of the one of that name, in one step. */
export function table(family: string, name: string, body: string): string {
  return `table ${family} ${name}\ndelete table ${family} ${name}\ntable ${family} ${name} {\n${body}}\n`;
}

/** What passes between the hosts of a cloud, and between their networks. */
function tunnelled(
  { networks, routers }: NetworkPlan,
  names: DeviceNames,
  { local, peers }: Tunnels,
): { readonly arriving: readonly string[]; readonly passing: readonly string[]; readonly wire: readonly string[] } {
  const [tunnels, services] = [names.all('x'), names.all('s')];
  const ends = [...peers.values()].map(({ address }) => address);
  const wire = (
    [
      ['ip', false],
      ['ip6', true],
    ] as const
  ).map(([family, six]) => {
    const known = ends.filter((address) => address.includes(':') === six);
    const others =
      known.length > 0 ? `${family} saddr != ${set([...new Set(known)])}` : `meta nfproto ${six ? 'ipv6' : 'ipv4'}`;
    return `udp dport ${local.port} ${others} drop`;
  });
  return {
    wire,
    // A router that is here is nowhere else, whatever a host says that does not know it yet.
    arriving: networks.flatMap(({ id }) => {
      const macs = routers
        .filter(({ host }) => host === null)
        .flatMap(({ interfaces }) => interfaces.filter(({ networkId }) => networkId === id).map(({ mac }) => mac));
      return macs.length > 0 ? [`iifname "${names.tunnel(id)}" ether saddr ${set(macs)} drop`] : [];
    }),
    // Each host has services of its own for its guests, at the same address.
    passing: [`iifname ${tunnels} oifname ${services} drop`, `iifname ${services} oifname ${tunnels} drop`],
  };
}

const NO_TUNNELS = { arriving: [], passing: [], wire: [] } as const;

/**
 * The rules of all bridges. What a guest sends is looked at once where it comes in (who it says it is) and once where it is
 * handed on (its groups, and those of whom it is for). Frames of bridges pass through the tables of IP as well, which know
 * what answers what; they leave a mark. Answers pass; what goes the way of the first packet is always matched against the
 * rules, so that a rule that is taken away ends what it had allowed.
 *
 * @param plan with the routers of this host only
 * @param zones a number for each bridge: networks may have the same addresses
 */
export function guestRules(
  plan: NetworkPlan,
  zones: ReadonlyMap<string, number>,
  names: DeviceNames,
  tunnels?: Tunnels,
): string {
  const members = (groupId: string) => plan.members[groupId] ?? [];
  const joined = tunnels ? tunnelled(plan, names, tunnels) : NO_TUNNELS;
  const secured = plan.ports.filter(({ portSecurityEnabled }) => portSecurityEnabled);
  const entries = (way: string) => secured.map(({ id }) => [names.tap(id), `${way}-${names.tap(id)}`] as const);
  const services = servedNetworks(plan).map(({ id }) => {
    const taps = plan.ports.filter(({ networkId }) => networkId === id).map((port) => `"${names.tap(port.id)}"`);
    return `iifname ${set(taps)} ip daddr ${SERVICE_ADDRESS} ether daddr set ${macFor(names.service(id))}`;
  });
  const bridged = [
    jumps('honest', entries('honest')),
    jumps('egress', entries('egress')),
    jumps('ingress', entries('ingress')),
    ...secured.flatMap((port) => [
      chain(`honest-${names.tap(port.id)}`, honesty(port)),
      chain(`egress-${names.tap(port.id)}`, filter(port, 'egress', plan.rules, members)),
      chain(`ingress-${names.tap(port.id)}`, filter(port, 'ingress', plan.rules, members)),
    ]),
    chain('arriving', [
      'type filter hook prerouting priority -300; policy accept;',
      'iifname vmap @honest',
      ...joined.arriving,
      ...services,
    ]),
    chain('passing', [
      'type filter hook forward priority -200; policy accept;',
      ...joined.passing,
      // Routers announce networks, and a network's own services give addresses.
      `oifname ${names.all('r')} ether type ip6 udp dport 547 drop`,
      'iifname vmap @egress',
      'oifname vmap @ingress',
    ]),
    // Bridges are this computer's; what guests send is never for it.
    chain('staying', [
      'type filter hook input priority -200; policy accept;',
      ...(['t', 'r', 's', 'x'] as const).map((kind) => `iifname ${names.all(kind)} drop`),
    ]),
  ];
  const routed = [
    chain('zones', [
      'type filter hook prerouting priority -300; policy accept;',
      ...[...zones].map(([name, zone]) => `iifname "${name}" ct zone set ${zone}`),
    ]),
    chain('answers', [
      'type filter hook prerouting priority -150; policy accept;',
      `iifname ${names.all('b')} ct direction reply meta mark set meta mark or ${ANSWER}`,
      `iifname ${names.all('b')} ct state related meta mark set meta mark or ${ANSWER}`,
    ]),
    // Guests reach this computer by no way but what answers it, and pings.
    chain('staying', [
      'type filter hook input priority 0; policy accept;',
      ...joined.wire,
      `iifname ${names.all('b')} drop`,
      `iifname ${names.all('u')} ct state established,related accept`,
      `iifname ${names.all('u')} meta l4proto 1 accept`,
      `iifname ${names.all('u')} drop`,
    ]),
    chain('leaving', [
      'type nat hook postrouting priority 100; policy accept;',
      `iifname ${names.all('u')} oifname != ${names.all('u')} masquerade`,
    ]),
  ];
  return table('bridge', names.table, bridged.join('')) + table('inet', names.table, routed.join(''));
}

/** Numbers for the bridges of a plan, by the numbers that the kernel has given them. */
export function zonesOf(
  plan: NetworkPlan,
  names: DeviceNames,
  indexOf: (device: string) => number,
): ReadonlyMap<string, number> {
  return new Map(plan.networks.map(({ id }) => [names.bridge(id), (indexOf(names.bridge(id)) % 65_535) + 1]));
}
