import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { staticTokens } from '../../src/index.js';
import { type Api, apiUnderTest } from '../api-under-test.js';

const lasting = ['cores', 'instances', 'key_pairs', 'metadata_items', 'ram', 'server_group_members', 'server_groups'];
const injected = ['injected_file_content_bytes', 'injected_file_path_bytes', 'injected_files'];
const networking = ['fixed_ips', 'floating_ips', 'security_group_rules', 'security_groups'];

function kindsAt(version: string, lastNetworking: number): string[] {
  const minor = Number(version.split('.')[1]);
  return [...lasting, ...(minor <= 56 ? injected : []), ...(minor <= lastNetworking ? networking : [])].sort();
}

const keys = (value: object) => Object.keys(value).sort();

describe('quota sets', () => {
  let api: Api;
  beforeAll(async () => {
    api = await apiUnderTest({ router: { maxVersion: '2.104' } });
  });
  afterAll(() => api.close());

  it.each(['2.1', '2.35', '2.36', '2.56', '2.57', '2.100', '2.104'])('have the kinds of %s', async (version) => {
    const admin = api.as('admin:p1', version);
    const kinds = kindsAt(version, 35);
    for (const path of ['/os-quota-sets/p1', '/os-quota-sets/p1/defaults'])
      expect(keys((await admin.get(path)).body.quota_set)).toEqual([...kinds, 'id'].sort());
    const detail = (await admin.get('/os-quota-sets/p1/detail')).body.quota_set;
    expect(keys(detail)).toEqual([...kinds, 'id'].sort());
    for (const kind of kinds) expect(keys(detail[kind])).toEqual(['in_use', 'limit', 'reserved']);
    const body = { quota_set: Object.fromEntries(kinds.map((kind) => [kind, '7'])) };
    const changed = await admin.put('/os-quota-sets/varied', body);
    expect(changed.status).toBe(200);
    expect(changed.body).toEqual({ quota_set: Object.fromEntries(kinds.map((kind) => [kind, 7])) });
    for (const kind of [...injected, ...networking].filter((kind) => !kinds.includes(kind)))
      expect((await admin.put('/os-quota-sets/varied', { quota_set: { [kind]: 1 } })).status).toBe(400);
  });

  it('start with the configured limits', async () => {
    const { quota_set } = (await api.as('ada:p1').get('/os-quota-sets/p1')).body;
    expect(quota_set).toEqual({
      id: 'p1',
      instances: 10,
      cores: 20,
      ram: 51200,
      key_pairs: 100,
      server_groups: 10,
      server_group_members: 10,
      metadata_items: 128,
      injected_files: 5,
      injected_file_content_bytes: 10240,
      injected_file_path_bytes: 255,
      fixed_ips: -1,
      floating_ips: -1,
      security_groups: -1,
      security_group_rules: -1,
    });
  });

  it('count usage', async () => {
    const ada = api.as('ada:counted', '2.57');
    await ada.boot();
    await ada.post('/os-server-groups', { server_group: { name: 'g', policies: ['affinity'] } });
    const { quota_set } = (await ada.get('/os-quota-sets/counted/detail')).body;
    expect(quota_set.instances).toEqual({ in_use: 1, limit: 10, reserved: 0 });
    expect(quota_set.cores).toEqual({ in_use: 1, limit: 20, reserved: 0 });
    expect(quota_set.ram).toEqual({ in_use: 512, limit: 51200, reserved: 0 });
    expect(quota_set.key_pairs).toEqual({ in_use: 0, limit: 100, reserved: 0 });
  });

  it('take precedence: user, project, class default, configuration', async () => {
    const admin = api.as('admin:p1', '2.100');
    const coresOf = async (query = '') =>
      (await admin.get(`/os-quota-sets/layered${query}`)).body.quota_set.cores as number;
    expect(await coresOf('?user_id=u')).toBe(20);
    await admin.put('/os-quota-class-sets/default', { quota_class_set: { cores: 21 } });
    expect(await coresOf('?user_id=u')).toBe(21);
    expect((await admin.get('/os-quota-sets/layered/defaults')).body.quota_set.cores).toBe(21);
    await admin.put('/os-quota-sets/layered', { quota_set: { cores: 22 } });
    expect(await coresOf('?user_id=u')).toBe(22);
    expect((await admin.get('/os-quota-sets/layered/defaults')).body.quota_set.cores).toBe(21);
    await admin.put('/os-quota-sets/layered?user_id=u', { quota_set: { cores: 5 } });
    expect(await coresOf('?user_id=u')).toBe(5);
    expect(await coresOf('?user_id=other')).toBe(22);
    expect(await coresOf()).toBe(22);
    expect((await admin.delete('/os-quota-sets/layered?user_id=u')).status).toBe(202);
    expect(await coresOf('?user_id=u')).toBe(22);
    await admin.put('/os-quota-sets/layered?user_id=u', { quota_set: { cores: 5 } });
    const deleted = await admin.delete('/os-quota-sets/layered');
    expect([deleted.status, deleted.body]).toEqual([202, undefined]);
    expect(await coresOf()).toBe(21);
    expect(await coresOf('?user_id=u')).toBe(21);
    await admin.put('/os-quota-class-sets/default', { quota_class_set: { cores: 20 } });
    expect((await admin.delete('/os-quota-sets/nobody-knows-it')).status).toBe(202);
  });

  it.each(['2.1', '2.35', '2.36', '2.100'])('reject limits below the usage at %s, unless forced', async (version) => {
    const admin = api.as('admin:p1', version);
    const project = `used-${version}`;
    await api.as(`ada:${project}`, '2.37').boot();
    const rejected = await admin.put(`/os-quota-sets/${project}`, { quota_set: { instances: 0 } });
    expect(rejected.status).toBe(400);
    expect(rejected.body.badRequest.message).toContain('instances');
    expect((await admin.put(`/os-quota-sets/${project}`, { quota_set: { instances: 1 } })).status).toBe(200);
    const forced = await admin.put(`/os-quota-sets/${project}`, { quota_set: { instances: 0, force: 'True' } });
    expect(forced.body.quota_set.instances).toBe(0);
    const unlimited = await admin.put(`/os-quota-sets/${project}`, { quota_set: { instances: -1 } });
    expect(unlimited.body.quota_set.instances).toBe(-1);
  });

  it('limit users to the remaining quota of the project', async () => {
    const admin = api.as('admin:p1', '2.100');
    const set = async (query: string, quota_set: object) =>
      (await admin.put(`/os-quota-sets/shared${query}`, { quota_set })).status;
    expect(await set('', { cores: 10 })).toBe(200);
    expect(await set('?user_id=a', { cores: 11 })).toBe(400);
    expect(await set('?user_id=a', { cores: -1 })).toBe(400);
    expect(await set('?user_id=a', { cores: 6 })).toBe(200);
    expect(await set('?user_id=b', { cores: 5 })).toBe(400);
    expect(await set('?user_id=b', { cores: 4 })).toBe(200);
    expect(await set('?user_id=a', { cores: 5 })).toBe(200);
    expect(await set('', { cores: 8 })).toBe(400);
    expect(await set('?user_id=b', { cores: 50, force: true })).toBe(200);
    expect(await set('', { cores: -1, force: false })).toBe(200);
    expect(await set('?user_id=b', { cores: -1 })).toBe(200);
  });

  it('limit servers, and report the exceeded limits', async () => {
    const admin = api.as('admin:p1', '2.100');
    const ada = api.as('ada:tight', '2.37');
    await admin.put('/os-quota-sets/tight', { quota_set: { cores: 1, ram: 600 } });
    await ada.boot();
    const server = { name: 'more', flavorRef: '1', imageRef: '70a599e0-31e7-49b7-b260-868f441e862b', networks: 'none' };
    const over = await ada.post('/servers', { server });
    expect(over.status).toBe(403);
    expect(over.body.forbidden.message).toBe(
      'Quota exceeded for cores, ram: Requested 1, 512, but already used 1, 512 of 1, 600 cores, ram',
    );
  });

  it('reject invalid limits', async () => {
    const admin = api.as('admin:p1', '2.100');
    const put = async (quota_set: unknown, query = '') =>
      (await admin.put(`/os-quota-sets/p1${query}`, { quota_set })).status;
    for (const value of [-2, '-2', 2147483648, 'many', '', null, 1.5, {}, [1], true])
      expect(await put({ cores: value })).toBe(400);
    expect(await put({ corez: 1 })).toBe(400);
    expect(await put({ cores: 30, force: 'perhaps' })).toBe(400);
    expect(await put([])).toBe(400);
    expect((await admin.put('/os-quota-sets/p1', {})).status).toBe(400);
    expect((await admin.put('/os-quota-sets/p1', { quota_set: {}, more: 1 })).status).toBe(400);
    expect(await put({})).toBe(200);
    expect(await put({ cores: 30 }, '?user_id=u%00')).toBe(400);
  });

  it.each(['2.1', '2.35'])('accept a kind `networks` without effect at %s', async (version) => {
    const admin = api.as('admin:p1', version);
    const updated = await admin.put('/os-quota-sets/old', { quota_set: { networks: 3 } });
    expect(updated.status).toBe(200);
    expect(updated.body.quota_set).not.toHaveProperty('networks');
    expect((await api.as('admin:p1', '2.36').put('/os-quota-sets/old', { quota_set: { networks: 3 } })).status).toBe(
      400,
    );
  });

  it('reject unknown query parameters since 2.75, such as `usage`', async () => {
    for (const path of ['/os-quota-sets/p1', '/os-quota-sets/p1/detail']) {
      expect((await api.as('ada:p1', '2.74').get(`${path}?usage=False`)).status).toBe(200);
      const rejected = await api.as('ada:p1', '2.75').get(`${path}?usage=False`);
      expect(rejected.status).toBe(400);
      expect(rejected.body.badRequest.message).toContain('usage');
    }
    const admin = api.as('admin:p1', '2.75');
    expect((await admin.put('/os-quota-sets/p1?usage=1', { quota_set: {} })).status).toBe(400);
    expect((await admin.delete('/os-quota-sets/p1?usage=1')).status).toBe(400);
    expect((await api.as('ada:p1', '2.104').get('/os-quota-sets/p1/defaults?usage=1')).status).toBe(200);
  });

  it('can be read by the project itself and set by administrators', async () => {
    const bob = api.as('bob:p2', '2.100');
    const seen = await bob.get('/os-quota-sets/p1');
    expect(seen.body.forbidden.message).toBe("Policy doesn't allow os_compute_api:os-quota-sets:show to be performed.");
    expect((await bob.get('/os-quota-sets/p1/detail')).status).toBe(403);
    expect((await bob.get('/os-quota-sets/p1/defaults')).status).toBe(200);
    expect((await bob.get('/os-quota-sets/p2')).status).toBe(200);
    expect((await bob.put('/os-quota-sets/p2', { quota_set: { cores: 1000 } })).status).toBe(403);
    expect((await bob.delete('/os-quota-sets/p2')).status).toBe(403);
  });

  it('never cause a 500, for any body and query', async () => {
    const admin = api.as('admin:p1', '2.100');
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.string({ unit: 'binary' }), async (json, text) => {
        const query = new URLSearchParams({ user_id: text, [text]: text });
        expect((await admin.put(`/os-quota-sets/p1?${query}`, JSON.parse(json))).status).toBeLessThan(500);
        expect((await admin.get(`/os-quota-sets/p1/detail?${query}`)).status).toBeLessThan(500);
        const deeper = await admin.put('/os-quota-sets/random', { quota_set: JSON.parse(json) });
        expect(deeper.status).toBeLessThan(500);
      }),
      { numRuns: 60 },
    );
    expect(api.errors).toEqual([]);
  });
});

describe('quota sets with an identity service', () => {
  it('return 400 for unknown projects, but can be deleted', async () => {
    const admin = { userId: 'admin', projectId: 'p1', roles: ['admin'], isAdmin: true };
    const identity = Object.assign(staticTokens({ secret: admin }), {
      projectExists: async (projectId: string) => (projectId === 'perhaps' ? undefined : projectId === 'p1'),
    });
    const api = await apiUnderTest({ router: { identity } });
    const client = api.as('secret', '2.100');
    for (const path of ['', '/detail', '/defaults']) {
      expect((await client.get(`/os-quota-sets/p1${path}`)).status).toBe(200);
      expect((await client.get(`/os-quota-sets/perhaps${path}`)).status).toBe(200);
      const unknown = await client.get(`/os-quota-sets/p9${path}`);
      expect(unknown.body).toEqual({ badRequest: { code: 400, message: 'Project ID p9 is not a valid project.' } });
    }
    expect((await client.put('/os-quota-sets/p9', { quota_set: { cores: 1 } })).status).toBe(400);
    expect((await client.delete('/os-quota-sets/p9')).status).toBe(202);
    await api.close();
  });
});

describe('quota class sets', () => {
  let api: Api;
  beforeAll(async () => {
    api = await apiUnderTest({ router: { maxVersion: '2.104' } });
  });
  afterAll(() => api.close());

  it.each(['2.1', '2.49', '2.50', '2.56', '2.57', '2.104'])('have the kinds of %s', async (version) => {
    const admin = api.as('admin:p1', version);
    const minor = Number(version.split('.')[1]);
    const kinds = kindsAt(version, 49).filter((kind) => minor >= 50 || !kind.startsWith('server_group'));
    const shown = (await admin.get('/os-quota-class-sets/gold')).body.quota_class_set;
    expect(keys(shown)).toEqual([...kinds, 'id'].sort());
    expect(shown.id).toBe('gold');
    const groups = { server_groups: 3, server_group_members: '4' };
    const changed = await admin.put('/os-quota-class-sets/gold', { quota_class_set: { cores: '9', ...groups } });
    expect(changed.status).toBe(200);
    expect(keys(changed.body.quota_class_set)).toEqual(kinds);
    expect(changed.body.quota_class_set.cores).toBe(9);
    if (minor >= 50) expect(changed.body.quota_class_set).toMatchObject({ server_groups: 3, server_group_members: 4 });
    const networks = await admin.put('/os-quota-class-sets/gold', {
      quota_class_set: { floating_ips: 1, networks: 1 },
    });
    expect(networks.status).toBe(minor <= 49 ? 200 : 400);
  });

  it('change the limits of only those projects that use the default limits', async () => {
    const admin = api.as('admin:p1', '2.100');
    await admin.put('/os-quota-class-sets/silver', { quota_class_set: { cores: 33 } });
    expect((await admin.get('/os-quota-sets/p3')).body.quota_set.cores).toBe(20);
    await admin.put('/os-quota-class-sets/default', { quota_class_set: { cores: 34 } });
    expect((await admin.get('/os-quota-sets/p3')).body.quota_set.cores).toBe(34);
    expect((await admin.get('/os-quota-class-sets/silver')).body.quota_class_set.cores).toBe(33);
  });

  it('reject invalid requests, and callers other than administrators', async () => {
    const admin = api.as('admin:p1', '2.100');
    const put = async (name: string, body: unknown) => (await admin.put(`/os-quota-class-sets/${name}`, body)).status;
    expect(await put('x'.repeat(255), { quota_class_set: { cores: 1 } })).toBe(200);
    expect(await put('x'.repeat(256), { quota_class_set: { cores: 1 } })).toBe(400);
    expect(await put('c', { quota_class_set: { cores: -2 } })).toBe(400);
    expect(await put('c', { quota_class_set: { force: true } })).toBe(400);
    expect(await put('c', {})).toBe(400);
    const ada = api.as('ada:p1', '2.100');
    expect((await ada.get('/os-quota-class-sets/default')).status).toBe(403);
    expect((await ada.put('/os-quota-class-sets/default', { quota_class_set: { cores: 1 } })).status).toBe(403);
    expect((await api.as('admin:p1', '2.101').get('/os-quota-class-sets/default?a=b')).status).toBe(200);
    expect((await api.as('admin:p1', '2.102').get('/os-quota-class-sets/default?a=b')).status).toBe(400);
    expect(api.errors).toEqual([]);
  });
});
