import type { DeviceNames } from './device-names.js';
import { table } from './guest-rules.js';
import type { Ipv6Route, RoutedIpv6 } from './routed-ipv6.js';

/** The address by which routers reach this computer, the same for all of them, because each has its own link. */
export const HOST_LINK_ADDRESS = 'fe80::1';
/** The address by which this computer reaches a router, the same for all of them. */
export const ROUTER_LINK_ADDRESS = 'fe80::2';

/** The mark of packets that arrive from other computers for guest subnets. */
const ROUTED_MARK = '0x20000000';
/** The first routing table and the first rule priority; each host on the computer has its own pair. */
const [FIRST_TABLE, FIRST_PRIORITY] = [0x6171_0000, 30_000];

/** Returns the table of a host's routes to subnets, and the priority of the rule that selects it. */
function numbersOf({ number }: DeviceNames): { readonly table: number; readonly priority: number } {
  return { table: FIRST_TABLE + number, priority: FIRST_PRIORITY + number };
}

/**
 * Returns the `ip` commands for the routes of this computer to routers and their subnets. Subnets are in their own table,
 * which applies to marked packets only: prefixes that users choose never affect other traffic of this computer.
 *
 * @param existing the static routes of this computer in all tables
 * @param priorities the priorities of existing rules
 */
export function routeCommands(
  routed: readonly RoutedIpv6[],
  existing: readonly Ipv6Route[],
  priorities: readonly number[],
  names: DeviceNames,
): readonly string[] {
  const { table: number, priority } = numbersOf(names);
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
  const remaining = new Set(desired.map(({ dst, at }) => `${dst} ${at}`));
  const stale = existing.flatMap(({ dst, dev = '', table: name }) => {
    if (!names.isManaged(dev)) return [];
    const route = `${dst} dev ${dev}${name === undefined ? '' : ` table ${name}`}`;
    return remaining.has(route)
      ? []
      : [`route delete ${dst.replace(/^default$/, '::/0')} dev ${dev}${name === undefined ? '' : ` table ${name}`}`];
  });
  const hasRule = priorities.includes(priority);
  const rule = `priority ${priority} fwmark ${ROUTED_MARK}/${ROUTED_MARK} table ${number}`;
  return [
    ...stale,
    ...routed.map(({ routerId }) => `address replace ${HOST_LINK_ADDRESS}/64 dev ${names.uplink(routerId)} nodad`),
    ...desired.map(({ dst, at, options }) => `route replace ${dst}${options} ${at} proto static`),
    ...(routed.length > 0 && !hasRule ? [`rule add ${rule}`] : []),
    ...(routed.length === 0 && hasRule ? [`rule delete ${rule}`] : []),
  ];
}

const formatSet = (items: readonly string[]) => `{ ${items.join(', ')} }`;

/**
 * Returns the rules of this computer for routed subnets. A packet reaches a subnet only if the computer would otherwise
 * return it to the interface on which it arrived, or drop it: an upstream router has deliberately sent it to this
 * computer. Routers can only send from their own subnets.
 */
export function routedRules(routed: readonly RoutedIpv6[], names: DeviceNames): string {
  const name = `${names.table}_routed`;
  if (routed.length === 0) return `table ip6 ${name}\ndelete table ip6 ${name}\n`;
  const mark = `meta mark set meta mark or ${ROUTED_MARK}`;
  const subnets = formatSet(routed.flatMap(({ prefixes }) => prefixes));
  const chain = (title: string, lines: readonly string[]) =>
    `  chain ${title} {\n${lines.map((line) => `    ${line}\n`).join('')}  }\n`;
  return table(
    'ip6',
    name,
    [
      chain('returned', [`fib daddr . iif oif exists ${mark}`, `fib daddr oif missing ${mark}`]),
      chain('arriving', [
        'type filter hook prerouting priority -150; policy accept;',
        `iifname != ${names.all('u')} iifname != ${names.all('b')} ip6 daddr ${subnets} jump returned`,
      ]),
      chain('passing', [
        'type filter hook forward priority 0; policy accept;',
        ...routed.flatMap(({ routerId, addresses, prefixes }) =>
          [addresses, prefixes].map((own) => `iifname "${names.uplink(routerId)}" ip6 saddr ${formatSet(own)} accept`),
        ),
        `iifname ${names.all('u')} drop`,
      ]),
    ].join(''),
  );
}
