import type { DriverVerb } from '@apistrata/compute-engine/drivers';
import { afterEach, describe, expect, it } from 'vitest';
import { historyOf, type Stage, show, stage } from '../servers-actions/stage.js';

const auto = { host: null, block_migration: 'auto' };

describe('a live migration', () => {
  let on: Stage;
  afterEach(async () => {
    expect(on.api.errors).toEqual([]);
    on.driver.clearRules();
    await on.api.idle();
    await on.api.close();
  });

  const hostOf = async (id: string) => (await show(on, id))['OS-EXT-SRV-ATTR:host'];

  async function all(id: string): Promise<any[]> {
    return (await on.admin('2.80').get(`/os-migrations?instance_uuid=${id}`)).body.migrations;
  }

  /** Starts a migration that waits in a step; resolves when the step has started. */
  async function serverInMigration(verb: DriverVerb, status: string) {
    on = await stage();
    const server = await on.ada('2.37').boot({ networks: 'auto' });
    const other = await on.ada('2.37').boot();
    const from = await hostOf(server.id);
    const rule = on.driver.addRule({ match: { verb }, hang: true });
    await on.admin('2.68').post(`/servers/${server.id}/action`, { 'os-migrateLive': auto });
    const [migration] = await on.until(
      () => all(server.id),
      ([m]) => m.status === status,
    );
    return { server, other, from, rule, migration, path: `/servers/${server.id}/migrations/${migration.id}` };
  }

  it.each([
    ['live_migration_queue', 'queued'],
    ['live_migration_prepare', 'preparing'],
    ['live_migration_run', 'running'],
    ['live_migration_finish', 'post-migrating'],
  ] as const)('that waits in %s is %s, in progress, and ends on another host when released', async (verb, status) => {
    const { server, from, rule, migration, path } = await serverInMigration(verb, status);
    expect(migration.links.map(({ href }: any) => href)).toEqual([`${on.api.url}/v2.1${path}`, `${on.api.url}${path}`]);
    expect(await show(on, server.id)).toMatchObject({ status: 'MIGRATING', 'OS-EXT-STS:task_state': 'migrating' });
    expect((await on.admin().get(`/servers/${server.id}/migrations`)).body.migrations).toMatchObject([{ status }]);
    const shown = await on.admin('2.80').get(path);
    expect(shown.body.migration).toMatchObject({
      id: migration.id,
      status,
      server_uuid: server.id,
      source_compute: from,
      project_id: 'p1',
      user_id: 'admin',
    });
    expect((await on.ada().post(`/servers/${server.id}/action`, { 'os-stop': null })).status).toBe(409);
    rule.release();
    await on.api.idle();
    expect(await show(on, server.id)).toMatchObject({ status: 'ACTIVE', 'OS-EXT-STS:task_state': null });
    expect(await hostOf(server.id)).not.toBe(from);
    expect(await all(server.id)).toMatchObject([{ status: 'completed', migration_type: 'live-migration' }]);
    expect(await all(server.id)).not.toMatchObject([{ links: expect.anything() }]);
    expect((await on.admin().get(path)).status).toBe(404);
    expect((await on.admin().get(`/servers/${server.id}/migrations`)).body.migrations).toEqual([]);
    expect((await historyOf(on, server.id))[0]).toEqual(['live-migration', null]);
    const ports = await on.api.engine.catalogs.networks.listPorts(
      { userId: 'ada', projectId: 'p1', roles: [] },
      { deviceIds: [server.id] },
    );
    expect(ports.map(({ hostId }) => hostId)).toEqual([await hostOf(server.id)]);
  });

  it('shows the transferred memory while it runs', async () => {
    const { path } = await serverInMigration('live_migration_run', 'running');
    const { migration } = (await on.admin().get(path)).body;
    expect(migration.memory_total_bytes).toBe(512 * 1024 * 1024);
    expect(migration.memory_processed_bytes + migration.memory_remaining_bytes).toBe(migration.memory_total_bytes);
    expect(migration.disk_total_bytes).toBeNull();
  });

  it('can be forced to complete while it runs', async () => {
    const { server, from, path } = await serverInMigration('live_migration_run', 'running');
    const responded = await on.admin('2.22').post(`${path}/action`, { force_complete: null });
    expect([responded.status, responded.body]).toEqual([202, undefined]);
    await on.api.idle();
    expect(await hostOf(server.id)).not.toBe(from);
    expect(await all(server.id)).toMatchObject([{ status: 'completed' }]);
    expect((await historyOf(on, server.id)).slice(0, 2)).toEqual([
      ['live_migration_force_complete', null],
      ['live-migration', null],
    ]);
  });

  it.each([
    ['live_migration_queue', 'queued', '2.65'],
    ['live_migration_prepare', 'preparing', '2.65'],
    ['live_migration_run', 'running', '2.24'],
  ] as const)('that waits in %s can be aborted while it is %s, since %s', async (verb, status, version) => {
    const { server, from, path } = await serverInMigration(verb, status);
    if (version !== '2.24') expect((await on.admin('2.64').delete(path)).status).toBe(400);
    expect((await on.admin(version).delete(path)).status).toBe(202);
    await on.api.idle();
    expect(await show(on, server.id)).toMatchObject({ status: 'ACTIVE', 'OS-EXT-SRV-ATTR:host': from });
    expect(await all(server.id)).toMatchObject([{ status: 'cancelled' }]);
    expect((await historyOf(on, server.id))[0]).toEqual(['live_migration_cancel', null]);
  });

  it('cannot be forced or aborted in other statuses, by other callers, or on another server', async () => {
    const { server, other, path } = await serverInMigration('live_migration_prepare', 'preparing');
    const force = { force_complete: null };
    expect((await on.admin('2.22').post(`${path}/action`, force)).status).toBe(400);
    expect((await on.admin('2.22').post(`${path}/action`, { force_complete: 1 })).status).toBe(400);
    expect((await on.admin('2.21').post(`${path}/action`, force)).status).toBe(404);
    expect((await on.ada('2.22').post(`${path}/action`, force)).status).toBe(403);
    expect((await on.ada('2.65').delete(path)).status).toBe(403);
    expect((await on.admin('2.23').delete(path)).status).toBe(404);
    expect((await on.admin('2.65').delete(`/servers/${server.id}/migrations/9999`)).status).toBe(404);
    expect((await on.admin('2.65').delete(`/servers/${server.id}/migrations/x`)).status).toBe(404);
    const elsewhere = path.replace(server.id, other.id);
    expect((await on.admin('2.65').delete(elsewhere)).status).toBe(409);
    expect((await on.admin('2.22').post(`${elsewhere}/action`, force)).status).toBe(409);
    expect((await on.admin('2.23').get(elsewhere)).status).toBe(404);
    expect((await on.admin('2.22').get(path)).status).toBe(404);
    expect((await on.admin('2.22').get(`/servers/${server.id}/migrations`)).status).toBe(404);
    expect((await on.ada('2.23').get(`/servers/${server.id}/migrations`)).status).toBe(403);
    expect((await on.ada('2.23').get(path)).status).toBe(403);
  });

  it('shows project managers no hosts in the list', async () => {
    const { server } = await serverInMigration('live_migration_run', 'running');
    const manager = on.api.as('eve:p1:manager,member', '2.80');
    const [listed] = (await manager.get(`/servers/${server.id}/migrations`)).body.migrations;
    expect(listed).toMatchObject({
      status: 'running',
      source_compute: null,
      source_node: null,
      dest_compute: null,
      dest_node: null,
      dest_host: null,
    });
  });

  it('ends when the server is deleted', async () => {
    const { server } = await serverInMigration('live_migration_run', 'running');
    await on.ada().delete(`/servers/${server.id}`);
    await on.api.idle();
    expect((await on.ada().get(`/servers/${server.id}`)).status).toBe(404);
    expect(await all(server.id)).toEqual([]);
  });

  it('leaves the server on its host if it fails', async () => {
    on = await stage({ rules: [{ match: { verb: 'live_migration_run' }, fail: 'too much memory' }] });
    const server = await on.ada('2.37').boot();
    const from = await hostOf(server.id);
    await on.admin('2.68').act(server.id, 'os-migrateLive', auto);
    expect(await show(on, server.id)).toMatchObject({ status: 'ACTIVE', 'OS-EXT-SRV-ATTR:host': from });
    expect(await all(server.id)).toMatchObject([{ status: 'failed' }]);
    expect((await historyOf(on, server.id))[0]).toEqual(['live-migration', 'Error']);
  });

  const places = { block_migration: false, disk_over_commit: false };

  it('is rejected for unknown hosts and, until 2.33, for its own host or without a suitable host', async () => {
    on = await stage();
    const server = await on.ada('2.37').boot({ availability_zone: 'alpha' });
    const from = await hostOf(server.id);
    const act = (version: string, body: object) => on.admin(version).act(server.id, 'os-migrateLive', body);
    expect((await act('2.24', { host: 'nowhere', ...places })).status).toBe(400);
    expect((await act('2.68', { host: 'nowhere', block_migration: 'auto' })).status).toBe(400);
    expect((await act('2.24', { host: from, ...places })).status).toBe(400);
    expect((await act('2.67', { ...auto, force: true })).status).toBe(400);
    await on.setDown(from === 'a1' ? 'a2' : 'a1', true);
    const rejected = await act('2.24', { host: null, ...places });
    expect(rejected.body.badRequest.message).toContain('No valid host');
    expect(await all(server.id)).toEqual([]);
    expect((await act('2.34', auto)).status).toBe(202);
    expect((await act('2.34', { host: from, block_migration: 'auto' })).status).toBe(202);
    expect((await all(server.id)).map(({ status }) => status)).toEqual(['error', 'error']);
    expect(await show(on, server.id)).toMatchObject({ status: 'ACTIVE', 'OS-EXT-SRV-ATTR:host': from });
    await on.setDown(from, true);
    expect((await act('2.24', { host: null, ...places })).status).toBe(400);
  });

  /** Makes hosts fail the pre-check. The reason contains the name of the host. */
  function failPreCheck(...hosts: readonly string[]) {
    Object.assign(on.driver, {
      obstacle: async (verb: string, _server: unknown, destHost: string) =>
        verb === 'live_migration_prepare' && hosts.includes(destHost)
          ? { code: 'CONFLICT', message: `Host ${destHost} lacks aes.` }
          : null,
    });
  }

  it('is rejected until 2.33, and is an error later, if the named host fails the pre-check', async () => {
    on = await stage();
    const server = await on.ada('2.37').boot();
    const from = await hostOf(server.id);
    const host = from === 'b1' ? 'b2' : 'b1';
    failPreCheck(host);
    const act = (version: string, body: object) => on.admin(version).act(server.id, 'os-migrateLive', body);
    const message = `Migration pre-check error: Host ${host} lacks aes.`;
    const rejected = await act('2.33', { host, block_migration: 'auto' });
    expect([rejected.status, rejected.body.badRequest.message]).toEqual([400, message]);
    expect(await all(server.id)).toEqual([]);
    const bodies = [
      { host, block_migration: 'auto' },
      { host, block_migration: 'auto', force: true },
    ];
    for (const body of bodies) expect((await act('2.34', body)).status).toBe(202);
    expect((await all(server.id)).map(({ status }) => status)).toEqual(['error', 'error']);
    expect(await show(on, server.id)).toMatchObject({
      status: 'ACTIVE',
      'OS-EXT-STS:task_state': null,
      'OS-EXT-SRV-ATTR:host': from,
    });
    const [{ request_id }] = (await on.admin('2.84').get(`/servers/${server.id}/os-instance-actions`)).body
      .instanceActions;
    const { instanceAction } = (await on.admin('2.84').get(`/servers/${server.id}/os-instance-actions/${request_id}`))
      .body;
    expect(instanceAction).toMatchObject({ action: 'live-migration', message: 'Error' });
    expect(instanceAction.events).toMatchObject([
      { event: 'conductor_live_migrate_instance', result: 'Error', details: message },
    ]);
    failPreCheck();
    expect((await act('2.34', { host, block_migration: 'auto' })).status).toBe(202);
    expect(await hostOf(server.id)).toBe(host);
  });

  it.each(['2.33', '2.68'])('selects a host that passes the pre-check, or none, at %s', async (version) => {
    on = await stage();
    const server = await on.ada('2.37').boot();
    const from = await hostOf(server.id);
    const others = ['a1', 'a2', 'b1', 'b2'].filter((name) => name !== from);
    const act = () => on.admin(version).act(server.id, 'os-migrateLive', auto);
    failPreCheck(...others);
    expect((await act()).status).toBe(202);
    expect(await all(server.id)).toMatchObject([{ status: 'error', dest_compute: null }]);
    expect(await show(on, server.id)).toMatchObject({ status: 'ACTIVE', 'OS-EXT-SRV-ATTR:host': from });
    failPreCheck(...others.slice(1));
    expect((await act()).status).toBe(202);
    expect(await hostOf(server.id)).toBe(others[0]);
    const { body } = await on.admin('2.87').get('/os-hypervisors/detail');
    const used = body.hypervisors.filter(({ running_vms }: any) => running_vms > 0);
    expect(used.map(({ hypervisor_hostname, vcpus_used }: any) => [hypervisor_hostname, vcpus_used])).toEqual([
      [others[0], 1],
    ]);
  });

  it('bypasses the scheduler for a named host, until 2.29 and with force', async () => {
    on = await stage();
    const server = await on.ada('2.37').boot({ availability_zone: 'alpha' });
    const act = (version: string, body: object) => on.admin(version).act(server.id, 'os-migrateLive', body);
    await act('2.68', { host: 'b1', block_migration: 'auto' });
    expect(await hostOf(server.id)).not.toBe('b1');
    await act('2.24', { host: 'b1', ...places });
    expect(await hostOf(server.id)).toBe('b1');
    await act('2.67', { host: 'b2', block_migration: 'auto', force: true });
    expect(await hostOf(server.id)).toBe('b2');
  });

  it.each([
    ['2.24', { host: null, block_migration: 'auto', disk_over_commit: false }, 400],
    ['2.24', { host: null, block_migration: true }, 400],
    ['2.25', { host: null, block_migration: true, disk_over_commit: false }, 400],
    ['2.29', { ...auto, force: false }, 400],
    ['2.30', { ...auto, force: false }, 202],
    ['2.67', { ...auto, force: false }, 202],
  ])('at %s with %j returns status %i', async (version, body, status) => {
    on = await stage();
    const server = await on.ada('2.37').boot();
    expect((await on.admin(version).act(server.id, 'os-migrateLive', body)).status).toBe(status);
  });
});
