import type { Caller } from '../../caller/caller.js';
import { canAccessProject } from '../../caller/caller-scope.js';
import { CatalogError, type CatalogErrorCode } from '../../errors/catalog-error.js';
import type { ActingUser, ServiceClient } from '../../http/service-client.js';
import type { FixedIp } from '../fixed-ip.js';
import type { FloatingIp, Network, Port, SecurityGroup, SecurityGroupRule, Subnet } from '../network-catalog.js';

export type WireResource = Readonly<Record<string, any>>;
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;
export type ErrorCodes = Readonly<Record<number, CatalogErrorCode>>;

/** The maximum number of ids per request, because proxies limit the length of URLs. */
const IDS_PER_REQUEST = 50;

export function projectIdOf(wire: WireResource): string {
  return wire.project_id ?? wire.tenant_id ?? '';
}

export function readNetwork(wire: WireResource): Network {
  return {
    id: wire.id,
    name: wire.name ?? '',
    projectId: projectIdOf(wire),
    adminStateUp: wire.admin_state_up ?? true,
    status: wire.status ?? '',
    shared: wire.shared ?? false,
    external: wire['router:external'] ?? false,
    mtu: wire.mtu ?? 1500,
    subnetIds: wire.subnets ?? [],
  };
}

export function readSubnet(wire: WireResource): Subnet {
  return {
    id: wire.id,
    networkId: wire.network_id,
    ipVersion: wire.ip_version,
    cidr: wire.cidr,
    gatewayIp: wire.gateway_ip ?? null,
    dnsNameservers: wire.dns_nameservers ?? [],
    hostRoutes: wire.host_routes ?? [],
    enableDhcp: wire.enable_dhcp ?? true,
  };
}

export function readRule(wire: WireResource): SecurityGroupRule {
  return {
    id: wire.id,
    securityGroupId: wire.security_group_id,
    direction: wire.direction,
    ethertype: wire.ethertype,
    protocol: wire.protocol ?? null,
    portMin: wire.port_range_min ?? null,
    portMax: wire.port_range_max ?? null,
    remoteCidr: wire.remote_ip_prefix ?? null,
    remoteGroupId: wire.remote_group_id ?? null,
    description: wire.description ?? '',
  };
}

export function readGroup(wire: WireResource): SecurityGroup {
  return {
    id: wire.id,
    name: wire.name,
    description: wire.description ?? '',
    projectId: projectIdOf(wire),
    rules: (wire.security_group_rules ?? []).map(readRule),
  };
}

/**
 * Returns whether the caller may see and change a project's resources. If the caller has a token, the network service
 * has checked this already. Otherwise, the request has the service user's token, which can access all projects, and
 * this client must check the caller's project.
 */
export function canAccess(caller: Caller, projectId: string): boolean {
  return caller.token !== undefined || canAccessProject(caller, projectId);
}

/**
 * A client that sends requests to the network service on behalf of the caller, so that the service applies its policies
 * to the caller. On its own behalf (`service`), the engine only queries resources, binds ports to hosts, and deletes
 * ports that it has created.
 */
export class NetworkClient {
  readonly #client: ServiceClient;
  readonly #as: ActingUser;
  /** A client of the same network service that acts on behalf of the engine itself. */
  readonly service: NetworkClient;

  constructor(client: ServiceClient, as: ActingUser = 'caller') {
    this.#client = client;
    this.#as = as;
    this.service = as === 'service' ? this : new NetworkClient(client, 'service');
  }

  async send(caller: Caller, method: string, path: string, json?: unknown, errors?: ErrorCodes): Promise<any> {
    return (await this.#client.request(method, path, { caller, as: this.#as, json, errors })).body;
  }

  /** Lists all items of a collection that match the query, across all pages. */
  async list(caller: Caller, collection: string, query: Query = {}): Promise<readonly WireResource[]> {
    const items: WireResource[] = [];
    let marker: string | undefined;
    do {
      const request = { caller, as: this.#as, query: { ...query, marker } };
      const { body } = await this.#client.request('GET', `/${collection}`, request);
      const page: readonly WireResource[] = body[collection.replaceAll('-', '_')];
      items.push(...page);
      const hasNextPage = (body[`${collection.replaceAll('-', '_')}_links`] ?? []).some(
        (link: WireResource) => link.rel === 'next',
      );
      marker = hasNextPage ? page.at(-1)?.id : undefined;
    } while (marker !== undefined);
    return items;
  }

  /** Lists the items in which `field` has one of the values, with several requests if necessary. */
  async listAny(caller: Caller, collection: string, field: string, values: readonly string[], query: Query = {}) {
    const items: WireResource[] = [];
    for (let at = 0; at < values.length; at += IDS_PER_REQUEST)
      items.push(
        ...(await this.list(caller, collection, { ...query, [field]: values.slice(at, at + IDS_PER_REQUEST) })),
      );
    return items;
  }

  async getNetwork(caller: Caller, id: string): Promise<Network> {
    const body = await this.send(caller, 'GET', `/networks/${encodeURIComponent(id)}`, undefined, {
      404: 'NETWORK_NOT_FOUND',
    });
    const [network] = await this.filterVisible(caller, [readNetwork(body.network)]);
    if (network) return network;
    throw new CatalogError('NETWORK_NOT_FOUND', `Network ${id} could not be found.`);
  }

  /** Returns the given networks that the caller may see. */
  async filterVisible(caller: Caller, networks: readonly Network[]): Promise<readonly Network[]> {
    const isVisible = ({ shared, external, projectId }: Network) => shared || external || canAccess(caller, projectId);
    const hiddenIds = networks.filter((network) => !isVisible(network)).map(({ id }) => id);
    if (hiddenIds.length === 0) return networks;
    // The service reports sharing with individual projects only in RBAC policies, not in the network.
    const query = { object_type: 'network', action: 'access_as_shared' };
    const request = this.service.listAny(caller, 'rbac-policies', 'object_id', hiddenIds, query);
    const policies = await request.catch((error) => {
      if (error instanceof CatalogError && error.kind !== 'unavailable') return [];
      throw error;
    });
    const ownPolicies = policies.filter(
      (policy) => (policy.target_project ?? policy.target_tenant) === caller.projectId,
    );
    const shared = new Set(ownPolicies.map((policy) => policy.object_id as string));
    return networks.filter((network) => isVisible(network) || shared.has(network.id));
  }

  async fetchPort(caller: Caller, id: string): Promise<WireResource> {
    const { port } = await this.send(caller, 'GET', `/ports/${encodeURIComponent(id)}`, undefined, {
      404: 'PORT_NOT_FOUND',
    });
    if (canAccess(caller, projectIdOf(port))) return port;
    throw new CatalogError('PORT_NOT_FOUND', `Port ${id} could not be found.`);
  }

  /**
   * Converts ports from their JSON format, and adds network names, group names and floating IPs from three other
   * collections. The collections are queried on behalf of the engine, because the caller's port may be on another
   * project's network.
   */
  async readPorts(caller: Caller, wireResources: readonly WireResource[]): Promise<Port[]> {
    return wireResources.length === 0 ? [] : wireResources.map(await this.#portReader(caller, wireResources));
  }

  /** Converts a single port from its JSON format. */
  async readPort(caller: Caller, wire: WireResource): Promise<Port> {
    return (await this.#portReader(caller, [wire]))(wire);
  }

  async #portReader(caller: Caller, wireResources: readonly WireResource[]): Promise<(wire: WireResource) => Port> {
    const distinct = (ids: readonly string[]) => [...new Set(ids)];
    const fields = { fields: ['id', 'name'] };
    const [networks, groups, floating] = await Promise.all([
      this.service.listAny(caller, 'networks', 'id', distinct(wireResources.map((port) => port.network_id)), fields),
      this.service.listAny(
        caller,
        'security-groups',
        'id',
        distinct(wireResources.flatMap((port) => port.security_groups ?? [])),
        fields,
      ),
      this.service.listAny(caller, 'floatingips', 'port_id', distinct(wireResources.map((port) => port.id))),
    ]);
    const names = new Map([...networks, ...groups].map(({ id, name }) => [id as string, name as string]));
    return (port) => readPort(port, names, floating);
  }
}

function readPort(port: WireResource, names: ReadonlyMap<string, string>, floating: readonly WireResource[]): Port {
  const floatingIpsOf = (address: string) =>
    floating.filter((one) => one.port_id === port.id && one.fixed_ip_address === address);
  const fixedIps = (port.fixed_ips ?? []).map(
    (fixedIp: WireResource): FixedIp => ({
      address: fixedIp.ip_address,
      version: fixedIp.ip_address.includes(':') ? 6 : 4,
      subnetId: fixedIp.subnet_id,
      floating: floatingIpsOf(fixedIp.ip_address).map((one) => one.floating_ip_address),
    }),
  );
  return {
    id: port.id,
    name: port.name ?? '',
    projectId: projectIdOf(port),
    networkId: port.network_id,
    networkName: names.get(port.network_id) ?? port.network_id,
    mac: port.mac_address,
    fixedIps,
    securityGroups: (port.security_groups ?? []).map((id: string) => ({ id, name: names.get(id) ?? id })),
    status: port.status,
    adminStateUp: port.admin_state_up ?? true,
    deviceId: port.device_id ?? '',
    deviceOwner: port.device_owner ?? '',
    hostId: port['binding:host_id'] ?? '',
    hasResourceRequest: Object.keys(port.resource_request ?? {}).length > 0,
    vnicType: port['binding:vnic_type'] ?? 'normal',
  };
}

export function readFloatingIp(wire: WireResource, pool: string, deviceId: string | null): FloatingIp {
  return {
    id: wire.id,
    address: wire.floating_ip_address,
    projectId: projectIdOf(wire),
    networkId: wire.floating_network_id,
    pool,
    portId: wire.port_id ?? null,
    fixedAddress: wire.fixed_ip_address ?? null,
    deviceId: wire.port_details?.device_id || deviceId,
    status: wire.status ?? '',
  };
}
