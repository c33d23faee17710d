import { randomUUID } from 'node:crypto';
import { isInSubquery, type RowQuery, retryOnUniqueViolation, type Session, type Tx } from '@apistrata/record-store';
import { derivedUuid } from '../../builtin/derived-uuid.js';
import { hasItem, rejectNul } from '../../builtin/json-conditions.js';
import { listPage, type Page } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject, isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import { canonicalIp } from '../ip-address.js';
import type { PortQuery } from '../network-catalog.js';
import { releaseAddresses, subnetsById } from './ip-allocations.js';
import { NameCache, type NetworkContext, notifyPortsChanged } from './network-context.js';
import { networkTables, type PortRecord } from './network-tables.js';
import {
  checkPortSecurity,
  claimAddresses,
  disassociateFloatingIps,
  type FixedIpRequest,
  insertPort,
  type PortSpec,
  type PortView,
  portNotFound,
  portStatus,
  rejectUsedMac,
  removePort,
  sortAddresses,
  toPortView,
} from './port-records.js';
import { findPortGroups } from './security-groups.js';

const { networks, ports } = networkTables;

export interface FullPortQuery extends PortQuery, Page {
  readonly name?: string;
  readonly projectId?: string;
  readonly mac?: string;
  readonly subnetId?: string;
  readonly status?: string;
  readonly deviceOwner?: string;
  readonly hostId?: string;
  readonly securityGroupId?: string;
}

/** The changes to a port. Omitted fields are not changed. */
export interface PortChange
  extends Partial<
    Pick<
      PortRecord,
      | 'name'
      | 'description'
      | 'adminStateUp'
      | 'deviceId'
      | 'deviceOwner'
      | 'hostId'
      | 'vnicType'
      | 'portSecurityEnabled'
      | 'dnsName'
      | 'allowedAddressPairs'
      | 'bindingProfile'
      | 'mac'
      | 'tags'
    >
  > {
  /** The complete list of the port's addresses. All other addresses of the port are released. */
  readonly fixedIps?: readonly FixedIpRequest[];
  readonly securityGroups?: readonly string[];
}

/**
 * Returns whether the caller may see and delete a port. The caller's project must own the port or the port's network.
 */
async function canManagePort(session: Session, caller: Caller, { projectId, networkId }: PortRecord): Promise<boolean> {
  if (canAccessProject(caller, projectId)) return true;
  return (await networks.get(session, networkId))?.projectId === caller.projectId;
}

/** Creates the port operations of the embedded network catalog. */
export function createPortOperations(context: NetworkContext) {
  const { store, clock } = context;

  /** Creates a port for an unknown port id. All ports created in this way are on the same network. */
  function acceptPort(caller: Caller, id: string): Promise<PortView> {
    rejectNul(id);
    return retryOnUniqueViolation(store, (tx) => {
      const networkId = derivedUuid('accepted-network');
      const { projectId } = caller;
      return insertPort(context, tx, caller, { id, networkId, projectId }, new NameCache(tx));
    });
  }

  async function getVisible(caller: Caller, id: string): Promise<PortView> {
    const port = await ports.get(store, id);
    if (!port && context.acceptsUnknownIds) return acceptPort(caller, id);
    if (!port || !(await canManagePort(store, caller, port))) throw portNotFound(id);
    return toPortView(store, port);
  }

  /** Replaces a port's addresses. Releases addresses that are not requested, and allocates the new ones. */
  async function replaceAddresses(tx: Tx, port: PortRecord, requests: readonly FixedIpRequest[]) {
    const findKeptAddress = (request: FixedIpRequest) =>
      port.fixedIps.find(
        (fixedIp) => request.address !== undefined && fixedIp.address === canonicalIp(request.address),
      );
    const remainingIps = requests.map(findKeptAddress).filter((fixedIp) => fixedIp !== undefined);
    const removedIps = port.fixedIps.filter((fixedIp) => !remainingIps.includes(fixedIp));
    await disassociateFloatingIps(tx, port, removedIps, clock.now());
    await releaseAddresses(tx, removedIps);
    const subnets = await subnetsById(tx, (await networks.get(tx, port.networkId))?.subnetIds ?? []);
    const newRequests = requests.filter((request) => !findKeptAddress(request));
    return sortAddresses([
      ...remainingIps,
      ...(await claimAddresses(tx, context.blocks, subnets, newRequests, port.id, port.mac)),
    ]);
  }

  /**
   * Returns the ids of the networks that the caller's project owns, because the project sees all ports on these
   * networks. Returns an empty list for administrators, who see all ports.
   */
  async function findOwnNetworkIds(caller: Caller): Promise<readonly string[]> {
    if (isAdmin(caller)) return [];
    const ownNetworks = store.db.selectFrom('networks').select('id').where('project_id', '=', caller.projectId);
    return (await ownNetworks.execute()).map(({ id }) => id);
  }

  /**
   * Adds a condition to a query, so that it selects only ports owned by the project or on its networks. The two parts
   * of the union use separate indexes.
   */
  function narrowToVisible(rows: RowQuery, projectId: string, networkIds: readonly string[]): RowQuery {
    if (networkIds.length === 0) return rows.where('project_id', '=', projectId);
    const selectSeqs = () => store.db.selectFrom('ports').select('seq');
    const ownSeqs = selectSeqs().where('project_id', '=', projectId);
    return rows.where(isInSubquery(store, 'seq', ownSeqs.union(selectSeqs().where('network_id', 'in', networkIds))));
  }

  const selectAllocations = (subnetId: string) =>
    store.db.selectFrom('ip_allocations').where('subnet_id', '=', subnetId);

  /** Returns the ids of the ports that have this IP address. At most one port per subnet has the address. */
  async function findHolderIds(address: string, subnetId: string | undefined): Promise<readonly string[]> {
    const addresses = subnetId === undefined ? store.db.selectFrom('ip_allocations') : selectAllocations(subnetId);
    const rows = await addresses.select('holder_id').where('address', '=', canonicalIp(address)).execute();
    return rows.map(({ holder_id }) => holder_id);
  }

  return {
    getPort: getVisible,

    async listPorts(caller: Caller, query: FullPortQuery = {}): Promise<readonly PortView[]> {
      const exactFilters = {
        network_id: query.networkId,
        name: query.name,
        project_id: query.projectId,
        mac: query.mac?.toLowerCase(),
      };
      // The port ids are read with a separate query. With a subquery, a database without statistics would read all
      // ports.
      const holderIds = query.address === undefined ? undefined : await findHolderIds(query.address, query.subnetId);
      // Lists of a server's ports, which are requested often, do not need this query, because such ports belong to the
      // server's project.
      const networkIds = query.deviceIds || query.ids ? [] : await findOwnNetworkIds(caller);
      const page = await listPage(store, ports, 'oldest first', query, (rows) => {
        let narrowed = isAdmin(caller) ? rows : narrowToVisible(rows, caller.projectId, networkIds);
        for (const [column, value] of Object.entries(exactFilters))
          if (value !== undefined) narrowed = narrowed.where(column, '=', value);
        if (query.ids) narrowed = narrowed.where('id', 'in', query.ids.length > 0 ? query.ids : ['']);
        if (query.deviceIds)
          narrowed = narrowed.where('device_id', 'in', query.deviceIds.length > 0 ? query.deviceIds : ['-']);
        if (query.securityGroupId !== undefined)
          narrowed = narrowed.where(hasItem(store, 'securityGroupIds', query.securityGroupId));
        if (holderIds) narrowed = narrowed.where('id', 'in', holderIds.length > 0 ? holderIds : ['']);
        else if (query.subnetId !== undefined)
          narrowed = narrowed.where('id', 'in', selectAllocations(query.subnetId).select('holder_id'));
        return narrowed;
      });
      const names = new NameCache(store);
      const views = [];
      const unindexedFilters = { status: query.status, deviceOwner: query.deviceOwner, hostId: query.hostId };
      for (const port of page) {
        const isMatch = Object.entries(unindexedFilters).every(
          ([field, value]) => value === undefined || port[field as keyof typeof unindexedFilters] === value,
        );
        if (isMatch) views.push(await toPortView(store, port, names));
      }
      return views;
    },

    async createPort(
      caller: Caller,
      portFields: Omit<PortSpec, 'id' | 'projectId' | 'bare'> & { readonly id?: string; readonly projectId?: string },
    ): Promise<PortView> {
      rejectNul(portFields);
      const { id = randomUUID(), projectId = caller.projectId } = portFields;
      return retryOnUniqueViolation(store, (tx) =>
        insertPort(context, tx, caller, { ...portFields, id, projectId, bare: true }, new NameCache(tx)),
      );
    },

    async updatePort(
      caller: Caller,
      id: string,
      { fixedIps, securityGroups, ...change }: PortChange,
    ): Promise<PortView> {
      rejectNul([fixedIps, securityGroups, change]);
      const portFields = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      return retryOnUniqueViolation(store, async (tx) => {
        const port = await ports.lock(tx, id);
        if (!port || !canAccessProject(caller, port.projectId)) throw portNotFound(id);
        const mac = change.mac?.toLowerCase() ?? port.mac;
        if (mac !== port.mac) await rejectUsedMac(tx, port.networkId, mac);
        const changedPort = {
          ...port,
          ...portFields,
          mac,
          fixedIps: fixedIps ? await replaceAddresses(tx, port, fixedIps) : port.fixedIps,
          securityGroupIds: securityGroups?.length
            ? (await findPortGroups(context, tx, port.projectId, securityGroups)).map((group) => group.id)
            : securityGroups
              ? []
              : port.securityGroupIds,
          updatedAt: clock.now(),
        };
        if (!changedPort.portSecurityEnabled) {
          const [groups, pairs] = [securityGroups?.length ?? 0, change.allowedAddressPairs?.length ?? 0];
          checkPortSecurity(
            { groups, pairs },
            { groups: changedPort.securityGroupIds.length, pairs: changedPort.allowedAddressPairs.length },
          );
        }
        for (const deviceId of new Set([port.deviceId, changedPort.deviceId]))
          notifyPortsChanged(context, tx, deviceId);
        return toPortView(tx, await ports.update(tx, { ...changedPort, status: portStatus(changedPort) }));
      });
    },

    /**
     * Deletes a port.
     *
     * @throws `PORT_OF_SERVICE` if the port belongs to a router
     */
    deletePort: (caller: Caller, id: string): Promise<void> =>
      store.transaction(async (tx) => {
        const port = await ports.lock(tx, id);
        if (!port || !(await canManagePort(tx, caller, port))) throw portNotFound(id);
        if (port.deviceOwner.startsWith('network:router') && port.deviceId !== '')
          throw new CatalogError(
            'PORT_OF_SERVICE',
            `Port ${id} cannot be deleted directly via the port API: has device owner ${port.deviceOwner}.`,
          );
        await removePort(tx, port, clock.now());
        notifyPortsChanged(context, tx, port.deviceId);
      }),
  };
}
