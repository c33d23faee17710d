import { randomUUID } from 'node:crypto';
import { lookThenInsert, type Tx } from '@apistrata/record-store';
import { refuseNul } from '../../builtin/json-conditions.js';
import { listPage, type Page } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { isAdmin, owns } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import { allocateFrom, freeAddresses, subnetsById } from './ip-allocations.js';
import { dated, NameCache, type NetworkContext, networkNotFound } from './network-context.js';
import { networkTables, ROUTER_PORTS, type RouterRecord } from './network-tables.js';
import {
  type FixedIpRequest,
  insertPort,
  type PortView,
  portNotFound,
  presentPort,
  removePort,
  takeAddresses,
} from './port-records.js';

const { networks, ports, routers, subnets } = networkTables;

/** What may be said of a router; what is left out stays, or has its default. */
export type RouterFields = Partial<
  Pick<RouterRecord, 'name' | 'description' | 'adminStateUp' | 'externalNetworkId' | 'enableSnat' | 'tags'>
> & {
  /** Which addresses outside; left out: any one. */
  readonly externalFixedIps?: readonly FixedIpRequest[];
};

/** A router meets a network in a subnet (at its gateway address) or at a port made beforehand. */
export type RouterInterface = { readonly subnetId: string } | { readonly portId: string };

function routerNotFound(id: string): CatalogError {
  return new CatalogError('ROUTER_NOT_FOUND', `Router ${id} could not be found`);
}

/** The part of the embedded network catalog that keeps routers: who is connected to what, without any routing. */
export function routerVerbs(context: NetworkContext) {
  const { store, clock } = context;

  function changing<T>(caller: Caller, id: string, work: (tx: Tx, router: RouterRecord) => Promise<T>): Promise<T> {
    return lookThenInsert(store, async (tx) => {
      const router = await routers.lock(tx, id);
      if (!router || !owns(caller, router.projectId)) throw routerNotFound(id);
      return work(tx, router);
    });
  }

  /** The address a router has outside; the one it had before is given back. */
  async function externalAddresses(
    tx: Tx,
    routerId: string,
    networkId: string | null,
    before: RouterRecord['externalAddresses'],
    requests: readonly FixedIpRequest[] | undefined,
  ): Promise<RouterRecord['externalAddresses']> {
    await freeAddresses(tx, before);
    if (networkId === null) return [];
    const network = await networks.get(tx, networkId);
    if (!network) throw networkNotFound(networkId);
    if (!network.external) throw new CatalogError('SUBNET_INVALID', `Network ${networkId} is not an external network.`);
    const subnets = await subnetsById(tx, network.subnetIds);
    if (requests?.length) {
      const taken = await takeAddresses(tx, context.blocks, subnets, requests, routerId);
      return taken.map(({ subnetId, address }) => ({ subnetId, address }));
    }
    const fixedIp = await allocateFrom(tx, context.blocks, subnets, routerId);
    return fixedIp ? [{ subnetId: fixedIp.subnetId, address: fixedIp.address }] : [];
  }

  return {
    async getRouter(caller: Caller, id: string): Promise<RouterRecord> {
      const router = await routers.get(store, id);
      if (!router || !owns(caller, router.projectId)) throw routerNotFound(id);
      return router;
    },

    listRouters: (caller: Caller, query: { readonly name?: string } & Page = {}): Promise<readonly RouterRecord[]> =>
      listPage(store, routers, 'oldest first', query, (rows) => {
        const seen = isAdmin(caller) ? rows : rows.where('project_id', '=', caller.projectId);
        return query.name === undefined ? seen : seen.where('name', '=', query.name);
      }),

    async createRouter(
      caller: Caller,
      given: RouterFields & { readonly id?: string; readonly projectId?: string },
    ): Promise<RouterRecord> {
      refuseNul(given);
      const { id = randomUUID(), projectId = caller.projectId, externalNetworkId = null, ...rest } = given;
      const { externalFixedIps, ...fields } = rest;
      return store.transaction(async (tx) => {
        const addresses = await externalAddresses(tx, id, externalNetworkId, [], externalFixedIps);
        return routers.insert(tx, {
          ...dated(clock.now()),
          name: '',
          adminStateUp: true,
          enableSnat: true,
          ...fields,
          id,
          projectId,
          externalNetworkId,
          externalAddresses: addresses,
        });
      });
    },

    async updateRouter(
      caller: Caller,
      id: string,
      { externalFixedIps, ...change }: RouterFields,
    ): Promise<RouterRecord> {
      refuseNul([externalFixedIps, change]);
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      return changing(caller, id, async (tx, router) => {
        const changed = { ...router, ...given, updatedAt: clock.now() };
        if (changed.externalNetworkId === router.externalNetworkId && !externalFixedIps)
          return routers.update(tx, changed);
        const addresses = await externalAddresses(
          tx,
          id,
          changed.externalNetworkId,
          router.externalAddresses,
          externalFixedIps,
        );
        return routers.update(tx, { ...changed, externalAddresses: addresses });
      });
    },

    /** Throws `ROUTER_IN_USE` while it has interfaces. */
    deleteRouter: (caller: Caller, id: string): Promise<void> =>
      changing(caller, id, async (tx, router) => {
        if ((await ports.count(tx, (q) => q.where('device_id', '=', id))) > 0)
          throw new CatalogError('ROUTER_IN_USE', `Router ${id} still has ports`);
        await freeAddresses(tx, router.externalAddresses);
        await routers.delete(tx, id);
      }),

    addRouterInterface: (caller: Caller, id: string, at: RouterInterface): Promise<PortView> =>
      changing(caller, id, async (tx, router) => {
        const owner = { deviceId: id, deviceOwner: ROUTER_PORTS };
        if ('portId' in at) {
          const port = await ports.lock(tx, at.portId);
          if (!port || !owns(caller, port.projectId)) throw portNotFound(at.portId);
          if (port.deviceId !== '') throw new CatalogError('PORT_IN_USE', `Port ${at.portId} is in use.`);
          return presentPort(
            tx,
            await ports.update(tx, { ...port, ...owner, status: 'ACTIVE', updatedAt: clock.now() }),
          );
        }
        const subnet = await subnets.get(tx, at.subnetId);
        if (!subnet) throw new CatalogError('SUBNET_NOT_FOUND', `Subnet ${at.subnetId} could not be found.`);
        if (subnet.gatewayIp === null)
          throw new CatalogError('SUBNET_INVALID', `Subnet ${at.subnetId} must have a gateway IP.`);
        const spec = {
          ...owner,
          id: randomUUID(),
          networkId: subnet.networkId,
          projectId: router.projectId,
          fixedIps: [{ subnetId: subnet.id, address: subnet.gatewayIp }],
          securityGroups: [],
          bare: true,
        };
        return insertPort(context, tx, caller, spec, new NameCache(tx));
      }),

    removeRouterInterface: (caller: Caller, id: string, at: RouterInterface): Promise<PortView> =>
      changing(caller, id, async (tx) => {
        const mine = await ports.find(tx, (q) => q.where('device_id', '=', id));
        const port = mine.find((p) =>
          'portId' in at ? p.id === at.portId : p.fixedIps.some((fixedIp) => fixedIp.subnetId === at.subnetId),
        );
        if (!port) throw new CatalogError('PORT_NOT_FOUND', `Router ${id} does not have that interface.`);
        const shown = await presentPort(tx, port);
        await removePort(tx, port, clock.now());
        return shown;
      }),
  };
}
