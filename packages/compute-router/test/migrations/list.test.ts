import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stage, stage } from '../servers-actions/stage.js';

describe('the list of migrations', () => {
  let on: Stage;
  let servers: any[];
  beforeAll(async () => {
    on = await stage();
    servers = [];
    for (let i = 0; i < 3; i++) {
      const server = await on.ada('2.37').boot();
      servers.push(server);
      await on.clock.advance(60_000);
    }
    await on.admin().act(servers[0].id, 'migrate');
    await on.clock.advance(60_000);
    await on.ada().act(servers[1].id, 'resize', { flavorRef: '2' });
    await on.clock.advance(60_000);
    await on.admin('2.68').act(servers[2].id, 'os-migrateLive', { host: null, block_migration: 'auto' });
  });
  afterAll(async () => {
    expect(on.api.errors).toEqual([]);
    await on.api.close();
  });

  const list = async (query = '', version = '2.80', token = 'admin:p1') =>
    on.api.as(token, version).get(`/os-migrations${query}`);
  const types = async (query = '', version = '2.80') =>
    (await list(query, version)).body.migrations.map(({ migration_type }: any) => migration_type);

  it('is newest first since 2.59', async () => {
    expect(await types('', '2.58')).toEqual(['migration', 'resize', 'live-migration']);
    expect(await types('', '2.59')).toEqual(['live-migration', 'resize', 'migration']);
  });

  it.each([
    ['2.22', false, false, false],
    ['2.23', true, false, false],
    ['2.58', true, false, false],
    ['2.59', true, true, false],
    ['2.79', true, true, false],
    ['2.80', true, true, true],
  ])('at %s has migration_type %s, uuid %s, project_id and user_id %s', async (version, type, uuid, owner) => {
    const { migrations } = (await list('', version)).body;
    expect(migrations).toHaveLength(3);
    for (const migration of migrations) {
      const keys = new Set(Object.keys(migration));
      expect([keys.has('migration_type'), keys.has('uuid'), keys.has('project_id') && keys.has('user_id')]).toEqual([
        type,
        uuid,
        owner,
      ]);
      expect(migration).toMatchObject({
        id: expect.any(Number),
        status: expect.any(String),
        instance_uuid: expect.any(String),
        created_at: expect.stringMatching(/\.\d{6}$/),
        old_instance_type_id: expect.any(Number),
        new_instance_type_id: expect.any(Number),
        source_compute: expect.any(String),
        source_node: expect.any(String),
        dest_compute: expect.any(String),
        dest_node: expect.any(String),
        dest_host: expect.stringMatching(/^192\.0\.2\./),
      });
      expect(keys.has('links')).toBe(false);
    }
  });

  it('is filtered by every filter', async () => {
    const [live] = (await list('?migration_type=live-migration')).body.migrations;
    expect(await types('?migration_type=resize')).toEqual(['resize']);
    expect(await types('?status=finished')).toEqual(['resize', 'migration']);
    expect(await types(`?instance_uuid=${servers[0].id}`)).toEqual(['migration']);
    expect(await types(`?source_compute=${live.source_compute}&migration_type=live-migration`)).toEqual([
      'live-migration',
    ]);
    expect(await types(`?host=${live.dest_compute}`)).toContain('live-migration');
    expect(await types(`?source_compute=nowhere`)).toEqual([]);
    expect(await types('?user_id=admin')).toEqual(['live-migration', 'migration']);
    expect(await types('?user_id=ada')).toEqual(['resize']);
    expect(await types('?project_id=p1')).toHaveLength(3);
    expect(await types('?project_id=p2')).toEqual([]);
    expect(await types('?status=%00')).toEqual([]);
  });

  it('is filtered by times of change', async () => {
    const { migrations } = (await list()).body;
    const [live, , cold] = migrations;
    expect(await types(`?changes-since=${live.updated_at}`)).toEqual(['live-migration']);
    expect(await types(`?changes-before=${cold.updated_at}`)).toEqual(['migration']);
    expect((await list(`?changes-since=${live.updated_at}&changes-before=${cold.updated_at}`)).status).toBe(400);
    expect((await list('?changes-since=yesterday')).status).toBe(400);
    expect((await list(`?changes-before=${cold.updated_at}`, '2.65')).status).toBe(400);
    expect((await list(`?changes-since=${live.updated_at}`, '2.58')).body.migrations).toHaveLength(3);
  });

  it('is paged since 2.59', async () => {
    const first = (await list('?limit=2')).body;
    expect(first.migrations).toHaveLength(2);
    const next = new URL(first.migrations_links[0].href);
    expect([next.searchParams.get('limit'), next.searchParams.get('marker')]).toEqual(['2', first.migrations[1].uuid]);
    const second = (await list(next.search)).body;
    expect(second.migrations.map(({ migration_type }: any) => migration_type)).toEqual(['migration']);
    expect(second).not.toHaveProperty('migrations_links');
    expect((await list('?limit=0')).body).toEqual({ migrations: [] });
    expect((await list('?limit=1', '2.58')).body.migrations).toHaveLength(3);
    expect((await list('?marker=unknown')).status).toBe(400);
    expect((await list('?marker=%00')).status).toBe(400);
    expect((await list('?limit=-1')).status).toBe(400);
    expect((await list('?limit=1&limit=2')).status).toBe(400);
  });

  it('rejects unknown parameters since 2.59, and those of later versions', async () => {
    expect((await list('?x=1', '2.58')).status).toBe(200);
    expect((await list('?x=1', '2.59')).status).toBe(400);
    expect((await list('?project_id=p1', '2.79')).status).toBe(400);
  });

  it('is for administrators, and for managers of the requested project', async () => {
    expect((await list('', '2.80', 'ada:p1')).status).toBe(403);
    expect((await list('', '2.80', 'eve:p1:manager,member')).status).toBe(403);
    expect((await list('?project_id=p2', '2.80', 'eve:p1:manager,member')).status).toBe(403);
    const own = await list('?project_id=p1', '2.80', 'eve:p1:manager,member');
    expect(own.body.migrations).toHaveLength(3);
    for (const migration of own.body.migrations)
      expect(migration).toMatchObject({
        source_compute: null,
        source_node: null,
        dest_compute: null,
        dest_node: null,
        dest_host: null,
      });
  });
});
