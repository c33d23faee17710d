import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';

describe('server groups', () => {
  let api: Api;
  let number = 0;
  /** A project without groups. */
  let project: string;
  beforeAll(async () => {
    api = await apiUnderTest({ router: { maxVersion: '2.104', maxLimit: 4 } });
  });
  afterAll(() => api.close());
  beforeEach(() => {
    project = `p${++number}`;
  });

  const as = (version = '2.64') => api.as(`ada:${project}`, version);
  const add = (fields: Record<string, unknown>, version?: string) =>
    as(version).post('/os-server-groups', { server_group: { name: 'group', ...fields } });
  const old = { policies: ['affinity'] };

  it.each([
    ['2.1', old, ['members', 'metadata', 'policies']],
    ['2.12', old, ['members', 'metadata', 'policies']],
    ['2.13', old, ['members', 'metadata', 'policies', 'project_id', 'user_id']],
    ['2.63', old, ['members', 'metadata', 'policies', 'project_id', 'user_id']],
    ['2.64', { policy: 'affinity' }, ['members', 'policy', 'project_id', 'rules', 'user_id']],
    ['2.104', { policy: 'affinity' }, ['members', 'policy', 'project_id', 'rules', 'user_id']],
  ])('show at %s, when created with %j, the fields of that version', async (version, fields, shown) => {
    const created = await add(fields, version);
    expect(created.status).toBe(200);
    const group = created.body.server_group;
    expect(Object.keys(group).sort()).toEqual(['id', 'name', ...shown].sort());
    expect((await as(version).get(`/os-server-groups/${group.id}`)).body.server_group).toEqual(group);
    expect((await as(version).get('/os-server-groups')).body).toEqual({ server_groups: [group] });
    expect(group).toMatchObject({ name: 'group', members: [] });
    if ('project_id' in group) expect(group).toMatchObject({ project_id: project, user_id: 'ada' });
    if ('metadata' in group) expect([group.metadata, group.policies]).toEqual([{}, ['affinity']]);
    else expect([group.policy, group.rules]).toEqual(['affinity', {}]);
  });

  it.each<[string, Record<string, unknown>, number]>([
    ['2.14', { policies: ['soft-affinity'] }, 400],
    ['2.15', { policies: ['soft-affinity'] }, 200],
    ['2.15', { policies: ['soft-anti-affinity'] }, 200],
    ['2.1', { policies: ['anti-affinity'] }, 200],
    ['2.1', { policies: [] }, 400],
    ['2.1', { policies: ['affinity', 'anti-affinity'] }, 400],
    ['2.1', { policies: ['affinity', 'affinity'] }, 400],
    ['2.1', { policies: 'affinity' }, 400],
    ['2.1', {}, 400],
    ['2.1', { policies: ['neighbourhood'] }, 400],
    ['2.63', { policy: 'affinity' }, 400],
    ['2.64', { policies: ['affinity'] }, 400],
    ['2.64', { policy: 'soft-anti-affinity' }, 200],
    ['2.64', { policy: 'neighbourhood' }, 400],
    ['2.64', {}, 400],
    ['2.63', { ...old, rules: {} }, 400],
    ['2.64', { policy: 'anti-affinity', rules: {} }, 200],
    ['2.64', { policy: 'anti-affinity', rules: { max_server_per_host: 2 } }, 200],
    ['2.64', { policy: 'anti-affinity', rules: { max_server_per_host: 0 } }, 400],
    ['2.64', { policy: 'anti-affinity', rules: { max_server_per_host: 'two' } }, 400],
    ['2.64', { policy: 'anti-affinity', rules: { other: 2 } }, 400],
    ['2.64', { policy: 'affinity', rules: { max_server_per_host: 2 } }, 400],
    ['2.64', { policy: 'soft-anti-affinity', rules: { max_server_per_host: 2 } }, 400],
    ['2.64', { policy: 'affinity', name: undefined }, 400],
    ['2.64', { policy: 'affinity', name: ' x' }, 400],
    ['2.64', { policy: 'affinity', name: '' }, 400],
    ['2.64', { policy: 'affinity', name: 'x'.repeat(256) }, 400],
    ['2.64', { policy: 'affinity', colour: 'red' }, 400],
  ])('when created at %s with %j return %i', async (version, fields, status) => {
    expect((await add(fields, version)).status).toBe(status);
  });

  it('show max_server_per_host as a number, even if it was given as a string', async () => {
    const { server_group } = (await add({ policy: 'anti-affinity', rules: { max_server_per_host: '3' } })).body;
    expect(server_group.rules).toEqual({ max_server_per_host: 3 });
    expect((await as('2.63').get(`/os-server-groups/${server_group.id}`)).body.server_group.policies).toEqual([
      'anti-affinity',
    ]);
  });

  it('are listed in the order of their creation, by offset and limit, without links', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) await add({ name, policy: 'affinity' });
    const list = async (query: string, version?: string) => {
      const { status, body } = await as(version).get(`/os-server-groups${query}`);
      if (status !== 200) return status;
      expect(Object.keys(body)).toEqual(['server_groups']);
      return body.server_groups.map((g: any) => g.name).join('');
    };
    expect(await list('')).toBe('abcd');
    expect(await list('?limit=0')).toBe('abcd');
    expect(await list('?limit=2')).toBe('ab');
    expect(await list('?limit=2&offset=1')).toBe('bc');
    expect(await list('?offset=5')).toBe('f');
    expect(await list(`?offset=${'9'.repeat(30)}`)).toBe('');
    expect(await list('?limit=-1')).toBe(400);
    expect(await list('?offset=-1')).toBe(400);
    expect(await list('?offset=x')).toBe(400);
    expect(await list('?colour=red', '2.74')).toBe('abcd');
    expect(await list('?colour=red', '2.75')).toBe(400);
  });

  it('count towards a quota that concurrent requests do not exceed', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 14 }, async (_, i) => (await add({ name: `g${i}`, policy: 'affinity' })).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    const over = await add({ policy: 'affinity' });
    expect([over.status, over.body.forbidden.message]).toEqual([403, 'Quota exceeded, too many server groups.']);
  });

  it('count towards the quota of their user, if one is set', async () => {
    const quota = { quota_set: { server_groups: 1 } };
    expect((await api.as('admin:p1', '2.100').put(`/os-quota-sets/${project}?user_id=ada`, quota)).status).toBe(200);
    const statuses = [await add({ policy: 'affinity' }), await add({ policy: 'affinity' })].map(({ status }) => status);
    expect(statuses).toEqual([200, 403]);
    const ben = api.as(`ben:${project}`, '2.64');
    expect((await ben.post('/os-server-groups', { server_group: { name: 'x', policy: 'affinity' } })).status).toBe(200);
  });

  it('return 404 if they do not exist', async () => {
    for (const id of ['nothing', '7d3c1b52-0c8e-4b8e-8f7a-6f0f6b7f3d21']) {
      expect((await as().get(`/os-server-groups/${id}`)).status).toBe(404);
      expect((await as().delete(`/os-server-groups/${id}`)).status).toBe(404);
    }
  });

  it('of other projects can be listed by administrators only, and not shown or deleted by other callers', async () => {
    const { id } = (await add({ policy: 'affinity' })).body.server_group;
    const eve = api.as('eve:elsewhere', '2.64');
    expect((await eve.get(`/os-server-groups/${id}`)).status).toBe(404);
    expect((await eve.delete(`/os-server-groups/${id}`)).status).toBe(404);
    expect((await eve.get('/os-server-groups?all_projects=True')).body.server_groups).toEqual([]);
    const admin = api.as('admin:elsewhere', '2.64');
    expect((await admin.get('/os-server-groups')).body.server_groups).toEqual([]);
    const forEveryone = await admin.get('/os-server-groups?all_projects&limit=4');
    expect(forEveryone.body.server_groups).toHaveLength(4);
    expect((await admin.get(`/os-server-groups/${id}`)).body.server_group.project_id).toBe(project);
    expect((await admin.delete(`/os-server-groups/${id}`)).status).toBe(204);
  });

  it('can be read but not changed by readers', async () => {
    const { id } = (await add({ policy: 'affinity' })).body.server_group;
    const reader = api.as(`rita:${project}:reader`, '2.64');
    expect((await reader.get('/os-server-groups')).body.server_groups).toHaveLength(1);
    expect((await reader.get(`/os-server-groups/${id}`)).status).toBe(200);
    expect((await reader.delete(`/os-server-groups/${id}`)).status).toBe(403);
    expect((await reader.post('/os-server-groups', { server_group: { name: 'x', policy: 'affinity' } })).status).toBe(
      403,
    );
  });

  it('never cause a 500', () => {
    expect(api.errors).toEqual([]);
  });
});
