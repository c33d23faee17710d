import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, NETWORK, serverBody } from './clouds.js';

describe('reset', () => {
  it('restores the initial state', async () => {
    const cloud = await cloudUnderTest();
    let request = clientOf(cloud);
    await request('POST', '/compute/v2.1/servers', serverBody({ networks: [{ uuid: NETWORK }] }));
    await request('POST', '/network/v2.0/networks', { network: { name: 'mine' } });
    await request('POST', '/identity/v3/projects', { project: { name: 'new' } });
    await request('PUT', '/network/v2.0/quotas/p', { quota: { port: 1 } });
    await request('GET', '/network/v2.0/nothing');
    cloud.rules.http({ match: { path: '/compute/v2.1/servers' }, status: 500 });
    cloud.rules.machine({ match: { verb: 'spawn' }, hang: true });
    await request('POST', '/compute/v2.1/servers', serverBody({ name: 'hangs' }));
    await cloud.reset();
    expect(cloud.requests()).toEqual([]);
    expect(cloud.unhandled()).toEqual([]);
    request = clientOf(cloud);
    expect((await request('GET', '/compute/v2.1/servers')).body.servers).toEqual([]);
    const networks = (await request('GET', '/network/v2.0/networks')).body.networks;
    expect(networks.map(({ name }: { name: string }) => name)).toEqual(['private', 'public']);
    expect((await request('GET', '/network/v2.0/ports')).body.ports).toEqual([]);
    expect((await request('GET', '/identity/v3/projects?name=new')).body.projects).toEqual([]);
    expect((await request('GET', '/network/v2.0/quotas')).body.quotas).toEqual([]);
    await request('POST', '/compute/v2.1/servers', serverBody());
    await cloud.idle();
    expect((await request('GET', '/compute/v2.1/servers?status=ACTIVE')).body.servers).toHaveLength(1);
  });
});

describe('save and restore', () => {
  it('restore every service, repeatedly, and even in another cloud', async () => {
    const cloud = await cloudUnderTest({ clock: 'frozen' });
    const request = clientOf(cloud);
    const created = await request('POST', '/compute/v2.1/servers', serverBody({ networks: [{ uuid: NETWORK }] }));
    await cloud.idle();
    await request('POST', '/volume/v3/volumes', { volume: { size: 1, name: 'disk' } });
    await request('PUT', '/volume/v3/os-quota-sets/p', { quota_set: { volumes: 3 } });
    const state = await cloud.save();
    const { id } = created.body.server;
    const before = (await request('GET', `/compute/v2.1/servers/${id}`)).body;

    for (let round = 0; round < 2; round++) {
      await request('DELETE', `/compute/v2.1/servers/${id}`);
      await cloud.idle();
      await cloud.clock.advance('2h');
      expect((await request('GET', `/compute/v2.1/servers/${id}`)).status).toBe(404);
      await cloud.restore(state);
      expect((await request('GET', `/compute/v2.1/servers/${id}`)).body).toEqual(before);
      expect((await request('GET', '/volume/v3/volumes')).body.volumes).toHaveLength(1);
      expect((await request('GET', `/network/v2.0/ports?device_id=${id}`)).body.ports).toHaveLength(1);
      expect((await request('GET', '/volume/v3/os-quota-sets/p')).body.quota_set.volumes).toBe(3);
    }

    const other = await cloudUnderTest();
    await other.restore(state);
    const responded = await clientOf(other)('GET', `/compute/v2.1/servers/${id}`);
    expect(responded.body.server).toMatchObject({ id, status: 'ACTIVE' });
  });

  it('resume work that was in progress', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    cloud.rules.machine({ match: { verb: 'spawn' }, hang: true });
    const { body } = await request('POST', '/compute/v2.1/servers', serverBody());
    const state = await cloud.save();
    await cloud.restore(state);
    await expect
      .poll(async () => (await request('GET', `/compute/v2.1/servers/${body.server.id}`)).body.server.status)
      .toBe('ACTIVE');
  });
});

describe('the clock', () => {
  it('ends tokens at their expiry', async () => {
    const cloud = await cloudUnderTest({ clock: 'frozen' });
    const password = { user: { name: 'demo', domain: { id: 'default' }, password: 'secret' } };
    const scope = { project: { name: 'demo', domain: { id: 'default' } } };
    const login = await clientOf(cloud, '')('POST', '/identity/v3/auth/tokens', {
      auth: { identity: { methods: ['password'], password }, scope },
    });
    const request = clientOf(cloud, login.headers.get('x-subject-token')!);
    expect((await request('GET', '/compute/v2.1/servers')).status).toBe(200);
    await cloud.clock.advance('25h');
    expect((await request('GET', '/compute/v2.1/servers')).status).toBe(401);
  });

  it('delays machines', async () => {
    const cloud = await cloudUnderTest({ clock: 'frozen', latencyMs: 60_000 });
    const request = clientOf(cloud);
    const { body } = await request('POST', '/compute/v2.1/servers', serverBody());
    const status = async () => (await request('GET', `/compute/v2.1/servers/${body.server.id}`)).body.server.status;
    expect(await status()).toBe('BUILD');
    await cloud.clock.advance('1h');
    await cloud.idle();
    expect(await status()).toBe('ACTIVE');
  });

  it.each(['5 minutes', '', 'm5', '-1s'])('rejects the duration %j', async (text) => {
    const cloud = await cloudUnderTest();
    await expect(cloud.clock.advance(text)).rejects.toThrow('is not a duration');
  });
});
