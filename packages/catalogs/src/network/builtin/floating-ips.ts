import { randomUUID } from 'node:crypto';
import type { Tx } from '@apistrata/record-store';
import { listPage, type Page } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject, isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { FixedIp } from '../fixed-ip.js';
import { canonicalIp } from '../ip-address.js';
import type { FloatingIp, FloatingIpQuery } from '../network-catalog.js';
import { allocateFromSubnets, allocateRequested, releaseAddresses, subnetsById } from './ip-allocations.js';
import { initialFields, NameCache, type NetworkContext, notifyPortsChanged } from './network-context.js';
import {
  type FloatingIpRecord,
  type NetworkRecord,
  networkTables,
  type PortRecord,
  ROUTER_PORT_OWNER,
} from './network-tables.js';
import { canSeeNetwork } from './network-visibility.js';
import { hasImplicitRouter } from './planned-routers.js';
import { portNotFound } from './port-records.js';

const { floatingIps, networks, ports, routers } = networkTables;

/** A floating IP as returned in responses, with the name of the floating IP pool. */
export type FloatingIpView = FloatingIpRecord & FloatingIp;

export interface NewFloatingIp {
  /** The name or id of the external network. Default: the default external network. */
  readonly pool?: string;
  readonly address?: string;
  readonly subnetId?: string;
  readonly projectId?: string;
  readonly description?: string;
}

function floatingIpNotFound(id: string): CatalogError {
  return new CatalogError('FLOATING_IP_NOT_FOUND', `Floating IP ${id} could not be found.`);
}

/**
 * Returns a copy of the port in which the floating IP is assigned to the fixed address `fixedAddress`, or to no address
 * if `fixedAddress` is null.
 */
function assignFloatingIp(port: PortRecord, floating: string, fixedAddress: string | null): PortRecord {
  const fixedIps = port.fixedIps.map((fixedIp): FixedIp => {
    const otherAddresses = fixedIp.floating.filter((address) => address !== floating);
    return { ...fixedIp, floating: fixedIp.address === fixedAddress ? [...otherAddresses, floating] : otherAddresses };
  });
  return { ...port, fixedIps };
}

/** Throws `FLOATING_IP_WITHOUT_ROUTE` if no router connects the external network to the port's subnet. */
async function rejectUnreachable(tx: Tx, externalId: string, port: PortRecord, subnetId: string): Promise<void> {
  const network = await networks.get(tx, port.networkId);
  const networkPorts = await ports.find(tx, (q) => q.where('network_id', '=', port.networkId));
  const interfaces = networkPorts.filter(({ deviceOwner }) => deviceOwner === ROUTER_PORT_OWNER);
  if (network && interfaces.length === 0 && hasImplicitRouter(network)) return;
  for (const { deviceId, fixedIps } of interfaces) {
    if (!fixedIps.some((fixedIp) => fixedIp.subnetId === subnetId)) continue;
    if ((await routers.get(tx, deviceId))?.externalNetworkId === externalId) return;
  }
  throw new CatalogError(
    'FLOATING_IP_WITHOUT_ROUTE',
    `External network ${externalId} is not reachable from subnet ${subnetId}.  Therefore, cannot associate Port ${port.id} with a Floating IP.`,
  );
}

/**
 * Returns the error for a port that is missing or belongs to another project. The error reveals the existence of the
 * port only to the owner of the port's network.
 */
async function unusablePortError(
  tx: Tx,
  caller: Caller,
  id: string,
  port: PortRecord | undefined,
): Promise<CatalogError> {
  const network = port && (await networks.get(tx, port.networkId));
  if (network?.projectId !== caller.projectId) return portNotFound(id);
  return new CatalogError(
    'FLOATING_IP_UNREACHABLE',
    `Cannot process floatingip association with Port ${id}, since that port is owned by a different tenant`,
  );
}

/** Creates the floating IP operations of the embedded network catalog. */
export function createFloatingIpOperations(context: NetworkContext) {
  const { store, clock } = context;

  async function listPools(caller: Caller): Promise<NetworkRecord[]> {
    const allPools = await networks.find(store, (q) => q.where('external', '=', 1).orderBy('seq'));
    return allPools.filter((network) => canSeeNetwork(caller, network));
  }

  async function findPool(caller: Caller, nameOrId: string | undefined): Promise<NetworkRecord> {
    const allPools = await listPools(caller);
    const matchingPools =
      nameOrId === undefined
        ? [allPools.find((pool) => pool.isDefault) ?? allPools[0]]
        : allPools.filter((pool) => pool.id === nameOrId || pool.name === nameOrId);
    if (!matchingPools[0])
      throw new CatalogError('FLOATING_IP_POOL_NOT_FOUND', `Floating IP pool ${nameOrId ?? ''} not found.`);
    return matchingPools[0];
  }

  async function toFloatingIp(record: FloatingIpRecord, names = new NameCache(store)): Promise<FloatingIpView> {
    return { ...record, pool: await names.get('networks', record.networkId) };
  }

  async function getVisible(caller: Caller, id: string): Promise<FloatingIpRecord> {
    const floating = await floatingIps.get(store, id);
    if (!floating || !canAccessProject(caller, floating.projectId)) throw floatingIpNotFound(id);
    return floating;
  }

  /** Removes the floating IP from its port, if the floating IP has one, and returns the changed record. */
  async function disassociate(tx: Tx, floating: FloatingIpRecord): Promise<FloatingIpRecord> {
    const port = floating.portId === null ? undefined : await ports.lock(tx, floating.portId);
    if (port) {
      await ports.update(tx, assignFloatingIp(port, floating.address, null));
      notifyPortsChanged(context, tx, port.deviceId);
    }
    return { ...floating, portId: null, fixedAddress: null, deviceId: null, status: 'DOWN', updatedAt: clock.now() };
  }

  /**
   * Calls `work` with one of the caller's floating IPs, whose row is locked. The rows of its current port and its next
   * port, if any, are locked first, in the order of their ids, so that concurrent changes to floating IPs and ports do
   * not deadlock.
   */
  async function withLockedFloatingIp<T>(
    caller: Caller,
    id: string,
    work: (tx: Tx, floating: FloatingIpRecord) => Promise<T>,
    nextPortId?: string,
  ): Promise<T> {
    const attempt = await store.transaction(async (tx) => {
      const portIds = [(await floatingIps.get(tx, id))?.portId, nextPortId].filter(
        (portId) => typeof portId === 'string',
      );
      for (const portId of portIds.sort()) await ports.lock(tx, portId);
      const floating = await floatingIps.lock(tx, id);
      if (!floating || !canAccessProject(caller, floating.projectId)) throw floatingIpNotFound(id);
      // The floating IP has moved to another port, which must be locked before the floating IP.
      if (floating.portId !== null && !portIds.includes(floating.portId)) return undefined;
      return { result: await work(tx, floating) };
    });
    return attempt ? attempt.result : withLockedFloatingIp(caller, id, work, nextPortId);
  }

  async function associate(
    caller: Caller,
    id: string,
    to: { readonly portId: string; readonly fixedAddress?: string },
  ): Promise<FloatingIpView> {
    const work = async (tx: Tx, floating: FloatingIpRecord) => {
      const disassociatedIp = await disassociate(tx, floating);
      const port = await ports.lock(tx, to.portId);
      if (!port || !canAccessProject(caller, port.projectId))
        throw await unusablePortError(tx, caller, to.portId, port);
      const address = to.fixedAddress === undefined ? undefined : canonicalIp(to.fixedAddress);
      const fixedIp = port.fixedIps.find((f) => f.version === 4 && (address === undefined || f.address === address));
      if (!fixedIp)
        throw new CatalogError(
          'FLOATING_IP_UNREACHABLE',
          `Port ${port.id} does not have fixed IPv4 address ${to.fixedAddress ?? ''}`.trimEnd(),
        );
      await rejectUnreachable(tx, floating.networkId, port, fixedIp.subnetId);
      const conflictingIp = (await floatingIps.find(tx, (q) => q.where('port_id', '=', port.id))).find(
        (other) => other.id !== id && other.fixedAddress === fixedIp.address && other.networkId === floating.networkId,
      );
      if (conflictingIp)
        throw new CatalogError(
          'FLOATING_IP_IN_USE',
          `Fixed IP ${fixedIp.address} already has a floating IP on external network ${floating.networkId}.`,
        );
      await ports.update(tx, assignFloatingIp(port, floating.address, fixedIp.address));
      notifyPortsChanged(context, tx, port.deviceId);
      const deviceId = port.deviceId || null;
      return floatingIps.update(tx, {
        ...disassociatedIp,
        portId: port.id,
        fixedAddress: fixedIp.address,
        deviceId,
        status: 'ACTIVE',
      });
    };
    return toFloatingIp(await withLockedFloatingIp(caller, id, work, to.portId));
  }

  async function create(caller: Caller, request: NewFloatingIp): Promise<FloatingIpView> {
    const pool = await findPool(caller, request.pool);
    const createdIp = await store.transaction(async (tx) => {
      const id = randomUUID();
      const subnets = (await subnetsById(tx, pool.subnetIds)).filter(
        (subnet) => subnet.ipVersion === 4 && (request.subnetId === undefined || subnet.id === request.subnetId),
      );
      const allocatedAddress =
        request.address === undefined
          ? await allocateFromSubnets(tx, context.blocks, subnets, id)
          : await allocateRequested(tx, subnets, request.address, id);
      if (!allocatedAddress)
        throw new CatalogError('NO_FREE_ADDRESS', `No more IP addresses available on network ${pool.id}.`);
      const projectId = request.projectId ?? caller.projectId;
      const description = request.description ?? '';
      const unassociatedFields = { portId: null, fixedAddress: null, deviceId: null, status: 'DOWN' };
      const { address, subnetId } = allocatedAddress;
      return floatingIps.insert(tx, {
        ...initialFields(clock.now()),
        id,
        address,
        subnetId,
        projectId,
        networkId: pool.id,
        ...unassociatedFields,
        description,
      });
    });
    return { ...createdIp, pool: pool.name };
  }

  return {
    listFloatingIpPools: listPools,

    async listFloatingIps(caller: Caller, query: FloatingIpQuery & Page = {}): Promise<readonly FloatingIpView[]> {
      const exactFilters = {
        address: query.address === undefined ? undefined : canonicalIp(query.address),
        project_id: query.projectId,
        port_id: query.portId,
      };
      const floatingIpRecords = await listPage(store, floatingIps, 'oldest first', query, (rows) => {
        let narrowed = isAdmin(caller) ? rows : rows.where('project_id', '=', caller.projectId);
        for (const [column, value] of Object.entries(exactFilters))
          if (value !== undefined) narrowed = narrowed.where(column, '=', value);
        return narrowed;
      });
      const names = new NameCache(store);
      const views: FloatingIpView[] = [];
      for (const record of floatingIpRecords) views.push(await toFloatingIp(record, names));
      return views;
    },

    async getFloatingIp(caller: Caller, id: string): Promise<FloatingIpView> {
      return toFloatingIp(await getVisible(caller, id));
    },

    /** Like `allocateFloatingIp`, but accepts all fields that Neutron's API accepts. */
    createFloatingIp: create,

    allocateFloatingIp: (caller: Caller, pool?: string): Promise<FloatingIpView> => create(caller, { pool }),

    releaseFloatingIp: (caller: Caller, id: string): Promise<void> =>
      withLockedFloatingIp(caller, id, async (tx, floating) => {
        await disassociate(tx, floating);
        await releaseAddresses(tx, [floating]);
        await floatingIps.delete(tx, id);
      }),

    associateFloatingIp: associate,

    async disassociateFloatingIp(caller: Caller, id: string): Promise<FloatingIpView> {
      const disassociatedIp = await withLockedFloatingIp(caller, id, async (tx, floating) =>
        floatingIps.update(tx, await disassociate(tx, floating)),
      );
      return toFloatingIp(disassociatedIp);
    },

    async updateFloatingIp(
      caller: Caller,
      id: string,
      change: { readonly description?: string; readonly tags?: readonly string[] },
    ): Promise<FloatingIpView> {
      const changedIp = await withLockedFloatingIp(caller, id, (tx, floating) => {
        const { description = floating.description, tags = floating.tags } = change;
        return floatingIps.update(tx, { ...floating, description, tags, updatedAt: clock.now() });
      });
      return toFloatingIp(changedIp);
    },
  };
}
