import { describe, expect, it } from 'vitest';
import { sharedByTests } from '../shared-by-tests.js';
import { historyOf, images, type Stage, show, stage } from './stage.js';

describe('rescue', () => {
  const on = sharedByTests(stage);

  it('boots from the given image, and is reverted', async () => {
    const server = await on.ada('2.37').boot();
    const responded = await on.ada().act(server.id, 'rescue', { adminPass: 'secret', rescue_image_ref: images.other });
    expect([responded.status, responded.body]).toEqual([200, { adminPass: 'secret' }]);
    expect((await show(on, server.id)).status).toBe('RESCUE');
    expect((await on.ada().act(server.id, 'unrescue')).status).toBe(202);
    expect((await show(on, server.id)).status).toBe('ACTIVE');
    expect((await on.ada().act(server.id, 'rescue')).body.adminPass).toMatch(/^\w{12}$/);
  });

  it.each([
    ['does not exist', '55555555-5555-4555-8555-555555555555'],
    ['has no content', images.queued],
    ['needs more memory', images.large],
  ])('rejects an image that %s', async (_what, rescue_image_ref) => {
    const server = await on.ada('2.37').boot();
    expect((await on.ada().act(server.id, 'rescue', { rescue_image_ref })).status).toBe(400);
  });

  it('accepts volume-backed servers since 2.87, with a stable device rescue image', async () => {
    const server = await on.bootFromVolume();
    expect((await on.ada('2.86').act(server.id, 'rescue', { rescue_image_ref: images.rescue })).status).toBe(400);
    expect((await on.ada('2.87').act(server.id, 'rescue', { rescue_image_ref: images.other })).status).toBe(400);
    expect((await on.ada('2.87').act(server.id, 'rescue')).status).toBe(400);
    expect((await on.ada('2.87').act(server.id, 'rescue', { rescue_image_ref: images.rescue })).status).toBe(200);
    expect((await show(on, server.id)).status).toBe('RESCUE');
  });

  it('takes place on the host that an administrator requests, since 2.91', async () => {
    const server = await on.ada('2.37').boot({ networks: 'auto' });
    const before = (await show(on, server.id))['OS-EXT-SRV-ATTR:host'];
    const host = ['a1', 'a2', 'b1', 'b2'].find((name) => name !== before)!;
    expect((await on.admin('2.90').act(server.id, 'rescue', { host })).status).toBe(400);
    expect((await on.ada('2.91').act(server.id, 'rescue', { host })).status).toBe(403);
    expect((await on.admin('2.91').act(server.id, 'rescue', { host: 'nowhere' })).status).toBe(400);
    expect((await on.admin('2.91').act(server.id, 'rescue', { host })).status).toBe(200);
    expect(await show(on, server.id)).toMatchObject({ status: 'RESCUE', 'OS-EXT-SRV-ATTR:host': host });
  });
});

describe('evacuate', () => {
  let on: Stage;
  let server: any;
  let source: string;

  async function lost(fields: Record<string, unknown> = {}): Promise<void> {
    on = await stage();
    server = await on.ada('2.37').boot(fields);
    source = (await show(on, server.id))['OS-EXT-SRV-ATTR:host'];
    await on.setDown(source, true);
  }

  it('rebuilds a server from a failed host on another host', async () => {
    await lost({ networks: 'auto' });
    const response = await on.admin('2.14').act(server.id, 'evacuate', {});
    expect([response.status, response.body]).toEqual([200, undefined]);
    const shown = await show(on, server.id);
    expect(shown.status).toBe('ACTIVE');
    expect(shown['OS-EXT-SRV-ATTR:host']).not.toBe(source);
    const { migrations } = (await on.admin('2.59').get('/os-migrations?migration_type=evacuation')).body;
    expect(migrations).toMatchObject([
      { status: 'done', source_compute: source, dest_compute: shown['OS-EXT-SRV-ATTR:host'], instance_uuid: server.id },
    ]);
    expect((await historyOf(on, server.id))[0]).toEqual(['evacuate', null]);
    expect(on.api.errors).toEqual([]);
    await on.api.close();
  });

  it('returns a password until 2.13, unless the disk keeps the old one', async () => {
    await lost();
    const body = { onSharedStorage: true, adminPass: 'x' };
    expect((await on.admin('2.13').act(server.id, 'evacuate', body)).status).toBe(400);
    expect((await on.admin('2.13').act(server.id, 'evacuate', {})).status).toBe(400);
    expect((await on.admin('2.14').act(server.id, 'evacuate', { onSharedStorage: true })).status).toBe(400);
    const response = await on.admin('2.13').act(server.id, 'evacuate', { onSharedStorage: false, adminPass: 'secret' });
    expect(response.body).toEqual({ adminPass: 'secret' });
    await on.api.close();
  });

  it('leaves the server off since 2.95', async () => {
    await lost();
    await on.admin('2.95').act(server.id, 'evacuate', {});
    expect(await show(on, server.id)).toMatchObject({ status: 'SHUTOFF', 'OS-EXT-STS:power_state': 4 });
    await on.api.close();
  });

  it('rejects hosts that are unknown, the same, or still up, and force without a host', async () => {
    await lost();
    expect((await on.ada().act(server.id, 'evacuate', {})).status).toBe(403);
    expect((await on.admin('2.68').act(server.id, 'evacuate', { host: 'nowhere' })).status).toBe(404);
    expect((await on.admin('2.68').act(server.id, 'evacuate', { host: source })).status).toBe(400);
    expect((await on.admin('2.67').act(server.id, 'evacuate', { force: true })).status).toBe(400);
    expect((await on.admin('2.68').act(server.id, 'evacuate', { force: true, host: 'a1' })).status).toBe(400);
    await on.setDown(source, false);
    const response = await on.admin('2.68').act(server.id, 'evacuate', {});
    expect(response.body.badRequest.message).toBe(`Compute service of ${source} is still in use.`);
    await on.api.close();
  });

  it('uses a forced host, even one that accepts no new servers', async () => {
    await lost();
    const host = ['a1', 'a2', 'b1', 'b2'].find((name) => name !== source)!;
    await on.setDown(host, true);
    await on.admin('2.68').act(server.id, 'evacuate', { host });
    expect(await show(on, server.id)).toMatchObject({ status: 'ERROR', 'OS-EXT-SRV-ATTR:host': source });
    await on.admin('2.67').act(server.id, 'evacuate', { host, force: true });
    expect(await show(on, server.id)).toMatchObject({ status: 'ACTIVE', 'OS-EXT-SRV-ATTR:host': host });
    await on.api.close();
  });

  it('replaces any action that hangs on the failed host, except a deletion', async () => {
    on = await stage({
      rules: [
        { match: { verb: 'reboot' }, hang: true },
        { match: { verb: 'destroy' }, hang: true },
      ],
    });
    server = await on.ada('2.37').boot();
    source = (await show(on, server.id))['OS-EXT-SRV-ATTR:host'];
    await on.ada().post(`/servers/${server.id}/action`, { reboot: { type: 'HARD' } });
    await on.setDown(source, true);
    await on.admin().act(server.id, 'evacuate', {});
    expect(await show(on, server.id)).toMatchObject({ status: 'ACTIVE', 'OS-EXT-STS:task_state': null });
    await on.ada().delete(`/servers/${server.id}`);
    const host = (await show(on, server.id))['OS-EXT-SRV-ATTR:host'];
    await on.setDown(host, true);
    const response = await on.admin().post(`/servers/${server.id}/action`, { evacuate: {} });
    expect(response.status).toBe(409);
    on.driver.clearRules();
    await on.api.close();
  });
});
