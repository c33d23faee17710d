import { randomUUID } from 'node:crypto';
import { lockName, type Tx } from '@apistrata/record-store';
import { rejectNul } from '../../builtin/json-conditions.js';
import { listPage, type Page } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject, isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { NetworkQuery } from '../network-catalog.js';
import { inAllocationOrder } from './allocation-order.js';
import { releaseAddresses, subnetsById } from './ip-allocations.js';
import {
  getVisibleNetwork,
  insertNetwork,
  type NetworkContext,
  networkNotFound,
  newSubnetRecord,
} from './network-context.js';
import { type FloatingIpRecord, type NetworkRecord, networkTables, type PortRecord } from './network-tables.js';
import {
  removeGrants,
  sharedNetworkCondition,
  storeGrants,
  toCallerView,
  visibilityCondition,
  visibleToOthersCondition,
} from './network-visibility.js';
import { removePort } from './port-records.js';

const { networks, ports, subnets, floatingIps } = networkTables;

/** The fields of a new or changed network. */
export type NetworkFields = Partial<
  Pick<
    NetworkRecord,
    | 'name'
    | 'description'
    | 'adminStateUp'
    | 'shared'
    | 'sharedWith'
    | 'external'
    | 'externalFor'
    | 'mtu'
    | 'isDefault'
    | 'portSecurityEnabled'
    | 'provider'
    | 'tags'
  >
>;

export interface FullNetworkQuery extends NetworkQuery, Page {
  /** If true, lists only networks that are visible to projects other than their owner. */
  readonly offered?: boolean;
}

/** The `device_owner` values of the network service's own ports. These ports do not prevent a network's deletion. */
const SERVICE_PORT_OWNERS = new Set(['network:dhcp', 'network:floatingip']);

const AUTO_NETWORK_NAME = 'auto_allocated_network';

function networkInUse(id: string): CatalogError {
  return new CatalogError(
    'NETWORK_IN_USE',
    `Unable to complete operation on network ${id}. There are one or more ports still in use on the network.`,
  );
}

/**
 * Locks the ports on a network, which must be ports of the network service itself.
 *
 * @throws `NETWORK_IN_USE`
 */
async function lockServicePorts(tx: Tx, networkId: string): Promise<readonly PortRecord[]> {
  const networkPorts = await ports.find(tx, (q) => q.where('network_id', '=', networkId).orderBy('seq'));
  if (networkPorts.some((port) => !SERVICE_PORT_OWNERS.has(port.deviceOwner))) throw networkInUse(networkId);
  const lockedPorts: PortRecord[] = [];
  for (const { id } of networkPorts) {
    const port = await ports.lock(tx, id);
    if (port) lockedPorts.push(port);
  }
  return lockedPorts;
}

/**
 * Locks the floating IPs whose addresses are in the network's subnets. Reads no other floating IPs.
 *
 * @throws `NETWORK_IN_USE` if a floating IP is associated with a port
 */
async function lockUnassociatedFloatingIps(
  tx: Tx,
  { id, subnetIds }: NetworkRecord,
): Promise<readonly FloatingIpRecord[]> {
  if (subnetIds.length === 0) return [];
  const holderIds = tx.db.selectFrom('ip_allocations').select('holder_id').where('subnet_id', 'in', subnetIds);
  const floatingIpRecords = await floatingIps.find(tx, (q) => q.where('id', 'in', holderIds).orderBy('seq'));
  if (floatingIpRecords.some(({ portId }) => portId !== null)) throw networkInUse(id);
  const lockedFloatingIps: FloatingIpRecord[] = [];
  for (const record of floatingIpRecords) {
    const floating = await floatingIps.lock(tx, record.id);
    // Another request had locked the floating IP, and has associated it with a port.
    if (floating && floating.portId !== null) throw networkInUse(id);
    if (floating) lockedFloatingIps.push(floating);
  }
  return lockedFloatingIps;
}

/** Creates the network operations of the embedded network catalog. */
export function createNetworkOperations(context: NetworkContext) {
  const { store, clock } = context;

  const getVisible = (caller: Caller, id: string) => getVisibleNetwork(context, caller, id);

  async function createAutoNetwork(tx: Tx, projectId: string): Promise<NetworkRecord> {
    const now = clock.now();
    const id = randomUUID();
    const subnetId = randomUUID();
    const subnet = { id: subnetId, networkId: id, projectId, name: 'auto_allocated_subnet_v4' };
    await subnets.insert(tx, newSubnetRecord({ ...subnet, cidr: '10.0.0.0/16', gatewayIp: '10.0.0.1' }, now));
    return insertNetwork(
      context,
      tx,
      { id, projectId, name: AUTO_NETWORK_NAME, auto: true, subnetIds: [subnetId] },
      now,
    );
  }

  return {
    getNetwork: async (caller: Caller, id: string): Promise<NetworkRecord> =>
      toCallerView(caller, await getVisible(caller, id)),

    async listNetworks(caller: Caller, query: FullNetworkQuery = {}): Promise<readonly NetworkRecord[]> {
      const page = await listPage(store, networks, 'oldest first', query, (rows) => {
        let narrowed = rows;
        if (query.ids) narrowed = narrowed.where('id', 'in', query.ids.length > 0 ? query.ids : ['']);
        if (query.name !== undefined) narrowed = narrowed.where('name', '=', query.name);
        if (query.projectId !== undefined) narrowed = narrowed.where('project_id', '=', query.projectId);
        const isShared = sharedNetworkCondition(store, caller.projectId);
        if (query.shared !== undefined)
          narrowed = narrowed.where((eb) => (query.shared ? isShared(eb) : eb.not(isShared(eb))));
        if (query.external !== undefined) narrowed = narrowed.where('external', query.external ? '=' : '<>', 1);
        if (query.offered) narrowed = narrowed.where(visibleToOthersCondition(store));
        return isAdmin(caller) ? narrowed : narrowed.where(visibilityCondition(store, caller.projectId));
      });
      return page.map((network) => toCallerView(caller, network));
    },

    availableNetworks: async (caller: Caller): Promise<readonly NetworkRecord[]> => {
      const { projectId } = caller;
      const networkRecords = await networks.find(store, (q) =>
        q
          .where((eb) => eb.or([eb('project_id', '=', projectId), sharedNetworkCondition(store, projectId)(eb)]))
          .orderBy('seq'),
      );
      return networkRecords.filter((network) => network.adminStateUp && !network.accepted);
    },

    async autoNetwork(caller: Caller, options: { readonly dryRun?: boolean } = {}): Promise<NetworkRecord | null> {
      const { projectId } = caller;
      const externalCount = await networks.count(store, (q) => q.where('external', '=', 1));
      return store.transaction(async (tx) => {
        await lockName(tx, `auto-network/${projectId}`);
        const ownNetworks = await networks.find(tx, (q) =>
          q.where('project_id', '=', projectId).where('name', '=', AUTO_NETWORK_NAME),
        );
        const existingNetwork = ownNetworks.find((network) => network.auto);
        if (existingNetwork) return existingNetwork;
        if (externalCount === 0)
          throw new CatalogError(
            'NO_AUTO_NETWORK',
            'Unable to automatically allocate a network: there is no external network.',
          );
        return options.dryRun ? null : createAutoNetwork(tx, projectId);
      });
    },

    async createNetwork(
      caller: Caller,
      networkFields: NetworkFields & { readonly id?: string; readonly projectId?: string },
    ): Promise<NetworkRecord> {
      rejectNul(networkFields);
      const { id = randomUUID(), projectId = caller.projectId, ...fields } = networkFields;
      return store.transaction(async (tx) => {
        const createdNetwork = await insertNetwork(context, tx, { id, projectId, ...fields }, clock.now());
        if (fields.sharedWith || fields.externalFor) await storeGrants(tx, createdNetwork);
        return createdNetwork;
      });
    },

    async updateNetwork(caller: Caller, id: string, change: NetworkFields): Promise<NetworkRecord> {
      rejectNul(change);
      const networkFields = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      const { projectId } = await getVisible(caller, id);
      if (!canAccessProject(caller, projectId))
        throw new CatalogError('NETWORK_FORBIDDEN', `Network ${id} belongs to another project.`);
      return store.transaction(async (tx) => {
        const network = await networks.lock(tx, id);
        if (!network) throw networkNotFound(id);
        const updatedNetwork = await networks.update(tx, { ...network, ...networkFields, updatedAt: clock.now() });
        if (change.sharedWith !== undefined || change.externalFor !== undefined) await storeGrants(tx, updatedNetwork);
        return updatedNetwork;
      });
    },

    /**
     * Deletes a network with its subnets, and the unassociated floating IPs on this network.
     *
     * @throws `NETWORK_IN_USE` if the network has ports or associated floating IPs
     */
    async deleteNetwork(caller: Caller, id: string): Promise<void> {
      const { projectId } = await getVisible(caller, id);
      if (!canAccessProject(caller, projectId))
        throw new CatalogError('NETWORK_FORBIDDEN', `Network ${id} belongs to another project.`);
      await store.transaction(async (tx) => {
        const network = await networks.lock(tx, id);
        if (!network) throw networkNotFound(id);
        // Changes to existing ports lock the port, then its subnets, then its addresses. Without this order, concurrent
        // requests would deadlock.
        await lockServicePorts(tx, id);
        // Concurrent requests that create ports wait for the locks on these rows, and then find the rows deleted.
        for (const { id: subnetId } of inAllocationOrder(await subnetsById(tx, network.subnetIds)))
          await subnets.lock(tx, subnetId);
        // Includes ports that were created before the subnets were locked.
        const networkPorts = await lockServicePorts(tx, id);
        for (const { id: floatingId, ...address } of await lockUnassociatedFloatingIps(tx, network)) {
          await releaseAddresses(tx, [address]);
          await floatingIps.delete(tx, floatingId);
        }
        for (const port of networkPorts) await removePort(tx, port, clock.now());
        for (const subnetId of network.subnetIds) await subnets.delete(tx, subnetId);
        await removeGrants(tx, id);
        await networks.delete(tx, id);
      });
    },
  };
}
