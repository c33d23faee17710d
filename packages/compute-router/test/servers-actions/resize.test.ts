import { coreOf } from '@apistrata/compute-engine/testing';
import { describe, expect, it } from 'vitest';
import { sharedByTests } from '../shared-by-tests.js';
import { historyOf, show, stage } from './stage.js';

describe('resize and migrate', () => {
  const on = sharedByTests(stage);

  const place = (shown: any) => shown['OS-EXT-SRV-ATTR:host'];

  async function migrationsOf(id: string): Promise<any[]> {
    return (await on.admin('2.59').get(`/os-migrations?instance_uuid=${id}`)).body.migrations;
  }

  it('resizes, waits for confirmation, and confirms', async () => {
    const server = await on.ada('2.37').boot();
    const before = place(await show(on, server.id));
    expect((await on.ada().act(server.id, 'resize', { flavorRef: '2' })).status).toBe(202);
    const resized = await show(on, server.id);
    expect(resized).toMatchObject({ status: 'VERIFY_RESIZE', flavor: { original_name: 'm1.small' } });
    expect(place(resized)).not.toBe(before);
    expect(await migrationsOf(server.id)).toMatchObject([
      { migration_type: 'resize', status: 'finished', source_compute: before, dest_compute: place(resized) },
    ]);
    expect((await on.ada().act(server.id, 'confirmResize')).status).toBe(204);
    expect(await show(on, server.id)).toMatchObject({ status: 'ACTIVE', flavor: { original_name: 'm1.small' } });
    expect(await migrationsOf(server.id)).toMatchObject([{ status: 'confirmed' }]);
    expect((await historyOf(on, server.id)).map(([action]) => action)).toEqual(['confirmResize', 'resize', 'create']);
  });

  it('reverts to the old flavor on the old host, and leaves a stopped server stopped', async () => {
    const server = await on.ada('2.37').boot();
    const before = place(await show(on, server.id));
    await on.ada().act(server.id, 'os-stop');
    await on.ada().act(server.id, 'resize', { flavorRef: '2' });
    expect(await show(on, server.id)).toMatchObject({ status: 'VERIFY_RESIZE', 'OS-EXT-STS:power_state': 4 });
    expect((await on.ada().act(server.id, 'revertResize')).status).toBe(202);
    const reverted = await show(on, server.id);
    expect(reverted).toMatchObject({ status: 'SHUTOFF', flavor: { original_name: 'm1.tiny' } });
    expect(place(reverted)).toBe(before);
    expect(await migrationsOf(server.id)).toMatchObject([{ status: 'reverted' }]);
  });

  it('moves ports and volumes', async () => {
    const server = await on.bootFromVolume({ networks: 'auto' });
    await on.ada().act(server.id, 'resize', { flavorRef: '2' });
    const host = place(await show(on, server.id));
    const caller = { userId: 'ada', projectId: 'p1', roles: [] };
    const { networks, volumes } = on.api.engine.catalogs;
    expect((await networks.listPorts(caller, { deviceIds: [server.id] })).map(({ hostId }) => hostId)).toEqual([host]);
    const [{ id }] = (await show(on, server.id))['os-extended-volumes:volumes_attached'];
    expect((await volumes.getVolume(caller, id)).attachments).toMatchObject([{ host, status: 'attached' }]);
  });

  it('shows each step while it is in progress', async () => {
    const server = await on.ada('2.37').boot({ name: 'slow' });
    for (const [verb, task, status, migration] of [
      ['migrate_disk', 'resize_migrating', 'RESIZE', 'migrating'],
      ['finish_migration', 'resize_finish', 'RESIZE', 'post-migrating'],
    ] as const) {
      const rule = on.driver.addRule({ match: { name: 'slow', verb, action: 'resize' }, hang: true });
      if (verb === 'migrate_disk') await on.ada().post(`/servers/${server.id}/action`, { resize: { flavorRef: '2' } });
      const seen = await on.until(
        () => show(on, server.id),
        (shown) => shown['OS-EXT-STS:task_state'] === task,
      );
      expect(seen.status).toBe(status);
      expect(await migrationsOf(server.id)).toMatchObject([{ status: migration }]);
      if (verb === 'migrate_disk')
        on.driver.addRule({ match: { name: 'slow', verb: 'finish_migration', action: 'resize' }, delayMs: 1 });
      rule.remove();
      if (verb === 'finish_migration') await on.clock.advance(10);
    }
    on.driver.clearRules();
    await on.clock.advance(10);
    await on.api.idle();
    expect((await show(on, server.id)).status).toBe('VERIFY_RESIZE');
  });

  it.each([
    ['the flavor it has', { flavorRef: '1' }],
    ['a flavor that does not exist', { flavorRef: 'nobody' }],
    ['a disabled flavor', { flavorRef: 'gone' }],
    ['a flavor without a disk', { flavorRef: 'diskless' }],
  ])('rejects %s', async (_what, body) => {
    const server = await on.ada('2.37').boot();
    expect((await on.ada().act(server.id, 'resize', body)).status).toBe(400);
  });

  it('accepts a flavor without a disk for a volume-backed server', async () => {
    const server = await on.bootFromVolume();
    expect((await on.ada().act(server.id, 'resize', { flavorRef: 'diskless' })).status).toBe(202);
  });

  it('rejects a second confirmation, and a confirmation without a resize', async () => {
    const server = await on.ada('2.37').boot();
    expect((await on.ada().act(server.id, 'confirmResize')).status).toBe(409);
    await on.ada().act(server.id, 'resize', { flavorRef: '2' });
    await on.admin().act(server.id, 'os-resetState', { state: 'error' });
    expect((await on.ada().act(server.id, 'revertResize')).status).toBe(409);
  });

  it('returns 400 if no resize waits for confirmation anymore', async () => {
    const server = await on.ada('2.37').boot();
    await on.ada().act(server.id, 'resize', { flavorRef: '2' });
    const { store } = coreOf(on.api.engine);
    await store.db.deleteFrom('migrations').where('server_id', '=', server.id).execute();
    expect((await on.ada().act(server.id, 'confirmResize')).body.badRequest.message).toBe(
      `Instance ${server.id} has not been resized.`,
    );
    expect((await on.ada().act(server.id, 'revertResize')).status).toBe(400);
  });

  it('counts the new size against the quota immediately', async () => {
    const smallQuota = await stage({ settings: { quotas: { cores: 3 } as never } });
    const [one, two] = [await smallQuota.ada('2.37').boot(), await smallQuota.ada('2.37').boot()];
    const responses = await Promise.all(
      [one, two].map(({ id }) => smallQuota.ada().post(`/servers/${id}/action`, { resize: { flavorRef: '3' } })),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([202, 403]);
    const rejected = responses.find(({ status }) => status === 403)!;
    expect(rejected.body.forbidden.message).toMatch(
      /^Quota exceeded for cores: Requested 1, but already used 3 of 3 cores/,
    );
    await smallQuota.api.idle();
    await smallQuota.api.close();
  });

  it('does not change the server if no host is suitable', async () => {
    const small = await stage();
    const server = await small.ada('2.37').boot({ availability_zone: 'alpha' });
    const host = place(await show(small, server.id));
    const other = host === 'a1' ? 'a2' : 'a1';
    await small.setDown(other, true);
    expect((await small.admin().act(server.id, 'migrate')).status).toBe(202);
    expect(await show(small, server.id)).toMatchObject({ status: 'ACTIVE', 'OS-EXT-SRV-ATTR:host': host });
    expect((await historyOf(small, server.id))[0]).toEqual(['migrate', 'Error']);
    await small.api.close();
  });

  it('migrates to a requested host since 2.56', async () => {
    const server = await on.ada('2.37').boot();
    const before = place(await show(on, server.id));
    const target = ['a1', 'a2', 'b1', 'b2'].find((name) => name !== before)!;
    expect((await on.admin('2.56').act(server.id, 'migrate', { host: before })).status).toBe(400);
    expect((await on.admin('2.56').act(server.id, 'migrate', { host: 'nowhere' })).status).toBe(400);
    expect((await on.admin('2.56').act(server.id, 'migrate', { host: target })).status).toBe(202);
    expect(await show(on, server.id)).toMatchObject({ status: 'VERIFY_RESIZE', 'OS-EXT-SRV-ATTR:host': target });
    await on.admin().act(server.id, 'revertResize');
    expect((await on.admin('2.55').act(server.id, 'migrate', { whatever: [1] })).status).toBe(202);
  });

  it('lets project managers migrate, but not select the host', async () => {
    const server = await on.ada('2.37').boot();
    const manager = on.api.as('eve:p1:manager,member', '2.56');
    expect((await manager.act(server.id, 'migrate', { host: 'a1' })).status).toBe(403);
    expect((await manager.act(server.id, 'migrate', null)).status).toBe(202);
  });

  it('returns 409 while the host is down', async () => {
    const singleHost = await stage();
    const server = await singleHost.ada('2.37').boot();
    const host = place(await show(singleHost, server.id));
    await singleHost.setDown(host, true);
    expect((await singleHost.ada().act(server.id, 'resize', { flavorRef: '2' })).status).toBe(409);
    expect((await singleHost.admin().act(server.id, 'migrate')).status).toBe(409);
    await singleHost.setDown(host, false);
    await singleHost.ada().act(server.id, 'resize', { flavorRef: '2' });
    await singleHost.setDown(place(await show(singleHost, server.id)), true);
    expect((await singleHost.ada().act(server.id, 'confirmResize')).status).toBe(409);
    await singleHost.api.close();
  });

  it('leaves the server in error on its current host if the machine fails', async () => {
    const server = await on.ada('2.37').boot({ name: 'torn' });
    const before = place(await show(on, server.id));
    on.driver.addRule({ match: { name: 'torn', verb: 'migrate_disk' }, fail: 'no route', times: 1 });
    await on.ada().act(server.id, 'resize', { flavorRef: '2' });
    expect(await show(on, server.id)).toMatchObject({
      status: 'ERROR',
      'OS-EXT-SRV-ATTR:host': before,
      flavor: { original_name: 'm1.tiny' },
    });
    expect(await migrationsOf(server.id)).toMatchObject([{ status: 'error' }]);
  });
});
