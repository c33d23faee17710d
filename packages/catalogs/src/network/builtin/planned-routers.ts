import type { Session, Store } from '@apistrata/record-store';
import { sql } from 'kysely';
import { derivedUuid } from '../../builtin/derived-uuid.js';
import type { PlanHosts, PlannedRouter, PlannedRouterInterface } from '../network-plan.js';
import {
  GATEWAY_PORT_OWNER,
  type NetworkRecord,
  networkTables,
  type PortRecord,
  ROUTER_PORT_OWNER,
  type SubnetRecord,
} from './network-tables.js';
import { placeRouters, removePlacements } from './router-placements.js';

const { networks, ports, routers } = networkTables;

/** Returns an SQL condition for router ports. By default, these are ports on project networks. */
function isRouterPort(session: Session, ports = ROUTER_PORT_OWNER) {
  const ownerColumn =
    session.kind === 'postgres'
      ? sql<string>`(data::jsonb ->> 'deviceOwner')`
      : sql<string>`json_extract(data, '$.deviceOwner')`;
  return sql<boolean>`${ownerColumn} = ${ports}`;
}

/** The records from which a network plan's routers are built. */
export interface RouterPlanInput {
  /** The router ports on the plan's networks. */
  readonly ports: readonly PortRecord[];
  /** The networks whose only router is an implicit one. */
  readonly implicitlyRouted: readonly NetworkRecord[];
  /**
   * The ids of networks that routers on this host connect, including networks without servers on this host. Empty if
   * the plan covers a single host.
   */
  readonly reachedNetworkIds: ReadonlySet<string>;
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

async function findRouterPorts(store: Store, networkIds: readonly string[]): Promise<readonly PortRecord[]> {
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
      .where(sql<boolean>`not (${isRouterPort(store)} or ${isRouterPort(store, GATEWAY_PORT_OWNER)})`)
      .limit(1),
  );
  return port !== undefined;
}

/** Returns the given networks whose only router is an implicit one. */
async function findImplicitlyRouted(store: Store, all: readonly NetworkRecord[]): Promise<readonly NetworkRecord[]> {
  const candidates = all.filter(hasImplicitRouter);
  const ids = candidates.map(({ id }) => id);
  const routedNetworkIds = new Set((await findRouterPorts(store, ids)).map(({ networkId }) => networkId));
  return candidates.filter(({ id }) => !routedNetworkIds.has(id));
}

/**
 * Returns the routers on this host that only servers on other hosts need. Removes the placements of routers that
 * servers no longer need.
 */
async function findRoutersForOtherHosts(
  store: Store,
  routerIds: readonly string[],
  localPorts: readonly PortRecord[],
  self: string,
) {
  const requestedNetworks = await networks.find(store, (q) => q.where('id', 'in', [...routerIds]));
  const implicitlyRouted = await findImplicitlyRouted(store, requestedNetworks);
  const unusedIds = new Set<string>();
  for (const id of routerIds) {
    const networkIds = localPorts.filter(({ deviceId }) => deviceId === id).map(({ networkId }) => networkId);
    let isNeeded = false;
    for (const networkId of implicitlyRouted.some((network) => network.id === id) ? [id] : networkIds)
      isNeeded ||= await hasServers(store, networkId);
    if (!isNeeded) unusedIds.add(id);
  }
  if (unusedIds.size > 0) await removePlacements(store, [...unusedIds], self);
  return {
    ports: localPorts.filter(({ deviceId }) => !unusedIds.has(deviceId)),
    implicitlyRouted: implicitlyRouted.filter(({ id }) => !unusedIds.has(id)),
  };
}

/**
 * Returns the records of all routers that servers on this host need, and of the routers on this host that servers on
 * other hosts need.
 * @param knownNetworks the networks to which servers on this host are connected
 */
export async function findRouterPlanInput(
  store: Store,
  knownNetworks: readonly NetworkRecord[],
  hosts: PlanHosts | undefined,
): Promise<RouterPlanInput> {
  const routerPorts = await findRouterPorts(
    store,
    knownNetworks.map(({ id }) => id),
  );
  const routedNetworkIds = new Set(routerPorts.map(({ networkId }) => networkId));
  const implicitlyRouted = knownNetworks.filter(
    (network) => hasImplicitRouter(network) && !routedNetworkIds.has(network.id),
  );
  if (!hosts) return { ports: routerPorts, implicitlyRouted, reachedNetworkIds: new Set(), hostOf: () => null };

  const neededRouterIds = new Set([
    ...routerPorts.map(({ deviceId }) => deviceId),
    ...implicitlyRouted.map(({ id }) => id),
  ]);
  const routerHosts = await placeRouters(store, [...neededRouterIds], hosts);
  const hostOf = (routerId: string) => routerHosts.get(routerId) ?? null;
  const localRouterIds = [...routerHosts].flatMap(([id, host]) => (host === hosts.self ? [id] : []));
  if (localRouterIds.length === 0)
    return { ports: routerPorts, implicitlyRouted, reachedNetworkIds: new Set(), hostOf };
  const localPorts = await ports.find(store, (q) =>
    q.where('device_id', 'in', localRouterIds).where(isRouterPort(store)).orderBy('seq'),
  );
  const otherRouterIds = localRouterIds.filter((id) => !neededRouterIds.has(id));
  const otherRouters =
    otherRouterIds.length === 0
      ? { ports: localPorts, implicitlyRouted: [] }
      : await findRoutersForOtherHosts(store, otherRouterIds, localPorts, hosts.self);
  const localImplicitNetworks = [
    ...implicitlyRouted.filter(({ id }) => hostOf(id) === hosts.self),
    ...otherRouters.implicitlyRouted,
  ];
  return {
    ports: [...new Map([...routerPorts, ...otherRouters.ports].map((port) => [port.id, port])).values()],
    implicitlyRouted: [...implicitlyRouted, ...otherRouters.implicitlyRouted],
    reachedNetworkIds: new Set([
      ...otherRouters.ports.map(({ networkId }) => networkId),
      ...localImplicitNetworks.map(({ id }) => id),
    ]),
    hostOf,
  };
}

/** Returns a network's implicit router, which has the gateway addresses of the network's subnets. */
function implicitRouter(network: NetworkRecord, subnets: readonly SubnetRecord[]): PlannedRouter {
  const id = derivedUuid(`router-interface/${network.id}`);
  const mac = `fa:${(id.slice(-10).match(/../g) ?? []).join(':')}`;
  const gatewayAddresses = subnets.flatMap(({ id: subnetId, gatewayIp, ipVersion }) =>
    gatewayIp === null ? [] : [{ address: gatewayIp, version: ipVersion, subnetId }],
  );
  return {
    id: network.id,
    host: null,
    adminStateUp: true,
    interfaces: [{ id, networkId: network.id, mac, addresses: gatewayAddresses }],
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
export async function planRouters(
  store: Store,
  parts: RouterPlanInput,
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
  const explicitRouters = records.map((router): PlannedRouter => {
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
  const implicitlyRouted = parts.implicitlyRouted.map((network) => ({
    ...implicitRouter(
      network,
      subnets.filter(({ networkId }) => networkId === network.id),
    ),
    host: parts.hostOf(network.id),
    floating: floatingIpsFor(new Set([network.id]), null),
  }));
  return [...explicitRouters, ...implicitlyRouted];
}
