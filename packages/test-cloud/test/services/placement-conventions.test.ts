import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

const ID = '2290d4af-9e6e-400b-9d65-1ee01376f71a';

async function placement(...login: Parameters<Awaited<ReturnType<typeof cloudUnderTest>>['token']>) {
  const cloud = await cloudUnderTest();
  const raw = clientOf(cloud, cloud.token(...login));
  const request = (method: string, path: string, body?: unknown, version = '1.39', headers = {}) =>
    raw(method, `/placement${path}`, body, { 'OpenStack-API-Version': `placement ${version}`, ...headers });
  return { cloud, request };
}

describe('access to placement', () => {
  const usages = async (roles: string[], projectId?: string) => {
    const { cloud, request } = await placement('eve', 'lab', roles);
    const own = (await clientOf(cloud)('GET', '/identity/v3/projects?name=lab')).body.projects[0].id;
    return (await request('GET', `/usages?project_id=${projectId ?? own}`)).status;
  };

  it.each([
    ['admin', 200],
    ['service', 200],
    ['member', 403],
    ['reader', 403],
  ])('of the role %s returns %i', async (role, status) => {
    const { request } = await placement('eve', 'lab', [role]);
    expect((await request('GET', '/resource_providers')).status).toBe(status);
  });

  it('permits readers the usage of their own project only', async () => {
    expect(await usages(['reader'])).toBe(200);
    expect(await usages(['reader'], 'other')).toBe(403);
    expect(await usages(['member'])).toBe(403);
    expect(await usages(['service'], 'other')).toBe(200);
  });

  it('is rejected for tokens of the whole system', async () => {
    const { cloud } = await placement();
    const user = { name: 'admin', domain: { id: 'default' }, password: 'secret' };
    const auth = { identity: { methods: ['password'], password: { user } }, scope: { system: { all: true } } };
    const login = await clientOf(cloud)('POST', '/identity/v3/auth/tokens', { auth });
    const asSystem = clientOf(cloud, login.headers.get('x-subject-token') ?? '');
    expect((await asSystem('GET', '/placement/resource_providers')).status).toBe(403);
  });
});

describe('versions of placement', () => {
  it.each([
    ['0.5', 406, 'Unacceptable version header: 0.5'],
    ['9.1', 406, 'Unacceptable version header: 9.1'],
    ['pony.horse', 400, 'invalid version string: pony.horse'],
    ['1.2.3', 400, 'invalid version string: 1.2.3'],
  ])('%s returns %i', async (version, status, message) => {
    const { request } = await placement();
    const { status: sent, body } = await request('GET', '/resource_providers', undefined, version);
    expect([sent, body.errors[0].detail]).toEqual([status, expect.stringContaining(message)]);
    expect(body.errors[0].max_version).toBe(status === 406 ? '1.39' : undefined);
  });

  it('introduce parents with 1.14, generations of aggregates with 1.19, and codes of errors with 1.23', async () => {
    const { request } = await placement();
    const child = { name: 'child', parent_provider_uuid: ID };
    const older = await request('POST', '/resource_providers', child, '1.13');
    expect(older.body.errors[0].detail).toContain("('parent_provider_uuid' was unexpected)");
    expect(older.body.errors[0]).not.toHaveProperty('code');
    expect((await request('POST', '/resource_providers', child)).body.errors[0]).toMatchObject({
      detail: expect.stringContaining('Object action create failed because: parent provider UUID does not exist.'),
      code: 'placement.undefined_code',
    });
    const { uuid } = (await request('POST', '/resource_providers', { name: 'one' })).body;
    const aggregates = `/resource_providers/${uuid}/aggregates`;
    await request('PUT', aggregates, [ID], '1.18');
    expect((await request('GET', aggregates)).body).toEqual({ aggregates: [ID], resource_provider_generation: 0 });
    const outdated = await request('PUT', aggregates, { aggregates: [], resource_provider_generation: 5 });
    expect(outdated.body.errors[0].code).toBe('placement.concurrent_update');
  });

  it('show clients before 1.29 candidates that use one provider of a tree', async () => {
    const { request } = await placement();
    const create = async (name: string, parent?: string) =>
      (await request('POST', '/resource_providers', { name, ...(parent && { parent_provider_uuid: parent }) })).body
        .uuid;
    const root = await create('root');
    const nic = await create('nic', root);
    for (const [uuid, name] of [
      [root, 'IPV4_ADDRESS'],
      [nic, 'SRIOV_NET_VF'],
    ])
      await request('PUT', `/resource_providers/${uuid}/inventories`, {
        resource_provider_generation: 0,
        inventories: { [name]: { total: 8 } },
      });
    const candidates = async (resources: string, version: string) =>
      (await request('GET', `/allocation_candidates?resources=${resources}`, undefined, version)).body
        .allocation_requests.length;
    expect(await candidates('SRIOV_NET_VF:1', '1.28')).toBe(1);
    expect(await candidates('SRIOV_NET_VF:1,IPV4_ADDRESS:1', '1.28')).toBe(0);
    expect(await candidates('SRIOV_NET_VF:1,IPV4_ADDRESS:1', '1.29')).toBe(1);
  });
});

describe('messages of placement', () => {
  it('are JSON without a charset', async () => {
    const { request } = await placement();
    for (const path of ['/resource_providers', '/nothing'])
      expect((await request('GET', path)).headers.get('content-type')).toBe('application/json');
  });

  it.each([
    ['application/json', 406, 404, 'application/json'],
    ['text/html', 406, 404, 'text/html; charset=utf-8'],
    ['image/png', 406, 404, 'text/plain; charset=utf-8'],
  ])('are errors in the form that a client of %s accepts', async (accept, rejected, unknown, type) => {
    const { request } = await placement();
    const sent = await request('GET', '/nothing', undefined, '1.39', { accept });
    expect([sent.status, sent.headers.get('content-type')]).toEqual([unknown, type]);
    expect(JSON.stringify(sent.body)).toContain('The resource could not be found.');
    const list = await request('GET', '/resource_providers', undefined, '1.39', { accept });
    expect(list.status).toBe(accept === 'application/json' ? 200 : rejected);
    if (accept !== 'application/json') expect(list.body).toContain('Only application/json is provided');
  });

  it('name the request and what the library of the original explains', async () => {
    const { request } = await placement();
    const { body, headers } = await request('DELETE', '/resource_providers');
    expect(body.errors[0]).toMatchObject({
      detail:
        'The method DELETE is not allowed for this resource. \n\n The method specified is not allowed for this resource.  ',
      request_id: headers.get('x-openstack-request-id'),
    });
  });

  it('are validated as JSON before anything else', async () => {
    const { request } = await placement();
    const json = { 'Content-Type': 'application/json' };
    const text = { 'Content-Type': 'text/plain' };
    const path = `/resource_providers/${ID}`;
    expect((await request('PUT', path, {}, '1.39', text)).status).toBe(415);
    expect((await request('PUT', path, {}, '1.39', json)).status).toBe(404);
    const empty = await request('PUT', '/resource_classes/CUSTOM_COW', undefined, '1.6', json);
    expect(empty.body.errors[0].detail).toContain('Malformed JSON:');
  });

  it('accept ids without dashes, which are the same ids', async () => {
    const { request } = await placement();
    const plain = { name: 'a', uuid: ID.replaceAll('-', '').toUpperCase() };
    expect((await request('POST', '/resource_providers', plain)).body.uuid).toBe(ID);
    expect((await request('POST', '/resource_providers', { name: 'b', uuid: ID })).status).toBe(409);
  });
});
