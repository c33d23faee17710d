import type { DeviceNames } from './device-names.js';
import { table } from './guest-rules.js';
import type { Ipv6Route, RoutedIpv6 } from './routed-ipv6.js';

/** This computer's link-local address on its links to routers. It is the same on all of these links. */
export const HOST_LINK_ADDRESS = 'fe80::1';
/** A router's link-local address on its link to this computer. It is the same for all routers. */
export const ROUTER_LINK_ADDRESS = 'fe80::2';

/** The mark of packets that other computers send to guest subnets. */
const ROUTED_MARK = '0x20000000';
/** The lowest numbers of routing tables and rule priorities. Each host on the computer uses its own pair. */
const [FIRST_TABLE, FIRST_PRIORITY] = [0x6171_0000, 30_000];

/**
 * Returns the number of a host's routing table for guest subnets, and the priority of the rule that selects this table.
 */
function routingNumbers({ hostNumber: number }: DeviceNames): { readonly table: number; readonly priority: number } {
  return { table: FIRST_TABLE + number, priority: FIRST_PRIORITY + number };
}

/**
 * Returns the `ip` commands that set this computer's routes to routers and their subnets. The subnet routes are in a
 * separate routing table for marked packets, so that prefixes that users choose never affect other traffic.
 *
 * @param existing this computer's static routes in all routing tables
 * @param priorities the priorities of the existing routing rules
 */
export function routeCommands(
  routed: readonly RoutedIpv6[],
  existing: readonly Ipv6Route[],
  priorities: readonly number[],
  names: DeviceNames,
): readonly string[] {
  const { table: number, priority } = routingNumbers(names);
  const desired = routed.flatMap(({ routerId, addresses, prefixes }) => {
    const device = names.uplink(routerId);
    return [
      ...addresses.map((address) => ({ dst: address, at: `dev ${device}`, options: '' })),
      ...prefixes.map((prefix) => ({
        dst: prefix.replace(/\/128$/, ''),
        at: `dev ${device} table ${number}`,
        options: ` via ${ROUTER_LINK_ADDRESS}`,
      })),
    ];
  });
  const desiredKeys = new Set(desired.map(({ dst, at }) => `${dst} ${at}`));
  const removals = existing.flatMap(({ dst, dev = '', table: name }) => {
    if (!names.isManaged(dev)) return [];
    const route = `${dst} dev ${dev}${name === undefined ? '' : ` table ${name}`}`;
    return desiredKeys.has(route)
      ? []
      : [`route delete ${dst.replace(/^default$/, '::/0')} dev ${dev}${name === undefined ? '' : ` table ${name}`}`];
  });
  const hasRule = priorities.includes(priority);
  const rule = `priority ${priority} fwmark ${ROUTED_MARK}/${ROUTED_MARK} table ${number}`;
  return [
    ...removals,
    ...routed.map(({ routerId }) => `address replace ${HOST_LINK_ADDRESS}/64 dev ${names.uplink(routerId)} nodad`),
    ...desired.map(({ dst, at, options }) => `route replace ${dst}${options} ${at} proto static`),
    ...(routed.length > 0 && !hasRule ? [`rule add ${rule}`] : []),
    ...(routed.length === 0 && hasRule ? [`rule delete ${rule}`] : []),
  ];
}

const formatSet = (items: readonly string[]) => `{ ${items.join(', ')} }`;

/**
 * Returns the nftables rules for routed subnets. They admit a packet to a subnet only if the computer would otherwise
 * drop the packet or return it to the interface on which it arrived. In both cases, an upstream router has sent it here
 * deliberately. Routers can send only from their own subnets.
 */
export function routedRules(routed: readonly RoutedIpv6[], names: DeviceNames): string {
  const name = `${names.tableName}_routed`;
  if (routed.length === 0) return `table ip6 ${name}\ndelete table ip6 ${name}\n`;
  const markStatement = `meta mark set meta mark or ${ROUTED_MARK}`;
  const subnets = formatSet(routed.flatMap(({ prefixes }) => prefixes));
  const chain = (title: string, lines: readonly string[]) =>
    `  chain ${title} {\n${lines.map((line) => `    ${line}\n`).join('')}  }\n`;
  return table(
    'ip6',
    name,
    [
      chain('returned', [`fib daddr . iif oif exists ${markStatement}`, `fib daddr oif missing ${markStatement}`]),
      chain('arriving', [
        'type filter hook prerouting priority -150; policy accept;',
        `iifname != ${names.patternFor('u')} iifname != ${names.patternFor('b')} ip6 daddr ${subnets} jump returned`,
      ]),
      chain('passing', [
        'type filter hook forward priority 0; policy accept;',
        ...routed.flatMap(({ routerId, addresses, prefixes }) =>
          [addresses, prefixes].map(
            (sources) => `iifname "${names.uplink(routerId)}" ip6 saddr ${formatSet(sources)} accept`,
          ),
        ),
        `iifname ${names.patternFor('u')} drop`,
      ]),
    ].join(''),
  );
}
