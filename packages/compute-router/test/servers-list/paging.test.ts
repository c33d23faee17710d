import { SimulatedDriver } from '@apistrata/compute-engine/drivers';
import { coreOf, ManualClock } from '@apistrata/compute-engine/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest, type Client, ids } from '../api-under-test.js';

const quotas = { instances: -1, cores: -1, ram: -1 } as never;
const plain = { flavorRef: ids.tiny, imageRef: ids.image, networks: 'none' };

describe('pages of servers', () => {
  let api: Api;
  let ada: Client;
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const names = (responded: { body: any }) => responded.body.servers.map((s: any) => s.name);

  beforeAll(async () => {
    api = await apiUnderTest({ engine: { clock, settings: { quotas } } });
    ada = api.as('ada:p1', '2.100');
    for (const [position, name] of ['d', 'b', 'e', 'a', 'c'].entries()) {
      await clock.advance(1000);
      const hints = { unknown: String(position) };
      const server = {
        ...plain,
        name,
        description: String(9 - position),
        flavorRef: position % 2 ? ids.small : ids.tiny,
      };
      await ada.post('/servers', { server, 'os:scheduler_hints': hints });
      await api.idle();
    }
  });
  afterAll(async () => {
    expect(api.errors).toEqual([]);
    await api.close();
  });

  it('are newest first, and link to the next page if and only if they are full', async () => {
    expect(names(await ada.get('/servers'))).toEqual(['c', 'a', 'e', 'b', 'd']);
    expect((await ada.get('/servers')).body.servers_links).toBeUndefined();
    expect((await ada.get('/servers?limit=0')).body).toEqual({ servers: [] });
    const seen: string[] = [];
    let next: string | undefined = '/servers?name=.&limit=2';
    const sizes: number[] = [];
    while (next) {
      const { body }: any = await ada.get(next);
      seen.push(...body.servers.map((s: any) => s.name));
      sizes.push(body.servers.length);
      const href: string | undefined = body.servers_links?.[0].href;
      next = href?.slice(href.indexOf('/v2.1') + 5);
      if (next) expect(next).toMatch(/^\/servers\?limit=2&marker=[0-9a-f-]{36}&name=\.$/);
    }
    expect([seen, sizes]).toEqual([
      ['c', 'a', 'e', 'b', 'd'],
      [2, 2, 1],
    ]);
    expect((await ada.get('/servers?limit=5')).body.servers_links).toHaveLength(1);
  });

  it('never have more items than the configured maximum', async () => {
    const small = await apiUnderTest({ router: { maxLimit: 2 }, engine: { settings: { quotas } } });
    const client = small.as('ada:p1', '2.37');
    await client.post('/servers', { server: { ...plain, name: 'x', min_count: 3 } });
    const { body } = await client.get('/servers?limit=1000');
    expect([body.servers.length, body.servers_links.length]).toEqual([2, 1]);
    await small.close();
  });

  it.each([
    ['sort_key=display_name&sort_dir=asc', ['a', 'b', 'c', 'd', 'e']],
    ['sort_key=display_name', ['e', 'd', 'c', 'b', 'a']],
    ['sort_dir=asc', ['d', 'b', 'e', 'a', 'c']],
    ['sort_key=created_at&sort_dir=asc', ['d', 'b', 'e', 'a', 'c']],
    ['sort_key=instance_type_id&sort_dir=asc&sort_key=display_name', ['c', 'd', 'e', 'a', 'b']],
    ['sort_key=instance_type_id&sort_key=display_name&sort_dir=desc&sort_dir=asc', ['a', 'b', 'c', 'd', 'e']],
    ['sort_key=display_description&sort_dir=asc', ['c', 'a', 'e', 'b', 'd']],
    ['sort_key=hostname&sort_dir=desc', ['e', 'd', 'c', 'b', 'a']],
    ['sort_key=vm_state&sort_key=display_name&sort_dir=asc', ['a', 'b', 'c', 'd', 'e']],
    ['sort_key=uuid&sort_key=display_name', undefined],
  ] as const)('are sorted by %s, regardless of the page size', async (query, expected) => {
    const all = names(await ada.get(`/servers?${query}`));
    if (expected) expect(all).toEqual(expected);
    const paged: string[] = [];
    let marker = '';
    for (let page = 0; page < 6; page++) {
      const { servers } = (await ada.get(`/servers?${query}&limit=1${marker && `&marker=${marker}`}`)).body;
      if (servers.length === 0) break;
      paged.push(servers[0].name);
      marker = servers[0].id;
    }
    expect(paged).toEqual(all);
  });

  it('accept keys without effect until 2.74, and sort by the lock since 2.73', async () => {
    const { servers } = (await ada.get('/servers?name=^b$')).body;
    await api.engine.servers.lock(
      { caller: { userId: 'ada', projectId: 'p1', roles: ['member'] }, requestId: 'req-x', isAdmin: false },
      servers[0].id,
      null,
    );
    const sorted = async (version: string, key: string) =>
      names(await api.as('ada:p1', version).get(`/servers?sort_key=${key}`));
    expect(await sorted('2.74', 'vcpus')).toEqual(['c', 'a', 'e', 'b', 'd']);
    expect((await api.as('ada:p1', '2.75').get('/servers?sort_key=vcpus')).status).toBe(400);
    expect(await sorted('2.72', 'locked')).toEqual(['c', 'a', 'e', 'b', 'd']);
    for (const version of ['2.73', '2.75']) expect((await sorted(version, 'locked'))[0]).toBe('b');
  });

  it('accept a deleted server as marker, and reject an unknown one', async () => {
    await clock.advance(1000);
    const removed = await ada.boot({ name: 'gone' });
    await ada.delete(`/servers/${removed.id}`);
    await api.idle();
    expect(names(await ada.get(`/servers?marker=${removed.id}`))).toEqual(['c', 'a', 'e', 'b', 'd']);
    const unknown = await ada.get('/servers?marker=00000000-0000-4000-8000-000000000000');
    expect([unknown.status, unknown.body.badRequest.message]).toEqual([
      400,
      'marker [00000000-0000-4000-8000-000000000000] not found',
    ]);
  });
});

describe('servers that wait for a host', () => {
  it('come first, in any order', async () => {
    const api = await apiUnderTest({ engine: { worker: false, settings: { quotas } } });
    const ada = api.as('ada:p1', '2.100');
    const make = async (name: string) => (await ada.post('/servers', { server: { ...plain, name } })).body.server.id;
    const scheduled = await make('a');
    await coreOf(api.engine).store.transaction(async (tx) => {
      const row = await tx.db
        .selectFrom('servers')
        .select(['data', 'seq'])
        .where('id', '=', scheduled)
        .executeTakeFirst();
      const data = JSON.stringify({ ...JSON.parse(row!.data), vmState: 'active', taskState: null });
      await tx.db
        .updateTable('servers')
        .set({ data, vm_state: 'active', task_state: null, revision: 1 })
        .where('id', '=', scheduled)
        .execute();
    });
    // From now on, no host has capacity.
    await coreOf(api.engine).store.db.updateTable('nodes').set({ vcpus_used: 10_000 }).execute();
    await make('b');
    await make('c');
    const names = async (query: string) => (await ada.get(`/servers?${query}`)).body.servers.map((s: any) => s.name);
    expect(await names('sort_key=display_name&sort_dir=asc')).toEqual(['b', 'c', 'a']);
    expect(await names('sort_key=display_name&sort_dir=asc&limit=2')).toEqual(['b', 'c']);
    const { servers } = (await ada.get('/servers?sort_key=display_name&sort_dir=asc&limit=1')).body;
    expect(await names(`sort_key=display_name&sort_dir=asc&marker=${servers[0].id}`)).toEqual(['c', 'a']);
    expect(await names(`sort_key=display_name&sort_dir=asc&marker=${scheduled}`)).toEqual([]);
    expect(await names('sort_key=hostname&sort_dir=asc')).toEqual(['b', 'c', 'a']);
    await api.close();
  });
});

describe('any query string', () => {
  it('never causes a 500 or a hang', async () => {
    const api = await apiUnderTest({ engine: { driver: (clock) => new SimulatedDriver({ clock }) } });
    await api.as('ada:p1').boot({ name: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' });
    const name = fc.constantFrom(
      ...['name', 'ip', 'status', 'sort_key', 'sort_dir', 'limit', 'marker', 'changes-since', 'changes-before', 'tags'],
      ...[
        'all_tenants',
        'locked',
        'deleted',
        'flavor',
        'image',
        'host',
        'uuid',
        'launch_index',
        '_x',
        '__proto__',
        'x',
      ],
    );
    const value = fc.oneof(
      fc.constantFrom('(a+)+$', '(a|aa)+$', '(.*a){30}', '\0', '[', '\\1', '1', 'true', 'ACTIVE', '9'.repeat(400), ''),
      fc.string({ unit: 'binary' }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(name, value), { maxLength: 4 }),
        fc.constantFrom('2.1', '2.74', '2.75', '2.100'),
        fc.constantFrom('ada:p1', 'admin:p1'),
        async (pairs, version, token) => {
          const query = pairs.map(([key, text]) => `${key}=${encodeURIComponent(text)}`).join('&');
          const { status } = await api.as(token, version).get(`/servers/detail?${query}`);
          expect([200, 400, 403]).toContain(status);
        },
      ),
      { numRuns: 300 },
    );
    expect(api.errors).toEqual([]);
    await api.close();
  });
});
