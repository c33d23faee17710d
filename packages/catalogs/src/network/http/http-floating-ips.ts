import type { Caller } from '../../caller/caller.js';
import { isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { FloatingIp, FloatingIpQuery, Network } from '../network-catalog.js';
import {
  canAccess,
  type NetworkClient,
  projectIdOf,
  readFloatingIp,
  readNetwork,
  type WireResource,
} from './network-client.js';

const floatingErrors = { 404: 'FLOATING_IP_NOT_FOUND', 409: 'FLOATING_IP_IN_USE' } as const;

/** Creates the floating IP operations of the HTTP network catalog. */
export function httpFloatingIps(client: NetworkClient) {
  const path = (id: string) => `/floatingips/${encodeURIComponent(id)}`;

  /** Queries the pools and ports that `wireResources` refer to, and returns a function that converts a floating IP. */
  async function createFloatingIpReader(
    caller: Caller,
    wireResources: readonly WireResource[],
  ): Promise<(wire: WireResource) => FloatingIp> {
    const pools = new Set(wireResources.map((one) => one.floating_network_id));
    const portIdsWithoutDetails = wireResources
      .filter((one) => one.port_id && !one.port_details)
      .map((one) => one.port_id);
    const [networks, ports] = await Promise.all([
      client.service.listAny(caller, 'networks', 'id', [...pools], { fields: ['id', 'name'] }),
      client.service.listAny(caller, 'ports', 'id', portIdsWithoutDetails, { fields: ['id', 'device_id'] }),
    ]);
    const poolNames = new Map(networks.map((network) => [network.id, network.name as string]));
    const deviceIdByPortId = new Map(ports.map((port) => [port.id, (port.device_id as string) || null]));
    return (wire) =>
      readFloatingIp(
        wire,
        poolNames.get(wire.floating_network_id) ?? wire.floating_network_id,
        deviceIdByPortId.get(wire.port_id) ?? null,
      );
  }

  const toFloatingIp = async (caller: Caller, wire: WireResource): Promise<FloatingIp> =>
    (await createFloatingIpReader(caller, [wire]))(wire);

  async function fetchFloatingIp(caller: Caller, id: string): Promise<WireResource> {
    const { floatingip } = await client.send(caller, 'GET', path(id), undefined, floatingErrors);
    if (canAccess(caller, projectIdOf(floatingip))) return floatingip;
    throw new CatalogError('FLOATING_IP_NOT_FOUND', `Floating IP ${id} could not be found.`);
  }

  async function changeFloatingIp(caller: Caller, id: string, floatingip: object): Promise<FloatingIp> {
    await fetchFloatingIp(caller, id);
    const errors = { ...floatingErrors, 400: 'FLOATING_IP_UNREACHABLE' } as const;
    const body = await client.send(caller, 'PUT', path(id), { floatingip }, errors);
    return toFloatingIp(caller, body.floatingip);
  }

  const fetchPools = (caller: Caller): Promise<readonly WireResource[]> =>
    client.list(caller, 'networks', { 'router:external': 'True' });

  /** Finds a floating IP pool by id or name. Default: the default pool, or the only pool. */
  async function findPool(caller: Caller, nameOrId: string | undefined): Promise<Network | undefined> {
    const allPools = await fetchPools(caller);
    const matchingPool =
      nameOrId === undefined
        ? (allPools.find((pool) => pool.is_default) ?? (allPools.length === 1 ? allPools[0] : undefined))
        : allPools.find(({ id, name }) => id === nameOrId || name === nameOrId);
    return matchingPool && readNetwork(matchingPool);
  }

  return {
    listFloatingIpPools: async (caller: Caller): Promise<readonly Network[]> =>
      (await fetchPools(caller)).map(readNetwork),

    async listFloatingIps(caller: Caller, query: FloatingIpQuery = {}): Promise<readonly FloatingIp[]> {
      const wireResources = await client.list(caller, 'floatingips', {
        floating_ip_address: query.address,
        tenant_id: isAdmin(caller) ? query.projectId : caller.projectId,
        port_id: query.portId,
      });
      return wireResources.map(await createFloatingIpReader(caller, wireResources));
    },

    getFloatingIp: async (caller: Caller, id: string): Promise<FloatingIp> =>
      toFloatingIp(caller, await fetchFloatingIp(caller, id)),

    async allocateFloatingIp(caller: Caller, nameOrId?: string): Promise<FloatingIp> {
      const pool = await findPool(caller, nameOrId);
      if (!pool) throw new CatalogError('FLOATING_IP_POOL_NOT_FOUND', `Floating IP pool ${nameOrId ?? ''} not found.`);
      const floatingip = { floating_network_id: pool.id, tenant_id: caller.projectId };
      const errors = { 409: 'NO_FREE_ADDRESS', 404: 'FLOATING_IP_POOL_NOT_FOUND' } as const;
      const body = await client.send(caller, 'POST', '/floatingips', { floatingip }, errors);
      return readFloatingIp(body.floatingip, pool.name, null);
    },

    async releaseFloatingIp(caller: Caller, id: string): Promise<void> {
      await fetchFloatingIp(caller, id);
      await client.send(caller, 'DELETE', path(id), undefined, floatingErrors);
    },

    async associateFloatingIp(
      caller: Caller,
      id: string,
      { portId, fixedAddress }: { readonly portId: string; readonly fixedAddress?: string },
    ): Promise<FloatingIp> {
      await client.fetchPort(caller, portId);
      return changeFloatingIp(caller, id, {
        port_id: portId,
        ...(fixedAddress ? { fixed_ip_address: fixedAddress } : {}),
      });
    },

    disassociateFloatingIp: (caller: Caller, id: string): Promise<FloatingIp> =>
      changeFloatingIp(caller, id, { port_id: null }),
  };
}
