import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCloud, type TestCloud } from '../../src/index.js';
import { clientOf, IMAGE, NETWORK } from '../clouds.js';

/** Requests that have a body, with the key of the body's envelope if it has one. */
const calls: readonly (readonly [string, string, string?])[] = [
  ['POST', '/identity/v3/auth/tokens', 'auth'],
  ['POST', '/identity/v3/projects', 'project'],
  ['POST', '/identity/v3/users', 'user'],
  ['POST', '/image/v2/images'],
  ['PATCH', `/image/v2/images/${IMAGE}`],
  ['POST', `/image/v2/images/${IMAGE}/members`],
  ['POST', '/network/v2.0/networks', 'network'],
  ['PUT', `/network/v2.0/networks/${NETWORK}`, 'network'],
  ['POST', '/network/v2.0/subnets', 'subnet'],
  ['POST', '/network/v2.0/ports', 'port'],
  ['POST', '/network/v2.0/routers', 'router'],
  ['POST', '/network/v2.0/floatingips', 'floatingip'],
  ['POST', '/network/v2.0/security-groups', 'security_group'],
  ['POST', '/network/v2.0/security-group-rules', 'security_group_rule'],
  ['PUT', '/network/v2.0/quotas/p', 'quota'],
  ['POST', '/volume/v3/volumes', 'volume'],
  ['POST', '/volume/v3/snapshots', 'snapshot'],
  ['POST', '/volume/v3/types', 'volume_type'],
  ['POST', '/volume/v3/attachments', 'attachment'],
  ['POST', '/volume/v3/volumes/x/action', 'os-extend'],
  ['PUT', '/volume/v3/os-quota-sets/p', 'quota_set'],
];

const lists = [
  '/identity/v3/users',
  '/image/v2/images',
  '/network/v2.0/networks',
  '/network/v2.0/ports',
  '/volume/v3/volumes/detail',
  '/volume/v3/types',
  '/placement/resource_providers',
];

const FIELDS = [
  'name',
  'network_id',
  'cidr',
  'ip_version',
  'fixed_ips',
  'size',
  'volume_id',
  'direction',
  'security_group_id',
  'tags',
  'id',
  'visibility',
  'new_size',
  'gateway_ip',
  'allocation_pools',
  'mac_address',
  'port_id',
  '__proto__',
  'constructor',
];
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(NETWORK, IMAGE, '10.0.0.0/24', '10.0.0.0/33', '\u0000', 4, -1, 2 ** 53, ''),
);
const fields = fc.dictionary(fc.oneof(fc.constantFrom(...FIELDS), fc.string()), value);

describe('random input never causes a 500', () => {
  let cloud: TestCloud;
  const errors: unknown[] = [];
  beforeAll(async () => {
    cloud = await startCloud({ onError: (error) => errors.push(error) });
  });
  afterAll(() => cloud?.stop());

  it.each(calls)('in the body of %s %s', async (method, path, key) => {
    const request = clientOf(cloud);
    const type = method === 'PATCH' ? 'application/openstack-images-v2.1-json-patch' : 'application/json';
    const bodies = fc.oneof(value, fields, ...(key ? [fields.map((inner) => ({ [key]: inner }))] : []));
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const { status } = await request(method!, path!, body, { 'Content-Type': type });
        // Unsupported actions return 501.
        expect(status === 501 ? 400 : status).toBeLessThan(500);
      }),
      { numRuns: 40 },
    );
    expect(errors).toEqual([]);
  });

  it.each(lists)('in the query of %s', async (path) => {
    const request = clientOf(cloud);
    const names = fc.constantFrom(
      'limit',
      'marker',
      'sort',
      'sort_key',
      'sort_dir',
      'name',
      'id',
      'fields',
      'status',
      'offset',
      'tag',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(names, fc.string())), async (parameters) => {
        const { status } = await request('GET', `${path}?${new URLSearchParams(parameters)}`);
        expect(status).toBeLessThan(500);
      }),
      { numRuns: 30 },
    );
    expect(errors).toEqual([]);
  });

  it.each([
    ['broken JSON', '{'],
    ['broken JSON', '{"a":'],
    ['broken JSON', '\u0000'],
    ['broken JSON', '[1,]'],
    ['depth', `${'['.repeat(50_000)}${']'.repeat(50_000)}`],
    ['depth', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
    ['width', `[${'1,'.repeat(100_000)}1]`],
  ])('in bodies that are rejected for %s, %.5s', async (_, body) => {
    const headers = { 'X-Auth-Token': cloud.token(), 'Content-Type': 'application/json' };
    for (const [method, path] of calls.filter(([method]) => method === 'POST')) {
      const { status } = await fetch(`${cloud.url}${path}`, { method, headers, body });
      expect(status).toBe(400);
    }
  });
});
