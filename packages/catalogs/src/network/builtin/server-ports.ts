import { retryOnUniqueViolation, type Tx } from '@apistrata/record-store';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import { canonicalIp } from '../ip-address.js';
import type { NewPort, PortBinding } from '../network-catalog.js';
import {
  allocateFromSubnets,
  hasFreeAddress,
  isAllocated,
  releaseAddresses,
  subnetOfAddress,
  subnetsById,
} from './ip-allocations.js';
import {
  getUsableNetwork,
  getVisibleNetwork,
  NameCache,
  type NetworkContext,
  notifyPortsChanged,
} from './network-context.js';
import { networkTables, type PortRecord } from './network-tables.js';
import {
  disassociateFloatingIps,
  insertPort,
  type PortView,
  portNotFound,
  portStatus,
  removePort,
  toPortView,
} from './port-records.js';
import { findGroup, preventGroupDeletion } from './security-groups.js';

const { ports } = networkTables;

/** Creates the operations of the embedded network catalog that assign ports to servers. */
export function createServerPortOperations(context: NetworkContext) {
  const { store, clock } = context;

  /**
   * Locks a server's ports and returns them in the order in which they were created. All changes to several ports of a
   * server lock the ports in this order, so that they do not deadlock.
   *
   * @param ids the ports to lock; default: all ports of the server
   */
  async function lockServerPorts(tx: Tx, deviceId: string, ids?: readonly string[]): Promise<PortRecord[]> {
    if (ids?.length === 0) return [];
    return ports.find(tx, (q) => {
      const allRows = q.where('device_id', '=', deviceId).orderBy('seq');
      const serverRows = ids ? allRows.where('id', 'in', ids) : allRows;
      return tx.kind === 'postgres' ? serverRows.forUpdate() : serverRows;
    });
  }

  function withBinding(port: PortRecord, binding: PortBinding): PortRecord {
    const boundPort = { ...port, ...binding, updatedAt: clock.now() };
    return { ...boundPort, status: portStatus(boundPort) };
  }

  return {
    async checkAddresses(caller: Caller, networkId: string, addresses?: readonly string[]): Promise<void> {
      const network = await getVisibleNetwork(context, caller, networkId);
      const subnets = await subnetsById(store, network.subnetIds);
      if (subnets.length === 0)
        throw new CatalogError(
          'NETWORK_WITHOUT_SUBNET',
          `Network ${networkId} requires a subnet in order to boot instances on.`,
        );
      for (const text of addresses ?? []) {
        const { subnet, address } = subnetOfAddress(subnets, text);
        if (await isAllocated(store, subnet.id, address))
          throw new CatalogError('ADDRESS_IN_USE', `Fixed IP address ${address} is already in use.`);
      }
      if (addresses) return;
      for (const version of new Set(subnets.map((subnet) => subnet.ipVersion))) {
        const freeAddressChecks = [];
        for (const subnet of subnets)
          if (subnet.ipVersion === version) freeAddressChecks.push(await hasFreeAddress(store, subnet));
        if (!freeAddressChecks.includes(true))
          throw new CatalogError('NO_FREE_ADDRESS', `No more IP addresses available on network ${networkId}.`);
      }
    },

    createPorts: (caller: Caller, requests: readonly NewPort[]): Promise<readonly PortView[]> =>
      retryOnUniqueViolation(store, async (tx) => {
        const names = new NameCache(tx);
        const createdPorts: PortView[] = [];
        // Ports are created in the order of their network ids, so that concurrent calls never deadlock.
        for (const [index, port] of [...requests.entries()].sort(([, a], [, b]) =>
          a.networkId < b.networkId ? -1 : 1,
        )) {
          const { key, addresses, ...given } = port;
          const fixedIps = addresses?.map((address) => ({ address }));
          createdPorts[index] = await insertPort(context, tx, caller, { ...given, id: key, fixedIps }, names);
        }
        return createdPorts;
      }),

    bindPort: (caller: Caller, id: string, binding: PortBinding): Promise<PortView> =>
      store.transaction(async (tx) => {
        const port = await ports.lock(tx, id);
        if (!port || !canAccessProject(caller, port.projectId)) throw portNotFound(id);
        if (port.deviceId !== '' && port.deviceId !== binding.deviceId)
          throw new CatalogError('PORT_IN_USE', `Port ${id} is still in use.`);
        return toPortView(tx, await ports.update(tx, withBinding(port, binding)));
      }),

    movePorts: (_caller: Caller, deviceId: string, hostId: string): Promise<void> =>
      store.transaction(async (tx) => {
        for (const port of await lockServerPorts(tx, deviceId))
          await ports.update(tx, withBinding(port, { deviceId, deviceOwner: port.deviceOwner, hostId }));
      }),

    releasePorts: (
      _caller: Caller,
      deviceId: string,
      released: { readonly owned: readonly string[]; readonly bound: readonly string[] },
    ): Promise<void> =>
      store.transaction(async (tx) => {
        for (const port of await lockServerPorts(tx, deviceId, [...released.owned, ...released.bound]))
          if (released.owned.includes(port.id)) await removePort(tx, port, clock.now());
          else if (released.bound.includes(port.id))
            await ports.update(tx, withBinding(port, { deviceId: '', deviceOwner: '', hostId: '' }));
      }),

    addFixedIp: (caller: Caller, deviceId: string, networkId: string): Promise<PortView> =>
      store.transaction(async (tx) => {
        const port = (await lockServerPorts(tx, deviceId)).find((p) => p.networkId === networkId);
        if (!port) throw new CatalogError('PORT_NOT_FOUND', `Server ${deviceId} has no port on network ${networkId}.`);
        const network = await getUsableNetwork(context, tx, caller, networkId);
        const fixedIp = await allocateFromSubnets(
          tx,
          context.blocks,
          await subnetsById(tx, network.subnetIds),
          port.id,
          port.mac,
        );
        if (!fixedIp)
          throw new CatalogError('NO_FREE_ADDRESS', `No more IP addresses available on network ${networkId}.`);
        notifyPortsChanged(context, tx, deviceId);
        const fixedIps = [...port.fixedIps, fixedIp];
        return toPortView(tx, await ports.update(tx, { ...port, fixedIps, updatedAt: clock.now() }));
      }),

    removeFixedIp: (_caller: Caller, deviceId: string, text: string): Promise<PortView> =>
      store.transaction(async (tx) => {
        const address = canonicalIp(text);
        for (const port of await lockServerPorts(tx, deviceId)) {
          const removedIp = port.fixedIps.find((fixedIp) => fixedIp.address === address);
          if (!removedIp) continue;
          await disassociateFloatingIps(tx, port, [removedIp], clock.now());
          await releaseAddresses(tx, [removedIp]);
          notifyPortsChanged(context, tx, deviceId);
          const fixedIps = port.fixedIps.filter((fixedIp) => fixedIp !== removedIp);
          return toPortView(tx, await ports.update(tx, { ...port, fixedIps, updatedAt: clock.now() }));
        }
        throw new CatalogError('ADDRESS_NOT_FOUND', `Server ${deviceId} does not have fixed IP ${text}.`);
      }),

    addSecurityGroup: (caller: Caller, deviceId: string, nameOrId: string): Promise<void> =>
      retryOnUniqueViolation(store, async (tx) => {
        const group = await findGroup(context, tx, caller.projectId, nameOrId);
        await preventGroupDeletion(tx, [group]);
        const { id } = group;
        for (const port of await lockServerPorts(tx, deviceId)) {
          if (port.securityGroupIds.includes(id)) continue;
          const securityGroupIds = [...port.securityGroupIds, id];
          await ports.update(tx, { ...port, securityGroupIds, updatedAt: clock.now() });
        }
        notifyPortsChanged(context, tx, deviceId);
      }),

    removeSecurityGroup: (caller: Caller, deviceId: string, nameOrId: string): Promise<void> =>
      retryOnUniqueViolation(store, async (tx) => {
        const { id } = await findGroup(context, tx, caller.projectId, nameOrId);
        const portsInGroup = (await lockServerPorts(tx, deviceId)).filter((port) => port.securityGroupIds.includes(id));
        if (portsInGroup.length === 0)
          throw new CatalogError(
            'SECURITY_GROUP_NOT_ASSOCIATED',
            `Security group ${nameOrId} not associated with the instance ${deviceId}`,
          );
        for (const port of portsInGroup) {
          const securityGroupIds = port.securityGroupIds.filter((other) => other !== id);
          await ports.update(tx, { ...port, securityGroupIds, updatedAt: clock.now() });
        }
        notifyPortsChanged(context, tx, deviceId);
      }),
  };
}
