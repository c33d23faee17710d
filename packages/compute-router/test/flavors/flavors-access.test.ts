import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noauth } from '../../src/index.js';
import { type Api, apiUnderTest } from '../api-under-test.js';

describe('access to a flavor', () => {
  let api: Api;
  let number = 0;
  let id: string;
  beforeAll(async () => {
    const identity = Object.assign(noauth(), { projectExists: async (project: string) => project !== 'ghost' });
    api = await apiUnderTest({ router: { identity } });
  });
  afterAll(() => api.close());
  beforeEach(async () => {
    id = `private-${++number}`;
    const flavor = { id, name: id, ram: 1, vcpus: 1, disk: 1, 'os-flavor-access:is_public': false };
    await admin().post('/flavors', { flavor });
  });

  const admin = (version?: string) => api.as('admin:p1', version);
  const act = (action: string, tenant: unknown, version?: string, flavor = id) =>
    admin(version).post(`/flavors/${flavor}/action`, { [action]: { tenant } });
  const access = (flavor = id) => admin().get(`/flavors/${flavor}/os-flavor-access`);

  it('that is private is initially granted to no project, not even to that of its creator', async () => {
    expect((await access()).body).toEqual({ flavor_access: [] });
    expect((await api.as('ada:p1').get(`/flavors/${id}`)).status).toBe(404);
  });

  it('is returned as a list after each change', async () => {
    const one = { flavor_id: id, tenant_id: 'p2' };
    const two = { flavor_id: id, tenant_id: 'p3' };
    const added = await act('addTenantAccess', 'p2');
    expect([added.status, added.body]).toEqual([200, { flavor_access: [one] }]);
    expect((await act('addTenantAccess', 'p3')).body).toEqual({ flavor_access: [one, two] });
    expect((await access()).body).toEqual({ flavor_access: [one, two] });
    expect((await api.as('bob:p2').get(`/flavors/${id}`)).status).toBe(200);
    const removed = await act('removeTenantAccess', 'p2');
    expect([removed.status, removed.body]).toEqual([200, { flavor_access: [two] }]);
    expect((await api.as('bob:p2').get(`/flavors/${id}`)).status).toBe(404);
  });

  it('cannot be granted twice, nor revoked if it was not granted', async () => {
    await act('addTenantAccess', 'p2');
    expect((await act('addTenantAccess', 'p2')).status).toBe(409);
    expect((await act('removeTenantAccess', 'p9')).status).toBe(404);
  });

  it.each([
    ['2.1', 200],
    ['2.6', 200],
    ['2.7', 409],
    ['2.100', 409],
  ])('that is public: a grant at %s returns %i', async (version, status) => {
    expect((await act('addTenantAccess', `p-${version}`, version, '1')).status).toBe(status);
  });

  it('that is private can be granted at 2.7, too', async () => {
    expect((await act('addTenantAccess', 'p2', '2.7')).status).toBe(200);
  });

  it('that is public has no list, and no entry that can be removed', async () => {
    expect((await access('2')).status).toBe(404);
    expect((await act('removeTenantAccess', 'p2', '2.7', '2')).status).toBe(404);
  });

  it('requires a project that the identity service knows, except to be revoked', async () => {
    const unknown = await act('addTenantAccess', 'ghost');
    expect(unknown.status).toBe(400);
    expect(unknown.body.badRequest.message).toBe('Project ID ghost is not a valid project.');
    expect((await act('removeTenantAccess', 'ghost')).status).toBe(404);
  });

  it.each(['', 'x'.repeat(256), null, 5, undefined])('cannot be granted to the project %j', async (tenant) => {
    expect((await act('addTenantAccess', tenant)).status).toBe(400);
    expect((await act('removeTenantAccess', tenant)).status).toBe(400);
  });

  it('requires an existing flavor', async () => {
    expect((await access('nowhere')).status).toBe(404);
    expect((await act('addTenantAccess', 'p2', '2.1', 'nowhere')).status).toBe(404);
    expect((await act('removeTenantAccess', 'p2', '2.1', 'nowhere')).status).toBe(404);
  });

  it('is denied to members, who change nothing', async () => {
    const ada = api.as('ada:p1');
    expect((await ada.get(`/flavors/${id}/os-flavor-access`)).status).toBe(403);
    for (const action of ['addTenantAccess', 'removeTenantAccess'])
      expect((await ada.post(`/flavors/${id}/action`, { [action]: { tenant: 'p1' } })).status).toBe(403);
    expect((await access()).body.flavor_access).toEqual([]);
  });

  it('is not lost when it is granted to many projects concurrently', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, i) => act('addTenantAccess', `q${i}`)));
    expect((await access()).body.flavor_access).toHaveLength(10);
  });
});
