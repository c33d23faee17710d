import { sql } from 'kysely';
import type { NetworkPlan, NetworkPlans, PlannedRouter, PlannedRouterInterface } from '../../drivers/network-plan.js';
import type { Session } from '../../store/database.js';
import { derivedUuid } from '../derived-uuid.js';
import type { NetworkContext } from './network-context.js';
import { type NetworkRecord, networkTables, type PortRecord, type SubnetRecord } from './network-tables.js';
import { presentRule } from './security-group-rules.js';

const { networks, subnets, ports, routers, floatingIps, rules } = networkTables;

const ROUTER_PORTS = 'network:router_interface';

const unique = (values: readonly string[]) => [...new Set(values)];

/** Which ports belong to routers. */
function ofRouters(session: Session) {
  const owner =
    session.kind === 'postgres'
      ? sql<string>`(data::jsonb ->> 'deviceOwner')`
      : sql<string>`json_extract(data, '$.deviceOwner')`;
  return sql<boolean>`${owner} = ${ROUTER_PORTS}`;
}

function addressesOf({ fixedIps }: PortRecord) {
  return fixedIps.map(({ address, version, subnetId }) => ({ address, version, subnetId }));
}

/** Networks that nobody owns, or that were made because somebody asked for any: they come with a router. */
function comesWithRouter({ auto, projectId, external }: NetworkRecord): boolean {
  return !external && (auto || projectId === '');
}

/** The router that a network comes with: at the gateways of its subnets. */
function ownRouter(
  network: NetworkRecord,
  its: readonly SubnetRecord[],
  floating: PlannedRouter['floating'],
): PlannedRouter {
  const id = derivedUuid(`router-interface/${network.id}`);
  const mac = `fa:${(id.slice(-10).match(/../g) ?? []).join(':')}`;
  const gateways = its.flatMap(({ id: subnetId, gatewayIp, ipVersion }) =>
    gatewayIp === null ? [] : [{ address: gatewayIp, version: ipVersion, subnetId }],
  );
  return {
    id: network.id,
    adminStateUp: true,
    interfaces: [{ id, networkId: network.id, mac, addresses: gateways }],
    external: true,
    externalAddresses: [],
    enableSnat: true,
    floating,
  };
}

/** The part of the embedded network catalog that tells drivers what to build. */
export function networkPlans(
  { store }: NetworkContext,
  onNetworkChange: NetworkPlans['onNetworkChange'],
): NetworkPlans {
  return {
    onNetworkChange,

    async networkPlan(serverIds): Promise<NetworkPlan> {
      if (serverIds.length === 0) return { networks: [], ports: [], routers: [], rules: [] };
      const ofServers = await ports.find(store, (q) => q.where('device_id', 'in', [...serverIds]).orderBy('seq'));
      if (ofServers.length === 0) return { networks: [], ports: [], routers: [], rules: [] };
      const networkIds = unique(ofServers.map(({ networkId }) => networkId));
      const groupIds = unique(ofServers.flatMap(({ securityGroupIds }) => securityGroupIds));
      const [networkRecords, subnetRecords, routerPorts, floating, ruleRecords] = await Promise.all([
        networks.find(store, (q) => q.where('id', 'in', networkIds).orderBy('seq')),
        subnets.find(store, (q) => q.where('network_id', 'in', networkIds).orderBy('seq')),
        ports.find(store, (q) => q.where('network_id', 'in', networkIds).where(ofRouters(store)).orderBy('seq')),
        floatingIps.find(store, (q) =>
          q
            .where(
              'port_id',
              'in',
              ofServers.map(({ id }) => id),
            )
            .orderBy('seq'),
        ),
        groupIds.length === 0 ? [] : rules.find(store, (q) => q.where('group_id', 'in', groupIds).orderBy('seq')),
      ]);
      const routerIds = unique(routerPorts.map(({ deviceId }) => deviceId));
      const routerRecords =
        routerIds.length === 0 ? [] : await routers.find(store, (q) => q.where('id', 'in', routerIds).orderBy('seq'));
      const leadingTo = (networksThere: ReadonlySet<string>, externalId: string | null) =>
        floating.flatMap(({ address, fixedAddress, portId, networkId }) => {
          const port = ofServers.find(({ id }) => id === portId);
          const there = port && networksThere.has(port.networkId) && fixedAddress !== null;
          return there && (externalId === null || externalId === networkId) ? [{ address, fixedAddress }] : [];
        });
      const made = routerRecords.map((router): PlannedRouter => {
        const interfaces = routerPorts
          .filter(({ deviceId }) => deviceId === router.id)
          .map((port): PlannedRouterInterface => {
            const { id, networkId, mac } = port;
            return { id, networkId, mac, addresses: addressesOf(port) };
          });
        const there = new Set(interfaces.map(({ networkId }) => networkId));
        const external = router.externalNetworkId !== null;
        return {
          id: router.id,
          adminStateUp: router.adminStateUp,
          interfaces,
          external,
          externalAddresses: router.externalAddresses.map(({ address }) => address),
          enableSnat: router.enableSnat,
          floating: external ? leadingTo(there, router.externalNetworkId) : [],
        };
      });
      const routed = new Set(routerPorts.map(({ networkId }) => networkId));
      const own = networkRecords
        .filter((network) => comesWithRouter(network) && !routed.has(network.id))
        .map((network) =>
          ownRouter(
            network,
            subnetRecords.filter(({ networkId }) => networkId === network.id),
            leadingTo(new Set([network.id]), null),
          ),
        );
      return {
        networks: networkRecords.map((network) => ({
          ...network,
          subnets: subnetRecords.filter(({ networkId }) => networkId === network.id),
        })),
        ports: ofServers.map((port) => {
          const { id, networkId, deviceId, mac, adminStateUp } = port;
          const { portSecurityEnabled, securityGroupIds, allowedAddressPairs } = port;
          const allowed = { portSecurityEnabled, securityGroupIds, allowedAddressPairs };
          return { id, networkId, serverId: deviceId, mac, adminStateUp, addresses: addressesOf(port), ...allowed };
        }),
        routers: [...made, ...own],
        rules: ruleRecords.map(presentRule),
      };
    },
  };
}
