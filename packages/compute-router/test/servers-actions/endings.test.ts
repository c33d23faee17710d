import { coreOf, overview } from '@apistrata/compute-engine/testing';
import { describe, expect, it } from 'vitest';
import { historyOf, type Stage, show, stage } from './stage.js';

const ada = { userId: 'ada', projectId: 'p1', roles: ['member'] };

async function usedCores(on: Stage): Promise<number> {
  const { hosts } = await overview(on.api.engine, { servers: 0 });
  return hosts.reduce((sum, { servers }) => sum + servers, 0);
}

describe('soft deletion', () => {
  const retained = { settings: { reclaimSeconds: 3600 } } as const;

  it('hides a server that can be restored for the configured time', async () => {
    const on = await stage(retained);
    const server = await on.ada('2.37').boot();
    expect((await on.ada().delete(`/servers/${server.id}`)).status).toBe(204);
    await on.api.idle();
    expect((await on.ada().get('/servers')).body.servers).toEqual([]);
    expect((await show(on, server.id)).status).toBe('SOFT_DELETED');
    expect((await on.ada().act(server.id, 'os-start')).status).toBe(409);
    expect((await on.ada().act(server.id, 'restore')).status).toBe(202);
    expect((await show(on, server.id)).status).toBe('ACTIVE');
    expect((await historyOf(on, server.id)).map(([action]) => action)).toEqual(['restore', 'delete', 'create']);
    await on.api.close();
  });

  it('becomes permanent after that time', async () => {
    const on = await stage(retained);
    const server = await on.ada('2.37').boot();
    await on.ada().delete(`/servers/${server.id}`);
    await on.api.idle();
    await on.clock.advance(3_500_000);
    await on.api.engine.periodicTasks.run();
    await on.api.idle();
    expect((await show(on, server.id)).status).toBe('SOFT_DELETED');
    await on.clock.advance(200_000);
    await on.until(
      async () => {
        await on.clock.advance(60_000);
        return on.admin().get(`/servers/${server.id}`);
      },
      ({ status }) => status === 404,
    );
    await on.api.idle();
    expect(await usedCores(on)).toBe(0);
    await on.api.close();
  });

  it('checks the quota again when a server is restored', async () => {
    const on = await stage({ settings: { reclaimSeconds: 3600, quotas: { instances: 1 } as never } });
    const server = await on.ada('2.37').boot();
    await on.ada().delete(`/servers/${server.id}`);
    await on.api.idle();
    await on.ada('2.37').boot();
    expect((await on.ada().act(server.id, 'restore')).body.forbidden.message).toMatch(/^Quota exceeded for instances/);
    await on.api.close();
  });

  it('is skipped with forceDelete, for servers that never ran, and on a host that is down', async () => {
    const on = await stage(retained);
    const forced = await on.ada('2.37').boot();
    expect((await on.ada().act(forced.id, 'forceDelete')).status).toBe(202);
    on.driver.addRule({ match: { name: 'unborn', verb: 'spawn' }, fail: 'no' });
    const neverLaunched = await on.ada('2.37').boot({ name: 'unborn' });
    await on.ada().delete(`/servers/${neverLaunched.id}`);
    const lost = await on.ada('2.37').boot();
    await on.setDown((await show(on, lost.id))['OS-EXT-SRV-ATTR:host'], true);
    await on.ada().delete(`/servers/${lost.id}`);
    await on.api.idle();
    for (const { id } of [forced, neverLaunched, lost])
      expect((await on.admin().get(`/servers/${id}`)).status).toBe(404);
    expect(await usedCores(on)).toBe(0);
    await on.api.close();
  });
});

describe('deletion', () => {
  it('confirms a resized server first, and releases both allocations', async () => {
    const on = await stage();
    const server = await on.ada('2.37').boot();
    await on.ada().act(server.id, 'resize', { flavorRef: '2' });
    expect(await usedCores(on)).toBe(2);
    await on.ada().delete(`/servers/${server.id}`);
    await on.api.idle();
    expect(await usedCores(on)).toBe(0);
    const { db } = coreOf(on.api.engine).store;
    const migration = await db.selectFrom('migrations').select('status').executeTakeFirst();
    expect(migration!.status).toBe('confirmed');
    expect((await on.admin().get('/os-migrations')).body.migrations).toEqual([]);
    await on.api.close();
  });

  it('deletes the record immediately on a host that is down, and releases the resources of the server', async () => {
    const on = await stage();
    const server = await on.bootFromVolume({ networks: 'auto' });
    const shown = await show(on, server.id);
    on.driver.addRule({ match: { verb: 'destroy' }, fail: 'no response' });
    await on.setDown(shown['OS-EXT-SRV-ATTR:host'], true);
    expect((await on.ada().delete(`/servers/${server.id}`)).status).toBe(204);
    expect((await on.ada().get(`/servers/${server.id}`)).status).toBe(404);
    await on.api.idle();
    const { networks, volumes } = on.api.engine.catalogs;
    expect(await networks.listPorts(ada, { deviceIds: [server.id] })).toEqual([]);
    expect(await volumes.listVolumes(ada)).toEqual([]);
    expect(await usedCores(on)).toBe(0);
    await on.api.close();
  });

  it('can be requested again while it is in progress, without effect', async () => {
    const on = await stage({ rules: [{ match: { verb: 'destroy' }, hang: true }] });
    const server = await on.ada('2.37').boot();
    for (let i = 0; i < 3; i++) expect((await on.ada().delete(`/servers/${server.id}`)).status).toBe(204);
    expect(await show(on, server.id)).toMatchObject({ 'OS-EXT-STS:task_state': 'deleting' });
    expect((await historyOf(on, server.id)).map(([action]) => action)).toEqual(['delete', 'create']);
    on.driver.clearRules();
    await on.api.idle();
    expect((await on.ada().get(`/servers/${server.id}`)).status).toBe(404);
    await on.api.close();
  });

  it('leaves a server in error if the machine cannot be removed, and can be repeated', async () => {
    const on = await stage({ rules: [{ match: { verb: 'destroy' }, fail: 'device busy', times: 1 }] });
    const server = await on.ada('2.37').boot();
    await on.ada().delete(`/servers/${server.id}`);
    await on.api.idle();
    expect(await show(on, server.id)).toMatchObject({ status: 'ERROR', fault: { message: 'device busy' } });
    await on.ada().delete(`/servers/${server.id}`);
    await on.api.idle();
    expect((await on.ada().get(`/servers/${server.id}`)).status).toBe(404);
    await on.api.close();
  });
});

describe('os-resetState', () => {
  it('frees a server from a hanging action, and ends its migration', async () => {
    const on = await stage({ rules: [{ match: { verb: 'migrate_disk' }, hang: true }] });
    const server = await on.ada('2.37').boot();
    await on.ada().post(`/servers/${server.id}/action`, { resize: { flavorRef: '2' } });
    await on.until(
      () => show(on, server.id),
      (shown) => shown['OS-EXT-STS:task_state'] === 'resize_migrating',
    );
    expect((await on.admin().act(server.id, 'os-resetState', { state: 'active' })).status).toBe(202);
    expect(await show(on, server.id)).toMatchObject({ status: 'ACTIVE', 'OS-EXT-STS:task_state': null });
    expect(await usedCores(on)).toBe(1);
    expect((await on.admin().get('/os-migrations')).body.migrations).toMatchObject([{ status: 'error' }]);
    // The superseded job completes its own entry in the history.
    const history = await on.until(
      () => historyOf(on, server.id),
      (entries) => entries[1]?.[1] !== null,
    );
    expect(history).toEqual([
      ['resetState', null],
      ['resize', 'Error'],
      ['create', null],
    ]);
    await on.api.close();
  });
});
