import { checkOptions } from '@apistrata/record-store/options';
import type { Caller } from '../../caller/caller.js';
import { CatalogError } from '../../errors/catalog-error.js';
import { type HttpCatalogOptions, httpCatalogOptions, ServiceClient } from '../../http/service-client.js';
import { canonicalIp, cidrOf, contains, parseIp } from '../ip-address.js';
import type { Network, NetworkCatalog, NetworkQuery, Subnet } from '../network-catalog.js';
import { httpFloatingIps } from './http-floating-ips.js';
import { httpPorts } from './http-ports.js';
import { createGroupResolver, httpSecurityGroups } from './http-security-groups.js';
import { NetworkClient, readNetwork, readSubnet } from './network-client.js';

/** Creates a network catalog that calls the public API (version 2.0) of a network service. */
export function httpNetworks(options: HttpCatalogOptions): NetworkCatalog {
  checkOptions('httpNetworks()', options, httpCatalogOptions);
  const client = new NetworkClient(new ServiceClient('network', '/v2.0', options));
  const resolveNames = createGroupResolver(client);

  async function availableNetworks(caller: Caller): Promise<readonly Network[]> {
    const [own, shared] = await Promise.all([
      client.list(caller, 'networks', { tenant_id: caller.projectId, shared: 'False' }),
      client.list(caller, 'networks', { shared: 'True' }),
    ]);
    return [...own, ...shared].map(readNetwork).filter((network) => network.adminStateUp);
  }

  return {
    ...httpPorts(client, resolveNames),
    ...httpSecurityGroups(client),
    ...httpFloatingIps(client),
    resolveSecurityGroups: resolveNames,
    availableNetworks,
    getNetwork: (caller, id) => client.getNetwork(caller, id),

    async getSubnet(caller: Caller, id: string): Promise<Subnet> {
      const errors = { 404: 'SUBNET_NOT_FOUND' } as const;
      const body = await client.send(caller, 'GET', `/subnets/${encodeURIComponent(id)}`, undefined, errors);
      const subnet = readSubnet(body.subnet);
      // A caller that may see a network may see the network's subnets.
      await client.getNetwork(caller, subnet.networkId);
      return subnet;
    },

    async countFreePorts(caller: Caller): Promise<number> {
      const path = `/quotas/${encodeURIComponent(caller.projectId)}/details`;
      // If the service does not have this API, the number of free ports counts as unlimited, and the service itself
      // rejects ports that exceed the quota.
      const body = await client.send(caller, 'GET', path).catch((error: unknown) => {
        if (error instanceof CatalogError && error.kind !== 'unavailable') return undefined;
        throw error;
      });
      const { limit = -1, used = 0, reserved = 0 } = body?.quota?.port ?? {};
      return limit < 0 ? Number.POSITIVE_INFINITY : Math.max(0, limit - used - reserved);
    },

    async listNetworks(caller: Caller, query: NetworkQuery = {}): Promise<readonly Network[]> {
      const formatBoolean = (value: boolean | undefined) =>
        value === undefined ? undefined : value ? 'True' : 'False';
      const commonParameters = {
        name: query.name,
        tenant_id: query.projectId,
        shared: formatBoolean(query.shared),
        'router:external': formatBoolean(query.external),
      };
      const networks = query.ids
        ? await client.listAny(caller, 'networks', 'id', query.ids, commonParameters)
        : await client.list(caller, 'networks', commonParameters);
      return client.filterVisible(caller, networks.map(readNetwork));
    },

    async autoNetwork(caller: Caller, { dryRun = false } = {}): Promise<Network | null> {
      const path = `/auto-allocated-topology/${encodeURIComponent(caller.projectId)}`;
      const errors = { 404: 'NO_AUTO_NETWORK', 400: 'NO_AUTO_NETWORK', 409: 'NO_AUTO_NETWORK' } as const;
      const body = await client.send(caller, 'GET', dryRun ? `${path}?fields=dry-run` : path, undefined, errors);
      return dryRun ? null : client.getNetwork(caller, body.auto_allocated_topology.id);
    },

    async checkAddresses(caller: Caller, networkId: string, addresses: readonly string[] = []): Promise<void> {
      await client.getNetwork(caller, networkId);
      const subnets = await client.list(caller, 'subnets', { network_id: networkId });
      if (subnets.length === 0)
        throw new CatalogError(
          'NETWORK_WITHOUT_SUBNET',
          `Network ${networkId} requires a subnet in order to boot instances on.`,
        );
      for (const text of addresses) {
        const address = parseIp(text);
        const isInSubnet = address && subnets.some(({ cidr }) => contains(cidrOf(cidr), address));
        if (!isInSubnet)
          throw new CatalogError(
            'ADDRESS_NOT_IN_SUBNET',
            `IP address ${text} is not a valid IP for any subnet of the network.`,
          );
        const fixed_ips = `ip_address=${canonicalIp(text)}`;
        if ((await client.list(caller, 'ports', { network_id: networkId, fixed_ips, fields: 'id' })).length > 0)
          throw new CatalogError('ADDRESS_IN_USE', `Fixed IP address ${text} is already in use.`);
      }
    },
  };
}
