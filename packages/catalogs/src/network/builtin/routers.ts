import { randomUUID } from 'node:crypto';
import { retryOnUniqueViolation, type Tx } from '@apistrata/record-store';
import { rejectNul } from '../../builtin/json-conditions.js';
import { listPage, type Page } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject, isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import { initialFields, type NetworkContext } from './network-context.js';
import { GATEWAY_PORT_OWNER, networkTables, type RouterRecord } from './network-tables.js';
import type { FixedIpRequest, PortView } from './port-records.js';
import { removeGateway, setGateway } from './router-gateways.js';
import { addInterface, type RouterInterface, removeInterface } from './router-interfaces.js';

export type { RouterInterface };

const { ports, routers } = networkTables;

/**
 * The fields of a new or changed router. Omitted fields have default values in a new router, and keep their values in
 * an existing router.
 */
export type RouterFields = Partial<
  Pick<RouterRecord, 'name' | 'description' | 'adminStateUp' | 'externalNetworkId' | 'enableSnat' | 'tags'>
> & {
  /** The requested addresses on the external network. Default: any free addresses. */
  readonly externalFixedIps?: readonly FixedIpRequest[];
};

function routerNotFound(id: string): CatalogError {
  return new CatalogError('ROUTER_NOT_FOUND', `Router ${id} could not be found`);
}

/** Creates the router operations of the embedded network catalog. Drivers, not the catalog, route packets. */
export function createRouterOperations(context: NetworkContext) {
  const { store, clock } = context;

  /** Calls `work` with one of the caller's routers, whose row is locked. */
  function withLockedRouter<T>(
    caller: Caller,
    id: string,
    work: (tx: Tx, router: RouterRecord) => Promise<T>,
  ): Promise<T> {
    return retryOnUniqueViolation(store, async (tx) => {
      const router = await routers.lock(tx, id);
      if (!router || !canAccessProject(caller, router.projectId)) throw routerNotFound(id);
      return work(tx, router);
    });
  }

  return {
    async getRouter(caller: Caller, id: string): Promise<RouterRecord> {
      const router = await routers.get(store, id);
      if (!router || !canAccessProject(caller, router.projectId)) throw routerNotFound(id);
      return router;
    },

    listRouters: (caller: Caller, query: { readonly name?: string } & Page = {}): Promise<readonly RouterRecord[]> =>
      listPage(store, routers, 'oldest first', query, (rows) => {
        const visibleRows = isAdmin(caller) ? rows : rows.where('project_id', '=', caller.projectId);
        return query.name === undefined ? visibleRows : visibleRows.where('name', '=', query.name);
      }),

    async createRouter(
      caller: Caller,
      routerFields: RouterFields & { readonly id?: string; readonly projectId?: string },
    ): Promise<RouterRecord> {
      rejectNul(routerFields);
      const { id = randomUUID(), projectId = caller.projectId, externalNetworkId = null, ...rest } = routerFields;
      const { externalFixedIps, ...fields } = rest;
      return store.transaction(async (tx) => {
        const unconnectedRouter = {
          ...initialFields(clock.now()),
          name: '',
          adminStateUp: true,
          enableSnat: true,
          ...fields,
          id,
          projectId,
          externalNetworkId: null,
          externalAddresses: [],
        };
        const createdRouter = await routers.insert(tx, unconnectedRouter);
        if (externalNetworkId === null) return createdRouter;
        const externalAddresses = await setGateway(
          context,
          tx,
          caller,
          createdRouter,
          externalNetworkId,
          externalFixedIps,
        );
        return routers.update(tx, { ...createdRouter, externalNetworkId, externalAddresses });
      });
    },

    async updateRouter(
      caller: Caller,
      id: string,
      { externalFixedIps, ...change }: RouterFields,
    ): Promise<RouterRecord> {
      rejectNul([externalFixedIps, change]);
      const routerFields = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      return withLockedRouter(caller, id, async (tx, router) => {
        const changedRouter = { ...router, ...routerFields, updatedAt: clock.now() };
        const { externalNetworkId } = changedRouter;
        const externalAddresses = await setGateway(context, tx, caller, router, externalNetworkId, externalFixedIps);
        return routers.update(tx, { ...changedRouter, externalAddresses });
      });
    },

    /**
     * Deletes a router.
     *
     * @throws `ROUTER_IN_USE` if the router has interfaces
     */
    deleteRouter: (caller: Caller, id: string): Promise<void> =>
      withLockedRouter(caller, id, async (tx, router) => {
        const routerPorts = await ports.find(tx, (q) => q.where('device_id', '=', id));
        if (routerPorts.some(({ deviceOwner }) => deviceOwner !== GATEWAY_PORT_OWNER))
          throw new CatalogError('ROUTER_IN_USE', `Router ${id} still has ports`);
        await removeGateway(tx, router, clock.now());
        await routers.delete(tx, id);
      }),

    addRouterInterface: (caller: Caller, id: string, at: RouterInterface): Promise<PortView> =>
      withLockedRouter(caller, id, async (tx, router) => {
        const port = await addInterface(context, tx, caller, router, at);
        await routers.update(tx, { ...router, updatedAt: clock.now() });
        return port;
      }),

    removeRouterInterface: (caller: Caller, id: string, at: RouterInterface): Promise<PortView> =>
      withLockedRouter(caller, id, async (tx, router) => {
        const port = await removeInterface(context, tx, router, at);
        await routers.update(tx, { ...router, updatedAt: clock.now() });
        return port;
      }),
  };
}
