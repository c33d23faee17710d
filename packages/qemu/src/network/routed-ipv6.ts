import { cidrOf, formatCidr, parseCidr } from '@apistrata/compute-engine/catalogs';
import type { NetworkPlan, PlannedRouter } from '@apistrata/compute-engine/drivers';
import type { DeviceNames } from './device-names.js';

/** Routes with shorter prefixes count as default routes, for example `2000::/3`. */
const MIN_PREFIX = 4;
/** A route in the output of `ip`. */
export interface Ipv6Route {
  readonly dst: string;
  /** Missing for unicast routes. */
  readonly type?: string;
  /** Missing if the route has several next hops. */
  readonly dev?: string;
  /** Missing for routes in the main table. */
  readonly table?: string;
}

/** A router whose subnets are routed to external networks. */
export interface RoutedIpv6 {
  readonly routerId: string;
  /** Its external addresses. */
  readonly addresses: readonly string[];
  /** The prefixes of its subnets. */
  readonly prefixes: readonly string[];
}

/** A subnet that cannot be routed, because its prefix is in use. */
interface Conflict {
  readonly routerId: string;
  readonly prefix: string;
  /** The prefix that overlaps. */
  readonly other: string;
  /** The router of the other prefix; undefined: this computer. */
  readonly otherRouterId?: string;
}

/** Returns the IPv6 addresses of a router on its external network. */
export function externalIpv6({ external, externalAddresses }: PlannedRouter): readonly string[] {
  return external ? externalAddresses.filter((address) => address.includes(':')) : [];
}

/** Returns whether a router has an IPv6 address on its external network, and interfaces whose subnets it can route. */
export function canRouteIpv6(router: PlannedRouter): boolean {
  return (
    router.adminStateUp &&
    externalIpv6(router).length > 0 &&
    router.interfaces.some(({ addresses }) => addresses.some(({ version }) => version === 6))
  );
}

/** Returns the prefixes of a router's IPv6 subnets. */
function prefixesOf({ interfaces }: PlannedRouter, { networks }: Pick<NetworkPlan, 'networks'>): readonly string[] {
  const subnets = new Map(networks.flatMap(({ subnets: all }) => all.map((subnet) => [subnet.id, subnet] as const)));
  const found = interfaces.flatMap(({ addresses }) => addresses.flatMap(({ subnetId }) => subnets.get(subnetId) ?? []));
  return [...new Set(found.filter(({ ipVersion }) => ipVersion === 6).map(({ cidr }) => formatCidr(cidrOf(cidr))))];
}

function overlap(one: string, other: string): boolean {
  const [a, b] = [cidrOf(one), cidrOf(other)];
  return a.first <= b.last && b.first <= a.last;
}

/** Returns the prefixes that this computer itself routes, other than by default routes. */
function ownPrefixes(routes: readonly Ipv6Route[], names: DeviceNames): readonly string[] {
  return routes.flatMap(({ dst, type, dev = '', table: name }) => {
    const cidr = parseCidr(dst.includes('/') ? dst : `${dst}/128`);
    // Routes of other types, such as `unreachable` for a delegated prefix, lead nowhere.
    const isOwn = name === undefined && type === undefined && !names.isManaged(dev) && !dst.startsWith('fe80:');
    return cidr && cidr.prefix >= MIN_PREFIX && isOwn ? [formatCidr(cidr)] : [];
  });
}

/**
 * Selects the subnets that routers of this host route to external networks: the subnets of routers with an IPv6 address there.
 * Only the oldest router with a prefix routes it, and networks of this computer take precedence, because users choose
 * prefixes.
 *
 * @param routes the routes of this computer
 */
export function selectRouted(
  { routers, networks }: Pick<NetworkPlan, 'routers' | 'networks'>,
  routes: readonly Ipv6Route[],
  names: DeviceNames,
): { readonly routed: readonly RoutedIpv6[]; readonly conflicts: readonly Conflict[] } {
  const inUse: { readonly prefix: string; readonly routerId?: string }[] = ownPrefixes(routes, names).map((prefix) => ({
    prefix,
  }));
  const conflicts: Conflict[] = [];
  const routed = routers.flatMap((router): readonly RoutedIpv6[] => {
    if (!canRouteIpv6(router)) return [];
    const addresses = externalIpv6(router);
    const prefixes = prefixesOf(router, { networks }).filter((prefix) => {
      const other = inUse.find((one) => overlap(one.prefix, prefix));
      if (!other) inUse.push({ prefix, routerId: router.id });
      else conflicts.push({ routerId: router.id, prefix, other: other.prefix, otherRouterId: other.routerId });
      return !other;
    });
    return prefixes.length > 0 ? [{ routerId: router.id, addresses, prefixes }] : [];
  });
  return { routed, conflicts };
}

/** Returns the message about a subnet that is not routed. */
export function conflictMessage({ routerId, prefix, other, otherRouterId }: Conflict): string {
  const owner = otherRouterId === undefined ? 'this computer has a route to' : `router ${otherRouterId} has`;
  return `router ${routerId} does not route ${prefix} to external networks: ${owner} ${other}`;
}
