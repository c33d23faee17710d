import { describe, expect, it } from 'vitest';
import { sharedByTests } from '../shared-by-tests.js';
import { historyOf, type Stage, show, stage } from './stage.js';

const ada = { userId: 'ada', projectId: 'p1', roles: ['member'] };

describe('shelving', () => {
  const on = sharedByTests(stage);

  const images = (on: Stage, id: string) =>
    on.api.engine.catalogs.images.list(ada, { properties: { instance_uuid: id } });

  async function shelved(fields: Record<string, unknown> = {}): Promise<any> {
    const server = await on.ada('2.37').boot(fields);
    await on.ada().act(server.id, 'shelve');
    return show(on, server.id);
  }

  it('removes a server from its host and stores its disk as an image', async () => {
    const server = await shelved({ networks: 'auto' });
    expect(server).toMatchObject({
      status: 'SHELVED_OFFLOADED',
      'OS-EXT-SRV-ATTR:host': null,
      'OS-EXT-STS:power_state': 4,
      hostId: '',
    });
    expect(await images(on, server.id)).toMatchObject([{ name: 'web-shelved', status: 'active' }]);
    const ports = await on.api.engine.catalogs.networks.listPorts(ada, { deviceIds: [server.id] });
    expect(ports.map(({ hostId }) => hostId)).toEqual(['']);
    expect((await on.ada().act(server.id, 'unshelve')).status).toBe(202);
    const back = await show(on, server.id);
    expect(back).toMatchObject({ status: 'ACTIVE', addresses: server.addresses });
    expect(back['OS-EXT-SRV-ATTR:host']).toBeTruthy();
    expect(await images(on, server.id)).toEqual([]);
    expect((await historyOf(on, server.id)).map(([action]) => action)).toEqual(['unshelve', 'shelve', 'create']);
  });

  it('creates no image of volume-backed servers', async () => {
    const server = await on.bootFromVolume();
    await on.ada().act(server.id, 'shelve');
    expect((await show(on, server.id)).status).toBe('SHELVED_OFFLOADED');
    expect(await images(on, server.id)).toEqual([]);
    await on.ada().act(server.id, 'unshelve');
    expect((await show(on, server.id)).status).toBe('ACTIVE');
  });

  it('removes the image with the server', async () => {
    const server = await shelved();
    await on.ada().delete(`/servers/${server.id}`);
    await on.api.idle();
    expect(await images(on, server.id)).toEqual([]);
  });

  it('keeps the host for the configured time', async () => {
    const slow = await stage({ settings: { shelvedOffloadSeconds: 3600 } });
    const server = await slow.ada('2.37').boot();
    await slow.ada().act(server.id, 'shelve');
    expect(await show(slow, server.id)).toMatchObject({ status: 'SHELVED', 'OS-EXT-STS:power_state': 4 });
    const place = { availability_zone: 'alpha' };
    expect((await slow.ada('2.77').act(server.id, 'unshelve', place)).status).toBe(409);
    await slow.ada().act(server.id, 'unshelve');
    expect((await show(slow, server.id)).status).toBe('ACTIVE');
    await slow.ada().act(server.id, 'shelve');
    expect((await slow.admin().act(server.id, 'shelveOffload')).status).toBe(202);
    expect((await show(slow, server.id)).status).toBe('SHELVED_OFFLOADED');
    await slow.ada().act(server.id, 'unshelve');
    await slow.ada().act(server.id, 'shelve');
    await slow.clock.advance(3_700_000);
    await slow.until(
      async () => {
        await slow.clock.advance(60_000);
        return show(slow, server.id);
      },
      ({ status }) => status === 'SHELVED_OFFLOADED',
    );
    await slow.api.close();
  });

  it('unshelves a server to the requested zone since 2.77, and pins it there', async () => {
    const server = await shelved();
    expect(server.pinned_availability_zone).toBeNull();
    expect((await on.ada('2.77').act(server.id, 'unshelve', { availability_zone: 'nowhere' })).status).toBe(400);
    expect((await on.ada('2.77').act(server.id, 'unshelve', { availability_zone: 'beta' })).status).toBe(202);
    const back = await show(on, server.id);
    expect(back).toMatchObject({ 'OS-EXT-AZ:availability_zone': 'beta', pinned_availability_zone: 'beta' });
  });

  it('removes the zone with null, and uses the host that an administrator requests, since 2.91', async () => {
    const server = await shelved({ availability_zone: 'alpha' });
    expect(server.pinned_availability_zone).toBe('alpha');
    expect((await on.ada('2.91').act(server.id, 'unshelve', { host: 'b1' })).status).toBe(403);
    expect((await on.admin('2.91').act(server.id, 'unshelve', { host: 'nowhere' })).status).toBe(400);
    expect((await on.admin('2.91').act(server.id, 'unshelve', { host: 'b1' })).status).toBe(409);
    expect((await on.admin('2.90').act(server.id, 'unshelve', { host: 'b1' })).status).toBe(400);
    const freely = { host: 'b1', availability_zone: null };
    expect((await on.admin('2.91').act(server.id, 'unshelve', freely)).status).toBe(202);
    expect(await show(on, server.id)).toMatchObject({
      'OS-EXT-SRV-ATTR:host': 'b1',
      pinned_availability_zone: null,
    });
  });

  it('accepts {} like null since 2.91', async () => {
    const server = await shelved();
    expect((await on.ada('2.90').act(server.id, 'unshelve', {})).status).toBe(400);
    expect((await on.ada('2.91').act(server.id, 'unshelve', {})).status).toBe(202);
  });

  it('leaves the server shelved if no host is suitable', async () => {
    const server = await shelved({ availability_zone: 'alpha' });
    await on.setDown('a1', true);
    await on.setDown('a2', true);
    await on.ada().act(server.id, 'unshelve');
    expect(await show(on, server.id)).toMatchObject({ status: 'SHELVED_OFFLOADED', 'OS-EXT-STS:task_state': null });
    expect((await historyOf(on, server.id))[0]).toEqual(['unshelve', 'Error']);
    await on.setDown('a1', false);
    await on.setDown('a2', false);
    await on.ada().act(server.id, 'unshelve');
    expect((await show(on, server.id)).status).toBe('ACTIVE');
  });

  it('does not unshelve a server with volumes to another zone if that is disabled', async () => {
    const strict = await stage({ settings: { crossZoneAttach: false } });
    const server = await strict.bootFromVolume();
    await strict.ada().act(server.id, 'shelve');
    const responded = await strict.ada('2.77').act(server.id, 'unshelve', { availability_zone: 'beta' });
    expect(responded.status).toBe(409);
    await strict.api.close();
  });
});
