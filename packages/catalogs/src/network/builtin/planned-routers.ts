import type { Session, Store } from '@apistrata/record-store';
import { sql } from 'kysely';
import { derivedUuid } from '../../builtin/derived-uuid.js';
import type { PlanHosts, PlannedRouter, PlannedRouterInterface } from '../network-plan.js';
import {
  GATEWAY_PORTS,
  type NetworkRecord,
  networkTables,
  type PortRecord,
  ROUTER_PORTS,
  type SubnetRecord,
} from './network-tables.js';
import { placeRouters, removePlacements } from './router-placements.js';

const { networks, ports, routers } = networkTables;

/** Returns an SQL condition for router ports. By default, these are ports on project networks. */
function isRouterPort(session: Session, ports = ROUTER_PORTS) {
  const owner =
    session.kind === 'postgres'
      ? sql<string>`(data::jsonb ->> 'deviceOwner')`
      : sql<string>`json_extract(data, '$.deviceOwner')`;
  return sql<boolean>`${owner} = ${ports}`;
}

/** The records from which a network plan's routers are built. */
export interface RouterParts {
  /** The router ports on the plan's networks. */
  readonly ports: readonly PortRecord[];
  /** The networks whose only router is an implicit one. */
  readonly implicit: readonly NetworkRecord[];
  /**
   * The ids of networks that routers on this host connect, including networks without servers on this host. Empty if
   * the plan covers a single host.
   */
  readonly reached: ReadonlySet<string>;
  /** Returns the host on which a router runs; null for the plan's own host. */
  hostOf(routerId: string): string | null;
}

/** Returns whether a network can have an implicit router: an `auto` network, or an internal one without a project. */
export function hasImplicitRouter({ auto, projectId, external }: NetworkRecord): boolean {
  return !external && (auto || projectId === '');
}

export function addressesOf({ fixedIps }: PortRecord) {
  return fixedIps.map(({ address, version, subnetId }) => ({ address, version, subnetId }));
}

async function portsOfRouters(store: Store, networkIds: readonly string[]): Promise<readonly PortRecord[]> {
  if (networkIds.length === 0) return [];
  return ports.find(store, (q) =>
    q
      .where('network_id', 'in', [...networkIds])
      .where(isRouterPort(store))
      .orderBy('seq'),
  );
}

/** Returns whether a server has a port on a network. */
async function hasServers(store: Store, networkId: string): Promise<boolean> {
  const [port] = await ports.find(store, (q) =>
    q
      .where('network_id', '=', networkId)
      .where('device_id', '!=', '')
      .where(sql<boolean>`not (${isRouterPort(store)} or ${isRouterPort(store, GATEWAY_PORTS)})`)
      .limit(1),
  );
  return port !== undefined;
}

/** Returns the given networks whose only router is an implicit one. */
async function withImplicitRouter(store: Store, all: readonly NetworkRecord[]): Promise<readonly NetworkRecord[]> {
  const candidates = all.filter(hasImplicitRouter);
  const ids = candidates.map(({ id }) => id);
  const routed = new Set((await portsOfRouters(store, ids)).map(({ networkId }) => networkId));
  return candidates.filter(({ id }) => !routed.has(id));
}

/**
 * Returns the routers on this host that only servers on other hosts need. Removes the placements of routers that
 * servers no longer need.
 */
async function routersForOthers(
  store: Store,
  routerIds: readonly string[],
  localPorts: readonly PortRecord[],
  self: string,
) {
  const requested = await networks.find(store, (q) => q.where('id', 'in', [...routerIds]));
  const implicit = await withImplicitRouter(store, requested);
  const unused = new Set<string>();
  for (const id of routerIds) {
    const networkIds = localPorts.filter(({ deviceId }) => deviceId === id).map(({ networkId }) => networkId);
    let needed = false;
    for (const networkId of implicit.some((network) => network.id === id) ? [id] : networkIds)
      needed ||= await hasServers(store, networkId);
    if (!needed) unused.add(id);
  }
  if (unused.size > 0) await removePlacements(store, [...unused], self);
  return {
    ports: localPorts.filter(({ deviceId }) => !unused.has(deviceId)),
    implicit: implicit.filter(({ id }) => !unused.has(id)),
  };
}

/**
 * Returns the records of all routers that servers on this host need, and of the routers on this host that servers on
 * other hosts need.
 * @param knownNetworks the networks to which servers on this host are connected
 */
export async function routerParts(
  store: Store,
  knownNetworks: readonly NetworkRecord[],
  among: PlanHosts | undefined,
): Promise<RouterParts> {
  const routerPorts = await portsOfRouters(
    store,
    knownNetworks.map(({ id }) => id),
  );
  const routed = new Set(routerPorts.map(({ networkId }) => networkId));
  const implicit = knownNetworks.filter((network) => hasImplicitRouter(network) && !routed.has(network.id));
  if (!among) return { ports: routerPorts, implicit, reached: new Set(), hostOf: () => null };

  const needed = new Set([...routerPorts.map(({ deviceId }) => deviceId), ...implicit.map(({ id }) => id)]);
  const routerHosts = await placeRouters(store, [...needed], among);
  const hostOf = (routerId: string) => routerHosts.get(routerId) ?? null;
  const localIds = [...routerHosts].flatMap(([id, host]) => (host === among.self ? [id] : []));
  if (localIds.length === 0) return { ports: routerPorts, implicit, reached: new Set(), hostOf };
  const localPorts = await ports.find(store, (q) =>
    q.where('device_id', 'in', localIds).where(isRouterPort(store)).orderBy('seq'),
  );
  const others = localIds.filter((id) => !needed.has(id));
  const otherRouters =
    others.length === 0
      ? { ports: localPorts, implicit: [] }
      : await routersForOthers(store, others, localPorts, among.self);
  const localImplicit = [...implicit.filter(({ id }) => hostOf(id) === among.self), ...otherRouters.implicit];
  return {
    ports: [...new Map([...routerPorts, ...otherRouters.ports].map((port) => [port.id, port])).values()],
    implicit: [...implicit, ...otherRouters.implicit],
    reached: new Set([...otherRouters.ports.map(({ networkId }) => networkId), ...localImplicit.map(({ id }) => id)]),
    hostOf,
  };
}

/** Returns a network's implicit router, which has the gateway addresses of the network's subnets. */
function implicitRouter(network: NetworkRecord, subnets: readonly SubnetRecord[]): PlannedRouter {
  const id = derivedUuid(`router-interface/${network.id}`);
  const mac = `fa:${(id.slice(-10).match(/../g) ?? []).join(':')}`;
  const gateways = subnets.flatMap(({ id: subnetId, gatewayIp, ipVersion }) =>
    gatewayIp === null ? [] : [{ address: gatewayIp, version: ipVersion, subnetId }],
  );
  return {
    id: network.id,
    host: null,
    adminStateUp: true,
    interfaces: [{ id, networkId: network.id, mac, addresses: gateways }],
    external: true,
    externalAddresses: [],
    enableSnat: true,
    floating: [],
  };
}

/** A floating IP that is assigned to a port, and the port's network. */
export interface FloatingAddress {
  readonly address: string;
  readonly fixedAddress: string;
  /** The id of the external network that contains the address. */
  readonly externalId: string;
  readonly networkId: string;
}

/** Returns the plan's routers, with interfaces and floating IPs, in the format that drivers use. */
export async function plannedRouters(
  store: Store,
  parts: RouterParts,
  subnets: readonly SubnetRecord[],
  floating: readonly FloatingAddress[],
): Promise<readonly PlannedRouter[]> {
  const ids = [...new Set(parts.ports.map(({ deviceId }) => deviceId))];
  const records = ids.length === 0 ? [] : await routers.find(store, (q) => q.where('id', 'in', ids).orderBy('seq'));
  const floatingIpsFor = (networkIds: ReadonlySet<string>, externalId: string | null) =>
    floating
      .filter(({ networkId }) => networkIds.has(networkId))
      .filter((one) => externalId === null || externalId === one.externalId)
      .map(({ address, fixedAddress }) => ({ address, fixedAddress }));
  const planned = records.map((router): PlannedRouter => {
    const interfaces = parts.ports
      .filter(({ deviceId }) => deviceId === router.id)
      .map((port): PlannedRouterInterface => {
        const { id, networkId, mac } = port;
        return { id, networkId, mac, addresses: addressesOf(port) };
      });
    const networkIds = new Set(interfaces.map(({ networkId }) => networkId));
    const external = router.externalNetworkId !== null;
    return {
      id: router.id,
      host: parts.hostOf(router.id),
      adminStateUp: router.adminStateUp,
      interfaces,
      external,
      externalAddresses: router.externalAddresses.map(({ address }) => address),
      enableSnat: router.enableSnat,
      floating: external ? floatingIpsFor(networkIds, router.externalNetworkId) : [],
    };
  });
  const implicit = parts.implicit.map((network) => ({
    ...implicitRouter(
      network,
      subnets.filter(({ networkId }) => networkId === network.id),
    ),
    host: parts.hostOf(network.id),
    floating: floatingIpsFor(new Set([network.id]), null),
  }));
  return [...planned, ...implicit];
}
