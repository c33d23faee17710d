import { expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';
import { asMember, make, networkId, PUBLIC } from './network-samples.js';
import { readFacts } from './operation-facts.js';
import type { SendRequest } from './resource-contract.js';

interface ListFact {
  readonly path: string;
  readonly items: readonly string[];
  /** Whether members receive an empty list. */
  readonly hidden?: true;
}

const LISTS: Readonly<Record<string, ListFact>> = readFacts('network').lists;

it.each(Object.entries(LISTS))('lists %s with the fields of the original', async (many, { path, items, hidden }) => {
  const cloud = await cloudUnderTest();
  const listed = (await clientOf(cloud)('GET', `/network${path}`)).body[many];
  expect(listed.length).toBeGreaterThan(0);
  for (const item of listed) expect(Object.keys(item).sort()).toEqual(items);
  const toMember = await clientOf(cloud, cloud.token('demo', 'demo'))('GET', `/network${path}`);
  expect([toMember.status, toMember.body[many].length]).toEqual([200, hidden ? 0 : listed.length]);
});

it('has quotas for the same resources as the original', async () => {
  const cloud = await cloudUnderTest();
  const request: SendRequest = (method, path, body) => clientOf(cloud)(method, `/network/v2.0/quotas${path}`, body);
  const project = `/${'0'.repeat(32)}`;
  const expected = readFacts('network').quota;
  for (const path of [project, `${project}/default`, `${project}/details`])
    expect(Object.keys((await request('GET', path)).body.quota).sort()).toEqual(expected);
  expect((await request('PUT', project, { quota: { unheard_of: 1 } })).status).toBe(400);
  for (const limit of ['x', null, -2, 2 ** 31, []])
    expect([limit, (await request('PUT', project, { quota: { port: limit } })).status]).toEqual([limit, 400]);
  expect((await request('DELETE', project)).body.NeutronError.type).toBe('TenantQuotaNotFound');
  expect((await request('PUT', project, { quota: { port: -1 } })).body.quota.port).toBe(-1);
  expect((await request('DELETE', project)).status).toBe(204);
});

it('rejects quotas below the usage, unless they are forced', async () => {
  const cloud = await cloudUnderTest();
  const request: SendRequest = (method, path, body) => clientOf(cloud)(method, `/network${path}`, body);
  const { project_id } = await make(request, 'networks', 'network', {});
  const change = (fields: object) => request('PUT', `/v2.0/quotas/${project_id}`, { quota: { network: 0, ...fields } });
  const rejected = await change({ check_limit: true });
  expect(rejected.status).toBe(400);
  expect(rejected.body.NeutronError.message).toContain('must be greater than or equal to already used');
  expect((await change({ force: true })).body.quota.network).toBe(0);
});

it('adds profiles to flavors', async () => {
  const cloud = await cloudUnderTest();
  const request: SendRequest = (method, path, body) => clientOf(cloud)(method, `/network${path}`, body);
  const flavor = await make(request, 'flavors', 'flavor', { service_type: 'L3_ROUTER_NAT' });
  const profile = await make(request, 'service_profiles', 'service_profile', { driver: 'd' });
  const path = `/v2.0/flavors/${flavor.id}/service_profiles`;
  const add = (id: string) => request('POST', path, { service_profile: { id } });
  expect((await add(PUBLIC)).body.NeutronError.type).toBe('ServiceProfileNotFound');
  expect((await add(profile.id)).status).toBe(201);
  expect((await add(profile.id)).body.NeutronError.type).toBe('FlavorServiceProfileBindingExists');
  const shown = await request('GET', `/v2.0/flavors/${flavor.id}`);
  expect(shown.body.flavor.service_profiles).toEqual([profile.id]);
  const used = await request('DELETE', `/v2.0/service_profiles/${profile.id}`);
  expect(used).toMatchObject({ status: 409, body: { NeutronError: { type: 'ServiceProfileInUse' } } });
  expect((await request('DELETE', `${path}/${profile.id}`)).status).toBe(204);
  expect((await request('DELETE', `${path}/${profile.id}`)).status).toBe(404);
  expect((await request('DELETE', `/v2.0/service_profiles/${profile.id}`)).status).toBe(204);
  const empty = await request('POST', '/v2.0/service_profiles', { service_profile: {} });
  expect(empty.body.NeutronError.type).toBe('ServiceProfileEmpty');
});

it('deletes an auto-allocated topology, and accepts a repeated deletion', async () => {
  const cloud = await cloudUnderTest();
  const send = clientOf(cloud, cloud.token('demo', 'demo'));
  const path = '/network/v2.0/auto-allocated-topology/None';
  const { id } = (await send('GET', path)).body.auto_allocated_topology;
  expect((await send('DELETE', path)).status).toBe(204);
  expect((await send('GET', `/network/v2.0/networks/${id}`)).status).toBe(404);
  expect((await send('DELETE', path)).status).toBe(204);
  expect((await send('DELETE', `/network/v2.0/auto-allocated-topology/${PUBLIC}`)).status).toBe(403);
});

it('allocates subnets from the default pool', async () => {
  const cloud = await cloudUnderTest();
  const request: SendRequest = (method, path, body) => clientOf(cloud)(method, `/network${path}`, body);
  const subnet = { network_id: await networkId(request), ip_version: 4, use_default_subnetpool: true };
  const missing = await request('POST', '/v2.0/subnets', { subnet });
  expect(missing.body.NeutronError.message).toBe('Bad subnets request: No default subnetpool found for IPv4.');
  const fields = { name: 'p', prefixes: ['10.20.0.0/16'], default_prefixlen: 24, is_default: true };
  const pool = await make(request, 'subnetpools', 'subnetpool', fields);
  expect(await make(request, 'subnets', 'subnet', subnet)).toMatchObject({
    cidr: '10.20.0.0/24',
    subnetpool_id: pool.id,
  });
});

it.each([{ enable_snat: false }, { external_fixed_ips: [] }])(
  'rejects %j in the gateway of a router from a member',
  async (part) => {
    const request = await asMember();
    const router = { external_gateway_info: { network_id: PUBLIC, ...part } };
    const denied = { status: 403, body: { NeutronError: { type: 'PolicyNotAuthorized' } } };
    expect(await request('POST', '/v2.0/routers', { router })).toMatchObject(denied);
    const { id } = await make(request, 'routers', 'router', {});
    expect(await request('PUT', `/v2.0/routers/${id}`, { router })).toMatchObject(denied);
  },
);
