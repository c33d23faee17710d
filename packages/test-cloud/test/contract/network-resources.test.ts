import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';
import { operationsOf, readFacts } from './operation-facts.js';
import { describeResources, type ResourceFact, type Sample, type SendRequest } from './resource-contract.js';

/** The external network of the presets. */
const PUBLIC = '5f3c0c1e-8a5c-4c0a-bd52-6c2a1d3a9b31';

let count = 0;

/** Creates a resource and returns it. */
async function make(request: SendRequest, path: string, one: string, fields: object) {
  const { status, body } = await request('POST', `/v2.0/${path}`, { [one]: fields });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body[one];
}

const networkId = async (request: SendRequest): Promise<string> => (await make(request, 'networks', 'network', {})).id;

const policyId = async (request: SendRequest): Promise<string> =>
  (await make(request, 'qos/policies', 'policy', {})).id;

/** Creates a port with an IPv4 address in a network that a router connects with the external network. */
async function routedPort(request: SendRequest) {
  const network_id = await networkId(request);
  const subnet = { network_id, cidr: `10.${++count % 200}.0.0/24`, ip_version: 4 };
  const { id: subnet_id } = await make(request, 'subnets', 'subnet', subnet);
  const { id } = await make(request, 'routers', 'router', { external_gateway_info: { network_id: PUBLIC } });
  await request('PUT', `/v2.0/routers/${id}/add_router_interface`, { subnet_id });
  return make(request, 'ports', 'port', { network_id });
}

const ofPolicy = (create: object, change: object): Sample => ({
  create: () => create,
  change,
  parameters: async (request) => ({ policy_id: await policyId(request) }),
});

const ingress = { direction: 'ingress' };
const renamed = { name: 'renamed' };

const SAMPLES: Readonly<Record<string, Sample>> = {
  network: { create: () => ({ name: 'n' }), change: renamed },
  subnet: {
    create: async (request) => ({ network_id: await networkId(request), cidr: '10.0.0.0/24', ip_version: 4 }),
    change: renamed,
  },
  port: { create: async (request) => ({ network_id: await networkId(request) }), change: renamed },
  subnetpool: { create: () => ({ name: 'p', prefixes: ['10.10.0.0/16'] }), change: renamed },
  address_scope: { create: () => ({ ip_version: 4 }), change: renamed },
  address_group: { create: () => ({ addresses: ['10.0.0.0/8'] }), change: renamed },
  router: { create: () => ({ name: 'r' }), change: { routes: [] } },
  conntrack_helper: {
    create: () => ({ helper: 'tftp', protocol: 'udp', port: 69 + (count += 1) }),
    change: { port: 6900 },
    parameters: async (request) => ({ router_id: (await make(request, 'routers', 'router', {})).id }),
  },
  floatingip: { create: () => ({ floating_network_id: PUBLIC }), change: { description: 'changed' } },
  port_forwarding: {
    async create(request) {
      const port = await routedPort(request);
      count += 1;
      return {
        internal_port_id: port.id,
        internal_ip_address: port.fixed_ips[0].ip_address,
        internal_port: 80,
        external_port: 8000 + count,
        protocol: 'tcp',
      };
    },
    change: { description: 'changed' },
    parameters: async (request) => ({
      floatingip_id: (await make(request, 'floatingips', 'floatingip', { floating_network_id: PUBLIC })).id,
    }),
  },
  security_group: { create: () => ({ name: 'g' }), change: renamed },
  security_group_rule: {
    create: async (request) => ({
      security_group_id: (await make(request, 'security-groups', 'security_group', {})).id,
      ...ingress,
    }),
  },
  default_security_group_rule: {
    create: () => ({ ...ingress, used_in_default_sg: false, used_in_non_default_sg: true }),
  },
  rbac_policy: {
    create: async (request) => ({
      object_type: 'network',
      object_id: await networkId(request),
      action: 'access_as_shared',
      target_tenant: PUBLIC,
    }),
    change: { target_tenant: '*' },
  },
  trunk: {
    create: async (request) => ({
      port_id: (await make(request, 'ports', 'port', { network_id: await networkId(request) })).id,
    }),
    change: renamed,
  },
  policy: { create: () => ({ name: 'q' }), change: renamed },
  bandwidth_limit_rule: ofPolicy({ max_kbps: 1 }, { max_kbps: 2 }),
  dscp_marking_rule: ofPolicy({ dscp_mark: 8 }, { dscp_mark: 10 }),
  minimum_bandwidth_rule: ofPolicy({ min_kbps: 1 }, { min_kbps: 2 }),
  packet_rate_limit_rule: ofPolicy({ max_kpps: 1 }, { max_kpps: 2 }),
  minimum_packet_rate_rule: ofPolicy({ min_kpps: 1 }, { min_kpps: 2 }),
  segment: {
    create: async (request) => ({ network_id: await networkId(request), network_type: 'geneve' }),
    change: renamed,
  },
  network_segment_range: { create: () => ({ network_type: 'vxlan', minimum: 1, maximum: 9 }), change: renamed },
  metering_label: { create: () => ({ name: 'm' }) },
  metering_label_rule: {
    create: async (request) => ({
      metering_label_id: (await make(request, 'metering/metering-labels', 'metering_label', {})).id,
      ...ingress,
      remote_ip_prefix: `10.${++count % 200}.0.0/24`,
    }),
  },
  flavor: { create: () => ({ service_type: 'L3_ROUTER_NAT' }), change: renamed },
  service_profile: { create: () => ({ metainfo: '{}' }), change: { description: 'changed' } },
  bgp_speaker: { create: () => ({ local_as: 64512, ip_version: 4 }), change: renamed },
  bgp_peer: { create: () => ({ peer_ip: '192.0.2.1', remote_as: 64512, auth_type: 'none' }), change: renamed },
  tap_mirror: {
    create: async (request) => ({
      port_id: (await make(request, 'ports', 'port', { network_id: await networkId(request) })).id,
      directions: { IN: 101 },
      remote_ip: '192.0.2.1',
      mirror_type: 'gre',
    }),
    change: renamed,
  },
};

describeResources('network', SAMPLES);

interface NetworkFact extends ResourceFact {
  /** The parameters that filter lists. */
  readonly filters?: readonly string[];
  /** The fields by which lists are sorted. */
  readonly sortKeys?: readonly string[];
  /** Fields that only administrators see. */
  readonly administrator?: readonly string[];
  /** Fields that a member cannot set, with a value. */
  readonly restricted?: Readonly<Record<string, unknown>>;
}

const facts: Readonly<Record<string, NetworkFact>> = readFacts('network').resources;

/** Starts a cloud in which a member sends requests. */
async function asMember(): Promise<SendRequest> {
  const cloud = await cloudUnderTest();
  const send = clientOf(cloud, cloud.token('demo', 'demo'));
  return (method, path, body) => send(method, `/network${path}`, body);
}

/** The resources whose facts have a property. */
const factsWith = (property: 'administrator' | 'filters' | 'restricted') =>
  Object.entries(facts).filter(([, fact]) => fact[property]);

it.each(factsWith('administrator'))('shows a member a %s without the fields of administrators', async (one, fact) => {
  const request = await asMember();
  const created = await request('POST', fact.path, { [one]: await SAMPLES[one]?.create(request) });
  const expected = fact.response.show?.filter((key) => !fact.administrator?.includes(key)).sort();
  expect(Object.keys(created.body[one]).sort()).toEqual(expected);
  const shown = await request('GET', `${fact.path}/${created.body[one].id}`);
  expect(Object.keys(shown.body[one]).sort()).toEqual(expected);
});

it.each(factsWith('restricted'))('rejects fields of a %s that only administrators set', async (one, fact) => {
  const request = await asMember();
  const sample = (await SAMPLES[one]?.create(request)) ?? {};
  const { id } = await make(request, fact.path.replace('/v2.0/', ''), one, sample);
  const accepted: unknown[] = [];
  for (const [key, value] of Object.entries(fact.restricted ?? {})) {
    const fresh = (await SAMPLES[one]?.create(request)) ?? {};
    const { status, body } = await request('POST', fact.path, { [one]: { ...fresh, [key]: value } });
    if (status !== 403 || body.NeutronError.type !== 'PolicyNotAuthorized') accepted.push(['create', key, status]);
    if (fact.request[key]?.in === 'create') continue;
    const changed = await request('PUT', `${fact.path}/${id}`, { [one]: { [key]: value } });
    if (changed.status !== 403) accepted.push(['change', key, changed.status]);
  }
  expect(accepted).toEqual([]);
});

/** Returns a value of a filter, and whether other texts cannot be converted to its type. */
function filterValue({ type = 'string', format }: Partial<NetworkFact['request'][string]>) {
  const types = [type].flat();
  if (format === 'protocol') return { value: 'tcp', isConverted: true };
  const isConverted = !types.includes('string');
  if (types.includes('integer')) return { value: '4', isConverted };
  return types.includes('boolean') && isConverted ? { value: 'true', isConverted } : { value: 'x', isConverted: false };
}

it.each(factsWith('filters'))(
  'filters and sorts the list of each %s by the fields of the original',
  async (one, fact) => {
    const cloud = await cloudUnderTest();
    const request: SendRequest = (method, path, body) => clientOf(cloud)(method, `/network${path}`, body);
    const parameters = (await SAMPLES[one]?.parameters?.(request)) ?? {};
    const path = fact.path.replaceAll(/\{(\w+)\}/g, (_, key: string) => String(parameters[key]));
    const { response, filters = [], sortKeys = [] } = fact;
    const wrong: unknown[] = [];
    for (const key of new Set([...(response.show ?? []), ...Object.keys(fact.request), ...filters, ...sortKeys])) {
      const { value, isConverted } = filterValue(fact.request[key] ?? {});
      const filter = await request('GET', `${path}?${key}=${value}`);
      if (isConverted && (await request('GET', `${path}?${key}=x`)).status !== 400) wrong.push(['value', key]);
      const sort = await request('GET', `${path}?sort_key=${key}&sort_dir=asc`);
      if (filter.status !== (filters.includes(key) ? 200 : 400)) wrong.push(['filter', key, filter.status]);
      if (sort.status !== (sortKeys.includes(key) ? 200 : 400)) wrong.push(['sort', key, sort.status]);
    }
    expect(wrong).toEqual([]);
  },
);

const EXTENSIONS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> =
  readFacts('network').extensions;

/** Fields that only some resources have, and that other tests cover. */
const CONDITIONAL = ['ports.trunk_details', 'service_profiles.id'];

describe('the extensions', () => {
  it('are those of the facts', async () => {
    const listed = await clientOf(await cloudUnderTest())('GET', '/network/v2.0/extensions');
    const aliases = listed.body.extensions.map(({ alias }: { readonly alias: string }) => alias);
    expect(aliases.sort()).toEqual(Object.keys(EXTENSIONS).sort());
  });

  it.each(Object.entries(EXTENSIONS))('have their fields: %s', (_, collections) => {
    const missing = Object.entries(collections).flatMap(([many, keys]) => {
      const fact = Object.values(facts).find((one) => one.many === many);
      const known = fact && [...(fact.response.show ?? []), ...Object.keys(fact.request), ...(fact.filters ?? [])];
      return keys.filter((key) => known && !known.includes(key)).map((key) => `${many}.${key}`);
    });
    expect(missing.filter((key) => !CONDITIONAL.includes(key))).toEqual([]);
  });
});

const taggable = Object.entries(facts).filter(([, fact]) =>
  operationsOf('network').some(({ path }) => path.startsWith(`${fact.path}/`) && path.endsWith('/tags')),
);

describe.each(taggable)('the tags of a %s', (one, fact) => {
  it('have the statuses and bodies of the original', async () => {
    const cloud = await cloudUnderTest();
    const request: SendRequest = (method, path, body) => clientOf(cloud)(method, `/network${path}`, body);
    const sample = (await SAMPLES[one]?.create(request)) ?? {};
    const { id } = await make(request, fact.path.replace('/v2.0/', ''), one, sample);
    const path = `${fact.path}/${id}/tags`;
    const send = async (method: string, suffix: string, body?: object) => {
      const response = await request(method, `${path}${suffix}`, body);
      return [response.status, response.body];
    };
    expect(await send('PUT', '', { tags: ['a', 'b'] })).toEqual([200, { tags: ['a', 'b'] }]);
    expect(await send('POST', '', { tags: ['b', 'c'] })).toEqual([200, { tags: ['b', 'c'] }]);
    expect(await send('PUT', '/d')).toEqual([201, '']);
    expect(await send('GET', '/d')).toEqual([204, '']);
    expect(await send('DELETE', '/d')).toEqual([204, '']);
    expect((await send('GET', '/d'))[0]).toBe(404);
    expect((await send('DELETE', '/d'))[0]).toBe(404);
    expect(await send('GET', '')).toEqual([200, { tags: ['a', 'b', 'c'] }]);
    for (const tags of [undefined, 'a', [7], ['x'.repeat(256)], ['a', 'a'], ['']])
      expect([tags, (await send('PUT', '', { tags }))[0]]).toEqual([tags, tags?.[0] === '' ? 200 : 400]);
    expect(await send('DELETE', '')).toEqual([204, '']);
    expect(await send('GET', '')).toEqual([200, { tags: [] }]);
  });
});
