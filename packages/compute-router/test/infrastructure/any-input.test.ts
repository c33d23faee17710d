import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../src/index.js';
import { type Api, apiUnderTest } from '../api-under-test.js';

const anonymous = '7d3c1b52-0c8e-4b8e-8f7a-6f0f6b7f3d21';

const AREAS =
  /^\/(flavors|os-keypairs|os-server-groups|os-aggregates|os-services|os-hypervisors|os-hosts|os-availability-zone)(\/|$)/;

const covered = operations.filter(({ path }) => AREAS.test(path));

/** Percent-encodes text; lone surrogates, which have no encoding, become the replacement character. */
function encoded(raw: string): string {
  return encodeURIComponent(raw.replaceAll(/\p{Cs}/gu, '\ufffd'));
}

/** A valid request body for each path that accepts one. The tests replace its values with random ones. */
const bodies: Readonly<Record<string, Record<string, unknown>>> = {
  '/flavors': {
    flavor: {
      name: 'f',
      id: 'f',
      ram: 1,
      vcpus: 1,
      disk: 1,
      swap: 1,
      rxtx_factor: 1,
      description: 'x',
      'OS-FLV-EXT-DATA:ephemeral': 0,
      'os-flavor-access:is_public': true,
    },
  },
  '/flavors/{id}': { flavor: { description: 'x' } },
  '/flavors/{id}/action addTenantAccess': { addTenantAccess: { tenant: 'p2' } },
  '/flavors/{id}/action removeTenantAccess': { removeTenantAccess: { tenant: 'p2' } },
  '/flavors/{flavor_id}/os-extra_specs': { extra_specs: { 'hw:cpu_policy': 'shared', a: 'b' } },
  '/flavors/{flavor_id}/os-extra_specs/{id}': { a: 'b' },
  '/os-keypairs': { keypair: { name: 'k', public_key: 'ssh-rsa AAAA', type: 'ssh', user_id: 'u' } },
  '/os-server-groups': {
    server_group: { name: 'g', policies: ['affinity'], policy: 'anti-affinity', rules: { max_server_per_host: 1 } },
  },
  '/os-aggregates': { aggregate: { name: 'a', availability_zone: 'z' } },
  '/os-aggregates/{id}': { aggregate: { name: 'a', availability_zone: 'z' } },
  '/os-aggregates/{id}/action add_host': { add_host: { host: 'host1' } },
  '/os-aggregates/{id}/action remove_host': { remove_host: { host: 'host1' } },
  '/os-aggregates/{id}/action set_metadata': { set_metadata: { metadata: { availability_zone: 'z', a: 'b' } } },
  '/os-aggregates/{id}/images': { cache: [{ id: anonymous }] },
  '/os-services/{id}': {
    host: 'host1',
    binary: 'nova-compute',
    disabled_reason: 'x',
    forced_down: true,
    status: 'disabled',
  },
  '/os-hosts/{id}': { status: 'enable', maintenance_mode: 'disable' },
};

/** Difficult values: wrong types, bounds, control characters, keys of Object.prototype, deep nesting. */
const value = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    ' ',
    'a\0b',
    '\ud800',
    'x'.repeat(300),
    -1,
    0,
    2 ** 31,
    1e308,
    '1e3',
    '9'.repeat(40),
    [],
    {},
    true,
    'disabled',
    '%',
  ),
  fc.string({ unit: 'binary' }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.jsonValue({ maxDepth: 3 }),
);

const key = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString', '', 'a\0b', '[', '('), fc.string());

/** Generates the sample with some values replaced or omitted, and sometimes with unknown keys added. */
function randomVariant(sample: unknown): fc.Arbitrary<unknown> {
  if (Array.isArray(sample)) return fc.oneof(fc.tuple(...sample.map(randomVariant)), fc.array(value, { maxLength: 3 }));
  if (typeof sample !== 'object' || sample === null) {
    return fc.oneof({ weight: 3, arbitrary: fc.constant<unknown>(sample) }, { weight: 2, arbitrary: value });
  }
  const fields = Object.fromEntries(Object.entries(sample).map(([name, inner]) => [name, randomVariant(inner)]));
  const some = fc.record(fields, { requiredKeys: [] });
  const withExtraKeys = fc.tuple(some, fc.dictionary(key, value, { maxKeys: 2 })).map(([a, b]) => ({ ...a, ...b }));
  return fc.oneof(
    { weight: 6, arbitrary: some },
    { weight: 2, arbitrary: withExtraKeys },
    { weight: 1, arbitrary: value },
  );
}

const parameter = fc.constantFrom(
  'limit',
  'marker',
  'offset',
  'sort_key',
  'sort_dir',
  'is_public',
  'minRam',
  'minDisk',
  'name',
  'user_id',
  'all_projects',
  'host',
  'binary',
  'zone',
  'with_servers',
  'hypervisor_hostname_pattern',
  '__proto__',
  'constructor',
);
const text = fc.oneof(
  fc.constantFrom('1', '0', '', 'true', 'a\0b', '(', '[a-', '*', '9'.repeat(30), anonymous, '\ud800', '-1', 'asc'),
  fc.string({ unit: 'binary' }),
);
const query = fc.array(fc.tuple(parameter, text), { maxLength: 4 });
const version = fc.constantFrom(
  '2.1',
  '2.11',
  '2.34',
  '2.42',
  '2.52',
  '2.53',
  '2.64',
  '2.81',
  '2.91',
  '2.100',
  '2.104',
);
const id = fc.oneof(
  fc.constantFrom(
    '1',
    '2',
    '0',
    '-1',
    anonymous,
    'host1',
    'enable',
    'force-down',
    'a',
    '%00',
    '%ff',
    '..',
    '9'.repeat(30),
  ),
  fc.string({ minLength: 1, unit: 'binary' }).map(encoded),
);

describe('any input of administrators and members', () => {
  let api: Api;
  beforeAll(async () => {
    api = await apiUnderTest({ router: { maxVersion: '2.104' } });
  });
  afterAll(() => api.close());

  const named = covered.map((operation) => {
    const { method, path, action = '' } = operation;
    return [`${method} ${path} ${action}`.trim(), operation] as const;
  });

  it.each(named)('never causes a 500 of %s', async (_, { method, path, action }) => {
    const sample = bodies[action ? `${path} ${action}` : path];
    const hasBody = method === 'POST' || method === 'PUT';
    if (hasBody) expect(sample).toBeDefined();
    const body = hasBody ? randomVariant(sample) : fc.constant(undefined);
    const search = query.map((requested) => new URLSearchParams(requested).toString());
    const tokens = fc.constantFrom('admin:p1', 'admin:p1', 'admin:p1', 'ada:p1');
    await fc.assert(
      fc.asyncProperty(body, search, version, id, tokens, async (sent, request, at, name, token) => {
        const client = api.as(token, at);
        const send = { GET: client.get, DELETE: client.delete, POST: client.post, PUT: client.put, PATCH: client.put };
        const response = await send[method](`${path.replaceAll(/\{[^}]+\}/g, name)}?${request}`, sent);
        expect(response.status, JSON.stringify(response.body)).toBeLessThan(500);
      }),
      { numRuns: 25 },
    );
    expect(api.errors).toEqual([]);
  });
});
