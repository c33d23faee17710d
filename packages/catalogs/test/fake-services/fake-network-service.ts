import { randomUUID } from 'node:crypto';
import type { FakeRequest, FakeResponse, FakeToken } from './fake-service.js';
import { startFake } from './fake-service.js';

type Resource = Record<string, any>;

const error = (status: number, type: string, message = type): FakeResponse => ({
  status,
  body: { NeutronError: { type, message, detail: '' } },
});

const singular: Readonly<Record<string, string>> = {
  networks: 'network',
  subnets: 'subnet',
  ports: 'port',
  'security-groups': 'security_group',
  'security-group-rules': 'security_group_rule',
  floatingips: 'floatingip',
  'rbac-policies': 'rbac_policy',
};

const notFound: Readonly<Record<string, string>> = {
  networks: 'NetworkNotFound',
  subnets: 'SubnetNotFound',
  ports: 'PortNotFound',
  'security-groups': 'SecurityGroupNotFound',
  'security-group-rules': 'SecurityGroupRuleNotFound',
  floatingips: 'FloatingIPNotFound',
  'rbac-policies': 'RbacPolicyNotFound',
};

/**
 * Starts a fake Network v2.0 server that filters collections, allocates addresses in order, and returns two items per
 * page. Project members see their own, shared and external resources, and cannot delete their `default` security group.
 * Only administrators can bind ports and see the projects that a network is shared with.
 */
export async function startFakeNetworks(tokens: ReadonlyMap<string, FakeToken>) {
  const collections = Object.fromEntries(Object.keys(singular).map((name) => [name, new Map<string, Resource>()]));
  const { networks, subnets, ports, floatingips } = collections as Record<string, Map<string, Resource>>;

  const addressesOf = (networkId: string) =>
    [...ports!.values()]
      .filter((p) => p.network_id === networkId)
      .flatMap((p) => p.fixed_ips.map((f: Resource) => f.ip_address));

  function fixedIps(
    networkId: string,
    expected: readonly Resource[] | undefined,
    remaining: readonly Resource[],
  ): Resource[] | FakeResponse {
    const offering = [...subnets!.values()].filter((subnet) => subnet.network_id === networkId);
    const usedAddresses = new Set(
      addressesOf(networkId).filter((address) => !remaining.some((k) => k.ip_address === address)),
    );
    const result: Resource[] = [];
    for (const one of expected ?? offering.map((subnet) => ({ subnet_id: subnet.id }))) {
      const subnet = offering.find((s) => s.id === (one as Resource).subnet_id) ?? offering[0];
      if (!subnet) return error(400, 'InvalidIpForNetwork');
      const prefix = subnet.cidr.replace(/0\/\d+$/, '');
      const requested = (one as Resource).ip_address as string | undefined;
      if (requested && !requested.startsWith(prefix)) return error(400, 'InvalidIpForNetwork');
      if (requested && usedAddresses.has(requested)) return error(409, 'IpAddressAlreadyAllocated');
      const free =
        requested ??
        Array.from({ length: subnet.size ?? 50 }, (_, i) => `${prefix}${i + 2}`).find((a) => !usedAddresses.has(a));
      if (!free) return error(409, 'IpAddressGenerationFailure');
      usedAddresses.add(free);
      result.push({ subnet_id: subnet.id, ip_address: free });
    }
    return result;
  }

  const grants = (token: FakeToken, network: Resource) =>
    [...collections['rbac-policies']!.values()].some(
      (grant) => grant.object_id === network.id && grant.target_project === token.projectId,
    );

  /** Returns a resource as the token's user sees it; undefined if the user may not see the resource. */
  function shown(token: FakeToken, name: string, resource: Resource): Resource | undefined {
    if (name === 'networks' && !token.admin && grants(token, resource)) return { ...resource, shared: true };
    if (token.admin || resource.tenant_id === token.projectId) return resource;
    if (name === 'subnets') return resource;
    return name === 'networks' && (resource.shared || resource['router:external']) ? resource : undefined;
  }

  function list(name: string, { query, token }: FakeRequest): FakeResponse {
    const filters = [...new Set(query.keys())].filter((key) => key !== 'fields' && key !== 'marker');
    const matches = (resource: Resource, key: string) => {
      const field = key === 'project_id' ? 'tenant_id' : key;
      if (key === 'fixed_ips')
        return query
          .getAll(key)
          .every((f) => resource.fixed_ips.some((x: Resource) => `ip_address=${x.ip_address}` === f));
      return query.getAll(key).some((value) => String(resource[field]).toLowerCase() === value.toLowerCase());
    };
    const seen = [...collections[name]!.values()].flatMap((resource) => shown(token!, name, resource) ?? []);
    const found = seen.filter((resource) => filters.every((key) => matches(resource, key)));
    const from = query.get('marker') ? found.findIndex((resource) => resource.id === query.get('marker')) + 1 : 0;
    const page = found.slice(from, from + 2);
    const key = name.replaceAll('-', '_');
    const links = found.length > from + 2 ? { [`${key}_links`]: [{ rel: 'next', href: 'elsewhere' }] } : {};
    return { status: 200, body: { [key]: page, ...links } };
  }

  function create(name: string, expected: Resource): FakeResponse {
    const resource: Resource = {
      id: randomUUID(),
      tenant_id: 'service-project',
      name: '',
      status: 'ACTIVE',
      ...expected,
    };
    if (name === 'ports') {
      if (!networks!.has(resource.network_id)) return error(404, 'NetworkNotFound');
      const given = fixedIps(resource.network_id, expected.fixed_ips, []);
      if (!Array.isArray(given)) return given;
      const mac = { mac_address: `fa:16:3e:00:00:${ports!.size.toString(16).padStart(2, '0')}` };
      Object.assign(resource, {
        ...mac,
        device_id: '',
        security_groups: ['default-id'],
        ...expected,
        fixed_ips: given,
      });
    }
    if (name === 'floatingips') {
      resource.floating_ip_address = `203.0.113.${floatingips!.size + 1}`;
      Object.assign(resource, { port_id: null, fixed_ip_address: null, status: 'DOWN' });
    }
    if (name === 'security-groups') resource.security_group_rules = [];
    collections[name]!.set(resource.id, resource);
    return { status: 201, body: { [singular[name]!]: resource } };
  }

  function update(name: string, resource: Resource, change: Resource): FakeResponse {
    if (name === 'ports' && change.fixed_ips) {
      const given = fixedIps(resource.network_id, change.fixed_ips, resource.fixed_ips);
      if (!Array.isArray(given)) return given;
      Object.assign(resource, { ...change, fixed_ips: given });
    } else Object.assign(resource, change);
    if (name === 'floatingips') {
      const port = ports!.get(resource.port_id);
      resource.fixed_ip_address = port ? (change.fixed_ip_address ?? port.fixed_ips[0].ip_address) : null;
      resource.status = port ? 'ACTIVE' : 'DOWN';
    }
    return { status: 200, body: { [singular[name]!]: resource } };
  }

  const fake = await startFake(tokens, (request) => {
    const { method, path, token, json, query } = request;
    if (!token) return { status: 401, body: { error: { message: 'Authentication required' } } };
    if (path.startsWith('/v2.0/auto-allocated-topology/')) {
      const id = networks!.keys().next().value;
      return { status: 200, body: { auto_allocated_topology: query.get('fields') ? { id: 'dry-run=pass' } : { id } } };
    }
    const [, name = '', id] = /^\/v2\.0\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
    const collection = collections[name];
    if (!collection) return error(404, 'HTTPNotFound');
    const body = json?.[singular[name]!];
    if (body && 'binding:host_id' in body && !token.admin) return error(403, 'PolicyNotAuthorized');
    if (body?.tenant_id && body.tenant_id !== token.projectId && !token.admin) return error(403, 'PolicyNotAuthorized');
    if (!id) return method === 'GET' ? list(name, request) : create(name, body);
    const resource = collection.get(id);
    const seen = resource && shown(token, name, resource);
    if (!resource || !seen) return error(404, notFound[name]!);
    if (method === 'GET') return { status: 200, body: { [singular[name]!]: seen } };
    if (method === 'PUT') return update(name, resource, body);
    if (name === 'security-groups' && resource.name === 'default' && !token.admin)
      return error(409, 'SecurityGroupCannotRemoveDefault', 'Insufficient rights for removing default security group.');
    collection.delete(id);
    return { status: 204 };
  });
  return Object.assign(fake, { things: collections as Record<string, Map<string, Resource>> });
}
