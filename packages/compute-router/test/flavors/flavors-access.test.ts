import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noauth } from '../../src/index.js';
import { type Api, apiUnderTest } from '../api-under-test.js';

describe('who may use a private flavor', () => {
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

  it('is nobody at first, not even its creator', async () => {
    expect((await access()).body).toEqual({ flavor_access: [] });
    expect((await api.as('ada:p1').get(`/flavors/${id}`)).status).toBe(404);
  });

  it('is a list that grows and shrinks, and is the answer each time', async () => {
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

  it('cannot be added twice, nor removed when not there', async () => {
    await act('addTenantAccess', 'p2');
    expect((await act('addTenantAccess', 'p2')).status).toBe(409);
    expect((await act('removeTenantAccess', 'p9')).status).toBe(404);
  });

  it.each([
    ['2.1', 200],
    ['2.6', 200],
    ['2.7', 409],
    ['2.100', 409],
  ])('is not said of a public flavor: adding a project at %s answers %i', async (version, status) => {
    expect((await act('addTenantAccess', `p-${version}`, version, '1')).status).toBe(status);
  });

  it('is accepted for private flavors at 2.7, too', async () => {
    expect((await act('addTenantAccess', 'p2', '2.7')).status).toBe(200);
  });

  it('has no list for a public flavor, nor an entry to remove', async () => {
    expect((await access('2')).status).toBe(404);
    expect((await act('removeTenantAccess', 'p2', '2.7', '2')).status).toBe(404);
  });

  it('must be a project that the identity service knows, unless it is removed', async () => {
    const unknown = await act('addTenantAccess', 'ghost');
    expect(unknown.status).toBe(400);
    expect(unknown.body.badRequest.message).toBe('Project ID ghost is not a valid project.');
    expect((await act('removeTenantAccess', 'ghost')).status).toBe(404);
  });

  it.each(['', 'x'.repeat(256), null, 5, undefined])('is no project when it is %j', async (tenant) => {
    expect((await act('addTenantAccess', tenant)).status).toBe(400);
    expect((await act('removeTenantAccess', tenant)).status).toBe(400);
  });

  it('is asked of flavors that exist', async () => {
    expect((await access('nowhere')).status).toBe(404);
    expect((await act('addTenantAccess', 'p2', '2.1', 'nowhere')).status).toBe(404);
    expect((await act('removeTenantAccess', 'p2', '2.1', 'nowhere')).status).toBe(404);
  });

  it('is no business of members, who change nothing', async () => {
    const ada = api.as('ada:p1');
    expect((await ada.get(`/flavors/${id}/os-flavor-access`)).status).toBe(403);
    for (const action of ['addTenantAccess', 'removeTenantAccess'])
      expect((await ada.post(`/flavors/${id}/action`, { [action]: { tenant: 'p1' } })).status).toBe(403);
    expect((await access()).body.flavor_access).toEqual([]);
  });

  it('loses nobody when many projects are added at once', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, i) => act('addTenantAccess', `q${i}`)));
    expect((await access()).body.flavor_access).toHaveLength(10);
  });
});
