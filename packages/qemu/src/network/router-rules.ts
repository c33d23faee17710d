import { createHash } from 'node:crypto';
import type { NetworkPlan, PlannedRouter } from '@apistrata/compute-engine/drivers';
import type { DeviceNames } from './device-names.js';
import { table } from './guest-rules.js';
import { HOST_LINK_ADDRESS, ROUTER_LINK_ADDRESS } from './ipv6-rules.js';
import { externalIpv6Addresses } from './routed-ipv6.js';

/** This computer's IPv4 address on its links to routers. It is the same on all of these links. */
export const HOST_ADDRESS = '169.254.0.1';

/** Returns the uplink address of a router that has no external address. The address is used only on this computer. */
function uplinkAddress(routerId: string): string {
  const [a = 0, b = 0, c = 0] = createHash('sha256').update(routerId).digest();
  return `100.${64 + (a % 64)}.${b}.${c}`;
}

/** Returns the IPv4 addresses for which this computer has routes to a router. */
export function routedAddresses(router: PlannedRouter): readonly string[] {
  if (!router.external) return [];
  const own = router.externalAddresses.filter((address) => !address.includes(':'));
  const floating = router.floating.map(({ address }) => address);
  return [...new Set([...(own.length > 0 ? own : [uplinkAddress(router.id)]), ...floating])];
}

/** Returns the `ip` commands for a router's IPv6 default route. Without external IPv6 routing, the route has the type `unreachable`. */
function ipv6DefaultRoute(router: PlannedRouter, uplink: string, routed: boolean): readonly string[] {
  if (routed) return [`route replace ::/0 via ${HOST_LINK_ADDRESS} dev ${uplink}`];
  const hasIpv6 = router.interfaces.some(({ addresses }) => addresses.some(({ version }) => version === 6));
  return hasIpv6 ? ['route replace unreachable ::/0'] : [];
}

/**
 * Returns the `ip` commands that configure a router's namespace, except for addresses.
 *
 * @param routed whether the router's IPv6 subnets are routed to external networks
 */
export function routerCommands(
  router: PlannedRouter,
  { networks }: NetworkPlan,
  names: DeviceNames,
  routed: boolean,
): readonly string[] {
  const state = router.adminStateUp ? 'up' : 'down';
  const uplink = names.uplink(router.id);
  return [
    'link set dev lo up',
    ...router.interfaces.map(({ id, networkId }) => {
      const mtu = networks.find((network) => network.id === networkId)?.mtu;
      return `link set dev ${names.router(id)}${mtu === undefined ? '' : ` mtu ${mtu}`} ${state}`;
    }),
    ...(router.external ? [`link set dev ${uplink} ${state}`] : []),
    ...(router.external && router.adminStateUp
      ? [`route replace default via ${HOST_ADDRESS} dev ${uplink} onlink`]
      : []),
    ...ipv6DefaultRoute(router, uplink, routed),
  ];
}

/**
 * Returns the addresses in a router's namespace, in the form `address/length`, by network device.
 *
 * @param routed whether the router's IPv6 subnets are routed to external networks
 */
export function routerAddresses(
  router: PlannedRouter,
  { networks }: NetworkPlan,
  names: DeviceNames,
  routed: boolean,
): ReadonlyMap<string, readonly string[]> {
  const subnets = new Map(networks.flatMap(({ subnets: all }) => all.map((subnet) => [subnet.id, subnet] as const)));
  const innerAddresses = router.interfaces.map(({ id, addresses }) => {
    const addressesWithLength = addresses.flatMap(({ address, subnetId }) => {
      const length = subnets.get(subnetId)?.cidr.split('/')[1];
      return length === undefined ? [] : [`${address}/${length}`];
    });
    return [names.router(id), addressesWithLength] as const;
  });
  const outerAddresses = [
    ...routedAddresses(router).map((address) => `${address}/32`),
    ...(routed
      ? [`${ROUTER_LINK_ADDRESS}/64`, ...externalIpv6Addresses(router).map((address) => `${address}/128`)]
      : []),
  ];
  return new Map([...innerAddresses, ...(router.external ? [[names.uplink(router.id), outerAddresses] as const] : [])]);
}

/** Returns the nftables rules for address translation in a router's namespace. */
export function createRouterRules(router: PlannedRouter, names: DeviceNames): string {
  const uplink = names.uplink(router.id);
  const [own] = routedAddresses(router);
  // A fixed address can have several floating addresses; the first one becomes the source address of its packets.
  const formatMap = (pairs: readonly (readonly [string, string])[]) =>
    [...new Map([...pairs].reverse())].map((pair) => pair.join(' : ')).join(', ');
  const inboundMap = formatMap(router.floating.map(({ address, fixedAddress }) => [address, fixedAddress]));
  const outboundMap = formatMap(router.floating.map(({ address, fixedAddress }) => [fixedAddress, address]));
  const lines = router.external
    ? [
        'chain arriving {',
        'type nat hook prerouting priority -100; policy accept;',
        inboundMap && `dnat to ip daddr map { ${inboundMap} }`,
        '}',
        'chain leaving {',
        'type nat hook postrouting priority 100; policy accept;',
        outboundMap && `oifname "${uplink}" snat to ip saddr map { ${outboundMap} }`,
        router.enableSnat ? `oifname "${uplink}" snat to ${own}` : '',
        // If a guest connects to another guest's floating address, the reply must take the same path back.
        `iifname != "${uplink}" oifname != "${uplink}" ct status dnat masquerade`,
        '}',
      ]
    : [];
  return table(
    'ip',
    'apistrata',
    lines
      .filter(Boolean)
      .map((line) => `  ${line}\n`)
      .join(''),
  );
}
