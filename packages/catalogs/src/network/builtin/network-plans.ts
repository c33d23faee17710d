import type { Store } from '@apistrata/record-store';
import type { NetworkPlan, NetworkPlans } from '../network-plan.js';
import { findGroupMembers } from './group-members.js';
import type { NetworkContext } from './network-context.js';
import { type NetworkRecord, networkTables, type PortRecord } from './network-tables.js';
import { addressesOf, type FloatingAddress, findRouterPlanInput, planRouters } from './planned-routers.js';
import { toRule } from './security-group-rules.js';

const { networks, subnets, ports, floatingIps, rules } = networkTables;

/** The highest segment number. Tunnels identify a network by a 24-bit number. */
const MAX_SEGMENT = 2 ** 24 - 1;

const unique = (values: readonly string[]) => [...new Set(values)];

async function findNetworks(store: Store, ids: readonly string[]): Promise<readonly NetworkRecord[]> {
  return ids.length === 0 ? [] : networks.find(store, (q) => q.where('id', 'in', [...ids]).orderBy('seq'));
}

/**
 * Returns the floating IPs of these server ports, and of all ports on the networks that this host's routers connect.
 */
async function findFloatingAddresses(
  store: Store,
  serverPorts: readonly PortRecord[],
  reachedNetworkIds: readonly string[],
): Promise<readonly FloatingAddress[]> {
  const portIds = serverPorts.map(({ id }) => id);
  if (portIds.length + reachedNetworkIds.length === 0) return [];
  const floatingIpRecords = await floatingIps.find(store, (q) =>
    q
      .where(({ or, eb, selectFrom }) =>
        or([
          ...(portIds.length > 0 ? [eb('port_id', 'in', portIds)] : []),
          ...(reachedNetworkIds.length > 0
            ? [
                eb(
                  'port_id',
                  'in',
                  selectFrom('ports')
                    .select('id')
                    .where('network_id', 'in', [...reachedNetworkIds]),
                ),
              ]
            : []),
        ]),
      )
      .orderBy('seq'),
  );
  const unknownPortIds = unique(
    floatingIpRecords.flatMap(({ portId }) => (portId === null || portIds.includes(portId) ? [] : [portId])),
  );
  const otherPorts =
    unknownPortIds.length === 0 ? [] : await ports.find(store, (q) => q.where('id', 'in', unknownPortIds));
  const networkIdByPortId = new Map([...serverPorts, ...otherPorts].map(({ id, networkId }) => [id, networkId]));
  return floatingIpRecords.flatMap(({ address, fixedAddress, portId, networkId: externalId }) => {
    const networkId = portId === null ? undefined : networkIdByPortId.get(portId);
    return networkId === undefined || fixedAddress === null ? [] : [{ address, fixedAddress, externalId, networkId }];
  });
}

/** Creates the operations of the embedded network catalog that plan networks for drivers. */
export function createNetworkPlanOperations(
  { store }: NetworkContext,
  onNetworkChange: NetworkPlans['onNetworkChange'],
): NetworkPlans {
  return {
    onNetworkChange,

    async networkPlan(serverIds, hosts): Promise<NetworkPlan> {
      const serverPorts =
        serverIds.length === 0
          ? []
          : await ports.find(store, (q) => q.where('device_id', 'in', [...serverIds]).orderBy('seq'));
      const plannedNetworks = await findNetworks(store, unique(serverPorts.map(({ networkId }) => networkId)));
      const routerPlanInput = await findRouterPlanInput(store, plannedNetworks, hosts);
      const knownIds = new Set(plannedNetworks.map(({ id }) => id));
      const reachedNetworkIds = [...routerPlanInput.reachedNetworkIds];
      const networkRecords = [
        ...plannedNetworks,
        ...(await findNetworks(
          store,
          reachedNetworkIds.filter((id) => !knownIds.has(id)),
        )),
      ];
      const networkIds = networkRecords.map(({ id }) => id);
      const groupIds = unique(serverPorts.flatMap(({ securityGroupIds }) => securityGroupIds));
      const [subnetRecords, floating, ruleRecords] = await Promise.all([
        networkIds.length === 0
          ? []
          : subnets.find(store, (q) => q.where('network_id', 'in', networkIds).orderBy('seq')),
        findFloatingAddresses(store, serverPorts, reachedNetworkIds),
        groupIds.length === 0 ? [] : rules.find(store, (q) => q.where('group_id', 'in', groupIds).orderBy('seq')),
      ]);
      const remoteGroupIds = unique(ruleRecords.flatMap(({ remoteGroupId }) => remoteGroupId ?? []));
      return {
        networks: networkRecords.map((network) => ({
          ...network,
          segment: ((network.seq - 1) % MAX_SEGMENT) + 1,
          subnets: subnetRecords.filter(({ networkId }) => networkId === network.id),
        })),
        ports: serverPorts.map((port) => {
          const { id, networkId, deviceId, mac, adminStateUp } = port;
          const { portSecurityEnabled, securityGroupIds, allowedAddressPairs } = port;
          const securityFields = { portSecurityEnabled, securityGroupIds, allowedAddressPairs };
          return {
            id,
            networkId,
            serverId: deviceId,
            mac,
            adminStateUp,
            addresses: addressesOf(port),
            ...securityFields,
          };
        }),
        routers: await planRouters(store, routerPlanInput, subnetRecords, floating),
        rules: ruleRecords.map(toRule),
        members: await findGroupMembers(store, remoteGroupIds, hosts ? undefined : serverPorts),
      };
    },
  };
}
