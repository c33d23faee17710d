import { cidrOf, formatCidr, parseCidr } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan, PlannedRouter } from '@apistrata/compute-engine/drivers';
import type { DeviceNames } from './device-names.js';

/** Routes with shorter prefixes, such as `2000::/3`, count as default routes. */
const MIN_PREFIX_LENGTH = 4;
/** An IPv6 route in the output of `ip`. */
export interface Ipv6Route {
  readonly dst: string;
  /** The type of the route; missing for unicast routes. */
  readonly type?: string;
  /** The network device of the route; missing if the route has several next hops. */
  readonly dev?: string;
  /** The routing table; missing for routes in the main table. */
  readonly table?: string;
}

/** A router whose subnets are routed to external networks. */
export interface RoutedIpv6 {
  readonly routerId: string;
  /** The router's IPv6 addresses on its external network. */
  readonly addresses: readonly string[];
  /** The IPv6 prefixes of the router's subnets. */
  readonly prefixes: readonly string[];
}

/** A subnet that cannot be routed, because its prefix overlaps with one that is in use. */
interface PrefixConflict {
  readonly routerId: string;
  readonly prefix: string;
  /** The prefix that is in use and overlaps with the subnet. */
  readonly otherPrefix: string;
  /** The router that uses the prefix `otherPrefix`; undefined if this computer itself has a route to that prefix. */
  readonly otherRouterId?: string;
}

/** Returns a router's IPv6 addresses on its external network. */
export function externalIpv6Addresses({ external, externalAddresses }: PlannedRouter): readonly string[] {
  return external ? externalAddresses.filter((address) => address.includes(':')) : [];
}

/** Returns true if a router has an IPv6 address on its external network, and an IPv6 subnet that it can route. */
export function canRouteIpv6(router: PlannedRouter): boolean {
  return (
    router.adminStateUp &&
    externalIpv6Addresses(router).length > 0 &&
    router.interfaces.some(({ addresses }) => addresses.some(({ version }) => version === 6))
  );
}

/** Returns the prefixes of a router's IPv6 subnets. */
function prefixesOf({ interfaces }: PlannedRouter, { networks }: Pick<NetworkPlan, 'networks'>): readonly string[] {
  const subnets = new Map(networks.flatMap(({ subnets: all }) => all.map((subnet) => [subnet.id, subnet] as const)));
  const routerSubnets = interfaces.flatMap(({ addresses }) =>
    addresses.flatMap(({ subnetId }) => subnets.get(subnetId) ?? []),
  );
  return [
    ...new Set(routerSubnets.filter(({ ipVersion }) => ipVersion === 6).map(({ cidr }) => formatCidr(cidrOf(cidr)))),
  ];
}

function hasOverlap(one: string, other: string): boolean {
  const [a, b] = [cidrOf(one), cidrOf(other)];
  return a.first <= b.last && b.first <= a.last;
}

/** Returns the prefixes of this computer's own IPv6 routes, excluding default routes. */
function computerPrefixes(routes: readonly Ipv6Route[], names: DeviceNames): readonly string[] {
  return routes.flatMap(({ dst, type, dev = '', table: name }) => {
    const cidr = parseCidr(dst.includes('/') ? dst : `${dst}/128`);
    // Routes with a type, such as `unreachable` for a delegated prefix, lead nowhere.
    const isComputerRoute =
      name === undefined && type === undefined && !names.isManaged(dev) && !dst.startsWith('fe80:');
    return cidr && cidr.prefix >= MIN_PREFIX_LENGTH && isComputerRoute ? [formatCidr(cidr)] : [];
  });
}

/**
 * Selects the IPv6 subnets to route to external networks: those of routers that have an IPv6 address there. If prefixes
 * overlap, this computer's own routes take precedence, then the oldest router's, because users choose prefixes.
 *
 * @param routes this computer's IPv6 routes
 */
export function selectRoutedSubnets(
  { routers, networks }: Pick<NetworkPlan, 'routers' | 'networks'>,
  routes: readonly Ipv6Route[],
  names: DeviceNames,
): { readonly routed: readonly RoutedIpv6[]; readonly conflicts: readonly PrefixConflict[] } {
  const usedPrefixes: { readonly prefix: string; readonly routerId?: string }[] = computerPrefixes(routes, names).map(
    (prefix) => ({
      prefix,
    }),
  );
  const conflicts: PrefixConflict[] = [];
  const routed = routers.flatMap((router): readonly RoutedIpv6[] => {
    if (!canRouteIpv6(router)) return [];
    const addresses = externalIpv6Addresses(router);
    const prefixes = prefixesOf(router, { networks }).filter((prefix) => {
      const other = usedPrefixes.find((one) => hasOverlap(one.prefix, prefix));
      if (!other) usedPrefixes.push({ prefix, routerId: router.id });
      else conflicts.push({ routerId: router.id, prefix, otherPrefix: other.prefix, otherRouterId: other.routerId });
      return !other;
    });
    return prefixes.length > 0 ? [{ routerId: router.id, addresses, prefixes }] : [];
  });
  return { routed, conflicts };
}

/** Returns the log message for a subnet that is not routed. */
export function formatConflict({ routerId, prefix, otherPrefix, otherRouterId }: PrefixConflict): string {
  const owner = otherRouterId === undefined ? 'this computer has a route to' : `router ${otherRouterId} has`;
  return `router ${routerId} does not route ${prefix} to external networks: ${owner} ${otherPrefix}`;
}
