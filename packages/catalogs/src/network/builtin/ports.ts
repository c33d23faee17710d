import { randomUUID } from 'node:crypto';
import { isOneOf, type RowQuery, retryOnUniqueViolation, type Session, type Tx } from '@apistrata/record-store';
import { derivedUuid } from '../../builtin/derived-uuid.js';
import { hasItem, rejectNul } from '../../builtin/json-conditions.js';
import { listPage, type Page } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { isAdmin, owns } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import { canonicalIp } from '../ip-address.js';
import type { PortQuery } from '../network-catalog.js';
import { freeAddresses, subnetsById } from './ip-allocations.js';
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
  presentPort,
  rejectUsedMac,
  removePort,
  sortAddresses,
} from './port-records.js';
import { groupsFor } from './security-groups.js';

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
  if (owns(caller, projectId)) return true;
  return (await networks.get(session, networkId))?.projectId === caller.projectId;
}

/** Creates the port operations of the embedded network catalog. */
export function portVerbs(context: NetworkContext) {
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
    if (!port && context.accept) return acceptPort(caller, id);
    if (!port || !(await canManagePort(store, caller, port))) throw portNotFound(id);
    return presentPort(store, port);
  }

  /** Replaces a port's addresses. Releases addresses that are not requested, and allocates the new ones. */
  async function replaceAddresses(tx: Tx, port: PortRecord, requests: readonly FixedIpRequest[]) {
    const keptAddress = (request: FixedIpRequest) =>
      port.fixedIps.find(
        (fixedIp) => request.address !== undefined && fixedIp.address === canonicalIp(request.address),
      );
    const remaining = requests.map(keptAddress).filter((fixedIp) => fixedIp !== undefined);
    const removed = port.fixedIps.filter((fixedIp) => !remaining.includes(fixedIp));
    await disassociateFloatingIps(tx, port, removed, clock.now());
    await freeAddresses(tx, removed);
    const subnets = await subnetsById(tx, (await networks.get(tx, port.networkId))?.subnetIds ?? []);
    const fresh = requests.filter((request) => !keptAddress(request));
    return sortAddresses([
      ...remaining,
      ...(await claimAddresses(tx, context.blocks, subnets, fresh, port.id, port.mac)),
    ]);
  }

  /**
   * Returns the ids of the networks that the caller's project owns, because the project sees all ports on these
   * networks. Returns an empty list for administrators, who see all ports.
   */
  async function ownNetworks(caller: Caller): Promise<readonly string[]> {
    if (isAdmin(caller)) return [];
    const own = store.db.selectFrom('networks').select('id').where('project_id', '=', caller.projectId);
    return (await own.execute()).map(({ id }) => id);
  }

  /**
   * Adds a condition to a query, so that it selects only ports owned by the project or on its networks. The two parts
   * of the union use separate indexes.
   */
  function visiblePorts(rows: RowQuery, projectId: string, networkIds: readonly string[]): RowQuery {
    if (networkIds.length === 0) return rows.where('project_id', '=', projectId);
    const seqs = () => store.db.selectFrom('ports').select('seq');
    const own = seqs().where('project_id', '=', projectId);
    return rows.where(isOneOf(store, 'seq', own.union(seqs().where('network_id', 'in', networkIds))));
  }

  const addressesIn = (subnetId: string) => store.db.selectFrom('ip_allocations').where('subnet_id', '=', subnetId);

  /** Returns the ids of the ports that have an address. At most one port per subnet has the address. */
  async function holdersOf(address: string, subnetId: string | undefined): Promise<readonly string[]> {
    const addresses = subnetId === undefined ? store.db.selectFrom('ip_allocations') : addressesIn(subnetId);
    const rows = await addresses.select('holder_id').where('address', '=', canonicalIp(address)).execute();
    return rows.map(({ holder_id }) => holder_id);
  }

  return {
    getPort: getVisible,

    async listPorts(caller: Caller, query: FullPortQuery = {}): Promise<readonly PortView[]> {
      const equal = {
        network_id: query.networkId,
        name: query.name,
        project_id: query.projectId,
        mac: query.mac?.toLowerCase(),
      };
      // The port ids are read with a separate query. With a subquery, a database without statistics would read all
      // ports.
      const holders = query.address === undefined ? undefined : await holdersOf(query.address, query.subnetId);
      // A list of a server's ports, which is requested often, skips this query because such ports belong to the
      // server's project.
      const networkIds = query.deviceIds || query.ids ? [] : await ownNetworks(caller);
      const page = await listPage(store, ports, 'oldest first', query, (rows) => {
        let narrowed = isAdmin(caller) ? rows : visiblePorts(rows, caller.projectId, networkIds);
        for (const [column, value] of Object.entries(equal))
          if (value !== undefined) narrowed = narrowed.where(column, '=', value);
        if (query.ids) narrowed = narrowed.where('id', 'in', query.ids.length > 0 ? query.ids : ['']);
        if (query.deviceIds)
          narrowed = narrowed.where('device_id', 'in', query.deviceIds.length > 0 ? query.deviceIds : ['-']);
        if (query.securityGroupId !== undefined)
          narrowed = narrowed.where(hasItem(store, 'securityGroupIds', query.securityGroupId));
        if (holders) narrowed = narrowed.where('id', 'in', holders.length > 0 ? holders : ['']);
        else if (query.subnetId !== undefined)
          narrowed = narrowed.where('id', 'in', addressesIn(query.subnetId).select('holder_id'));
        return narrowed;
      });
      const names = new NameCache(store);
      const views = [];
      const exact = { status: query.status, deviceOwner: query.deviceOwner, hostId: query.hostId };
      for (const port of page) {
        const matches = Object.entries(exact).every(
          ([field, value]) => value === undefined || port[field as keyof typeof exact] === value,
        );
        if (matches) views.push(await presentPort(store, port, names));
      }
      return views;
    },

    async createPort(
      caller: Caller,
      given: Omit<PortSpec, 'id' | 'projectId' | 'bare'> & { readonly id?: string; readonly projectId?: string },
    ): Promise<PortView> {
      rejectNul(given);
      const { id = randomUUID(), projectId = caller.projectId } = given;
      return retryOnUniqueViolation(store, (tx) =>
        insertPort(context, tx, caller, { ...given, id, projectId, bare: true }, new NameCache(tx)),
      );
    },

    async updatePort(
      caller: Caller,
      id: string,
      { fixedIps, securityGroups, ...change }: PortChange,
    ): Promise<PortView> {
      rejectNul([fixedIps, securityGroups, change]);
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      return retryOnUniqueViolation(store, async (tx) => {
        const port = await ports.lock(tx, id);
        if (!port || !owns(caller, port.projectId)) throw portNotFound(id);
        const mac = change.mac?.toLowerCase() ?? port.mac;
        if (mac !== port.mac) await rejectUsedMac(tx, port.networkId, mac);
        const changed = {
          ...port,
          ...given,
          mac,
          fixedIps: fixedIps ? await replaceAddresses(tx, port, fixedIps) : port.fixedIps,
          securityGroupIds: securityGroups?.length
            ? (await groupsFor(context, tx, port.projectId, securityGroups)).map((group) => group.id)
            : securityGroups
              ? []
              : port.securityGroupIds,
          updatedAt: clock.now(),
        };
        if (!changed.portSecurityEnabled) {
          const [groups, pairs] = [securityGroups?.length ?? 0, change.allowedAddressPairs?.length ?? 0];
          checkPortSecurity(
            { groups, pairs },
            { groups: changed.securityGroupIds.length, pairs: changed.allowedAddressPairs.length },
          );
        }
        for (const deviceId of new Set([port.deviceId, changed.deviceId])) notifyPortsChanged(context, tx, deviceId);
        return presentPort(tx, await ports.update(tx, { ...changed, status: portStatus(changed) }));
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
