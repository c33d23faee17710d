import { randomUUID } from 'node:crypto';
import type { FakeAnswer, FakeRequest, FakeToken } from './fake-service.js';
import { startFake } from './fake-service.js';

type Thing = Record<string, any>;

const error = (status: number, type: string, message = type): FakeAnswer => ({
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
 * Network v2.0: collections with filters, addresses given out in order, two per page. Members see what is theirs, shared
 * or external, and keep their `default` group; only administrators bind ports and see who else a network is shared with.
 */
export async function startFakeNetworks(tokens: ReadonlyMap<string, FakeToken>) {
  const collections = Object.fromEntries(Object.keys(singular).map((name) => [name, new Map<string, Thing>()]));
  const { networks, subnets, ports, floatingips } = collections as Record<string, Map<string, Thing>>;

  const addressesOf = (networkId: string) =>
    [...ports!.values()]
      .filter((p) => p.network_id === networkId)
      .flatMap((p) => p.fixed_ips.map((f: Thing) => f.ip_address));

  function fixedIps(
    networkId: string,
    wanted: readonly Thing[] | undefined,
    kept: readonly Thing[],
  ): Thing[] | FakeAnswer {
    const offering = [...subnets!.values()].filter((subnet) => subnet.network_id === networkId);
    const taken = new Set(addressesOf(networkId).filter((address) => !kept.some((k) => k.ip_address === address)));
    const result: Thing[] = [];
    for (const one of wanted ?? offering.map((subnet) => ({ subnet_id: subnet.id }))) {
      const subnet = offering.find((s) => s.id === (one as Thing).subnet_id) ?? offering[0];
      if (!subnet) return error(400, 'InvalidIpForNetwork');
      const prefix = subnet.cidr.replace(/0\/\d+$/, '');
      const asked = (one as Thing).ip_address as string | undefined;
      if (asked && !asked.startsWith(prefix)) return error(400, 'InvalidIpForNetwork');
      if (asked && taken.has(asked)) return error(409, 'IpAddressAlreadyAllocated');
      const free =
        asked ?? Array.from({ length: subnet.size ?? 50 }, (_, i) => `${prefix}${i + 2}`).find((a) => !taken.has(a));
      if (!free) return error(409, 'IpAddressGenerationFailure');
      taken.add(free);
      result.push({ subnet_id: subnet.id, ip_address: free });
    }
    return result;
  }

  const grants = (token: FakeToken, network: Thing) =>
    [...collections['rbac-policies']!.values()].some(
      (grant) => grant.object_id === network.id && grant.target_project === token.projectId,
    );

  /** A thing as the holder of a token sees it; undefined when they do not. */
  function shown(token: FakeToken, name: string, thing: Thing): Thing | undefined {
    if (name === 'networks' && !token.admin && grants(token, thing)) return { ...thing, shared: true };
    if (token.admin || thing.tenant_id === token.projectId) return thing;
    if (name === 'subnets') return thing;
    return name === 'networks' && (thing.shared || thing['router:external']) ? thing : undefined;
  }

  function list(name: string, { query, token }: FakeRequest): FakeAnswer {
    const filters = [...new Set(query.keys())].filter((key) => key !== 'fields' && key !== 'marker');
    const matches = (thing: Thing, key: string) => {
      const field = key === 'project_id' ? 'tenant_id' : key;
      if (key === 'fixed_ips')
        return query.getAll(key).every((f) => thing.fixed_ips.some((x: Thing) => `ip_address=${x.ip_address}` === f));
      return query.getAll(key).some((value) => String(thing[field]).toLowerCase() === value.toLowerCase());
    };
    const seen = [...collections[name]!.values()].flatMap((thing) => shown(token!, name, thing) ?? []);
    const found = seen.filter((thing) => filters.every((key) => matches(thing, key)));
    const from = query.get('marker') ? found.findIndex((thing) => thing.id === query.get('marker')) + 1 : 0;
    const page = found.slice(from, from + 2);
    const key = name.replaceAll('-', '_');
    const links = found.length > from + 2 ? { [`${key}_links`]: [{ rel: 'next', href: 'elsewhere' }] } : {};
    return { status: 200, body: { [key]: page, ...links } };
  }

  function create(name: string, wanted: Thing): FakeAnswer {
    const thing: Thing = { id: randomUUID(), tenant_id: 'service-project', name: '', status: 'ACTIVE', ...wanted };
    if (name === 'ports') {
      if (!networks!.has(thing.network_id)) return error(404, 'NetworkNotFound');
      const given = fixedIps(thing.network_id, wanted.fixed_ips, []);
      if (!Array.isArray(given)) return given;
      const mac = { mac_address: `fa:16:3e:00:00:${ports!.size.toString(16).padStart(2, '0')}` };
      Object.assign(thing, { ...mac, device_id: '', security_groups: ['default-id'], ...wanted, fixed_ips: given });
    }
    if (name === 'floatingips') {
      thing.floating_ip_address = `203.0.113.${floatingips!.size + 1}`;
      Object.assign(thing, { port_id: null, fixed_ip_address: null, status: 'DOWN' });
    }
    if (name === 'security-groups') thing.security_group_rules = [];
    collections[name]!.set(thing.id, thing);
    return { status: 201, body: { [singular[name]!]: thing } };
  }

  function update(name: string, thing: Thing, change: Thing): FakeAnswer {
    if (name === 'ports' && change.fixed_ips) {
      const given = fixedIps(thing.network_id, change.fixed_ips, thing.fixed_ips);
      if (!Array.isArray(given)) return given;
      Object.assign(thing, { ...change, fixed_ips: given });
    } else Object.assign(thing, change);
    if (name === 'floatingips') {
      const port = ports!.get(thing.port_id);
      thing.fixed_ip_address = port ? (change.fixed_ip_address ?? port.fixed_ips[0].ip_address) : null;
      thing.status = port ? 'ACTIVE' : 'DOWN';
    }
    return { status: 200, body: { [singular[name]!]: thing } };
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
    const thing = collection.get(id);
    const seen = thing && shown(token, name, thing);
    if (!thing || !seen) return error(404, notFound[name]!);
    if (method === 'GET') return { status: 200, body: { [singular[name]!]: seen } };
    if (method === 'PUT') return update(name, thing, body);
    if (name === 'security-groups' && thing.name === 'default' && !token.admin)
      return error(409, 'SecurityGroupCannotRemoveDefault', 'Insufficient rights for removing default security group.');
    collection.delete(id);
    return { status: 204 };
  });
  return Object.assign(fake, { things: collections as Record<string, Map<string, Thing>> });
}
