import { coreOf, ManualClock } from '@apistrata/compute-engine/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';

const anonymous = '7d3c1b52-0c8e-4b8e-8f7a-6f0f6b7f3d21';

describe('services', () => {
  let api: Api;
  let clock: ManualClock;
  beforeEach(async () => {
    clock = new ManualClock();
    api = await apiUnderTest({ engine: { clock }, router: { maxVersion: '2.104' } });
  });
  afterEach(async () => {
    expect(api.errors).toEqual([]);
    await api.close();
  });

  const admin = (version = '2.53') => api.as('admin:p1', version);
  const list = async (query = '', version?: string) =>
    (await admin(version).get(`/os-services${query}`)).body.services as any[];
  const compute = async (version?: string) => (await list('?host=host1', version))[0];
  const change = async (body: unknown, version?: string) =>
    admin(version).put(`/os-services/${(await compute()).id}`, body);
  const legacy = (verb: string, body: Record<string, unknown>, version = '2.52') =>
    admin(version).put(`/os-services/${verb}`, { host: 'host1', binary: 'nova-compute', ...body });

  const plain = ['binary', 'disabled_reason', 'host', 'id', 'state', 'status', 'updated_at', 'zone'];
  it.each([
    ['2.1', plain, 'number'],
    ['2.10', plain, 'number'],
    ['2.11', [...plain, 'forced_down'], 'number'],
    ['2.52', [...plain, 'forced_down'], 'number'],
    ['2.53', [...plain, 'forced_down'], 'string'],
    ['2.104', [...plain, 'forced_down'], 'string'],
  ])('show at %s the fields of that version', async (version, fields, id) => {
    const services = await list('', version);
    expect(services.map(({ host, binary, zone }) => `${binary}@${host} in ${zone}`)).toEqual([
      'nova-scheduler@controller in internal',
      'nova-conductor@controller in internal',
      'nova-compute@host1 in nova',
      'nova-compute@host2 in nova',
    ]);
    for (const service of services) {
      expect(Object.keys(service).sort()).toEqual([...fields].sort());
      expect(typeof service.id).toBe(id);
      expect(service).toMatchObject({ status: 'enabled', state: 'up', disabled_reason: null });
      expect(service.updated_at).toBe('2026-01-01T00:00:00.000000');
    }
  });

  it.each([
    ['?host=host1', 1],
    ['?binary=nova-compute', 2],
    ['?binary=nova-compute&host=host2', 1],
    ['?binary=nova-scheduler&host=host2', 0],
    ['?host=host', 0],
    ['?host=%00', 0],
  ])('return %i entries with the filter "%s"', async (query, count) => {
    expect(await list(query)).toHaveLength(count);
  });

  it('reject unknown parameters since 2.75', async () => {
    expect((await admin('2.74').get('/os-services?colour=red')).status).toBe(200);
    expect((await admin('2.75').get('/os-services?colour=red')).status).toBe(400);
  });

  it('outside this process are up for 60 seconds after each heartbeat', async () => {
    const state = async () => (await compute()).state;
    for (const host of ['host1', 'host2']) await api.engine.services.heartbeat(host, 'nova-compute');
    const { id } = await admin('2.37').boot();
    const hostStatus = async () => (await admin('2.37').get(`/servers/${id}`)).body.server.host_status;
    await clock.advance(60_000);
    expect(await state()).toBe('up');
    expect(await hostStatus()).toBe('UP');
    await clock.advance(1);
    expect(await state()).toBe('down');
    expect(await hostStatus()).toBe('UNKNOWN');
    expect((await compute()).updated_at).toBe('2026-01-01T00:00:00.000000');
    expect((await admin().get('/os-hypervisors')).body.hypervisors[0].state).toBe('down');
    await api.engine.services.heartbeat('host1', 'nova-compute');
    expect(await state()).toBe('up');
    expect((await compute()).updated_at).toBe('2026-01-01T00:01:00.001000');
  });

  it('are registered by their first heartbeat', async () => {
    await api.engine.services.heartbeat('host9', 'nova-compute');
    await api.engine.services.heartbeat('host9', 'nova-metadata');
    expect(await list('?host=host9')).toMatchObject([{ binary: 'nova-compute', state: 'up', zone: 'nova' }]);
  });

  describe('since 2.53', () => {
    it('are disabled and enabled by UUID, and the response is the service', async () => {
      const disabled = await change({ status: 'disabled', disabled_reason: 'broken fan' });
      expect(disabled.status).toBe(200);
      expect(disabled.body.service).toEqual({ ...(await compute()) });
      expect(disabled.body.service).toMatchObject({ status: 'disabled', disabled_reason: 'broken fan', state: 'up' });
      expect((await change({ status: 'disabled' })).body.service.disabled_reason).toBeNull();
      await change({ status: 'disabled', disabled_reason: 'again' });
      expect((await change({ status: 'enabled' })).body.service).toMatchObject({
        status: 'enabled',
        disabled_reason: null,
      });
    });

    it('are forced down and up without a change of their status', async () => {
      await change({ status: 'disabled', disabled_reason: 'why' });
      const down = await change({ forced_down: 'True' });
      expect(down.body.service).toMatchObject({
        forced_down: true,
        state: 'down',
        status: 'disabled',
        disabled_reason: 'why',
      });
      expect((await change({ forced_down: false })).body.service).toMatchObject({ forced_down: false, state: 'up' });
    });

    it.each<[string, unknown]>([
      ['nothing', {}],
      ['a reason alone', { disabled_reason: 'x' }],
      ['a reason to be enabled', { status: 'enabled', disabled_reason: 'x' }],
      ['an unknown status', { status: 'up' }],
      ['an empty reason', { status: 'disabled', disabled_reason: '' }],
      ['a reason of 256', { status: 'disabled', disabled_reason: 'x'.repeat(256) }],
      ['a strange boolean', { forced_down: 'maybe' }],
      ['host and binary', { host: 'host1', binary: 'nova-compute', status: 'enabled' }],
    ])('are not changed by %s', async (_, body) => {
      expect((await change(body)).status).toBe(400);
      expect(await compute()).toMatchObject({ status: 'enabled', forced_down: false, disabled_reason: null });
    });

    it.each([
      ['1', 400],
      ['enable', 400],
      ['force-down', 400],
      [anonymous, 404],
    ])('identified by %s return %i', async (id, status) => {
      expect((await admin().put(`/os-services/${id}`, { status: 'enabled' })).status).toBe(status);
      expect((await admin().delete(`/os-services/${id}`)).status).toBe(status);
    });

    it('of kinds other than compute cannot be changed', async () => {
      const [scheduler] = await list('?binary=nova-scheduler');
      expect((await admin().put(`/os-services/${scheduler.id}`, { status: 'disabled' })).status).toBe(400);
    });

    it('can be identified by any form of their UUID', async () => {
      const id = (await compute()).id.replaceAll('-', '').toUpperCase();
      expect((await admin().put(`/os-services/${id}`, { status: 'disabled' })).status).toBe(200);
    });
  });

  describe('until 2.52', () => {
    const named = { host: 'host1', binary: 'nova-compute' };

    it.each<[string, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>]>([
      ['disable', {}, { status: 'disabled' }, { status: 'disabled', disabled_reason: null }],
      [
        'disable-log-reason',
        { disabled_reason: 'x' },
        { status: 'disabled', disabled_reason: 'x' },
        { status: 'disabled', disabled_reason: 'x' },
      ],
      ['enable', {}, { status: 'enabled' }, { status: 'enabled', disabled_reason: null }],
      ['force-down', { forced_down: true }, { forced_down: true }, { forced_down: true, state: 'down' }],
      ['force-down', { forced_down: 'no' }, { forced_down: false }, { forced_down: false, state: 'up' }],
    ])('are changed by %s with %j, and the response contains only that', async (verb, body, shown, retained) => {
      const response = await legacy(verb, body);
      expect([response.status, response.body]).toEqual([200, { service: { ...named, ...shown } }]);
      expect(await compute()).toMatchObject(retained);
    });

    it.each<[string, string, Record<string, unknown>, number]>([
      ['2.10', 'force-down', {}, 404],
      ['2.10', 'force-down', { forced_down: true }, 400],
      ['2.11', 'force-down', { forced_down: true }, 200],
      ['2.11', 'force-down', {}, 400],
      ['2.1', 'explode', {}, 404],
      ['2.1', 'constructor', {}, 404],
      ['2.1', '1', {}, 404],
      ['2.1', 'disable-log-reason', {}, 400],
      ['2.1', 'disable-log-reason', { disabled_reason: '' }, 400],
      ['2.1', 'enable', { host: 'nowhere' }, 404],
      ['2.1', 'enable', { binary: 'nova-nothing' }, 404],
      ['2.1', 'enable', { binary: 'a\0b' }, 404],
      ['2.1', 'enable', { host: 'controller', binary: 'nova-scheduler' }, 400],
      ['2.1', 'enable', { host: undefined }, 400],
      ['2.1', 'enable', { binary: undefined }, 400],
      ['2.1', 'enable', { host: 'a b' }, 400],
      ['2.1', 'enable', { binary: 'x'.repeat(256) }, 400],
      ['2.1', 'enable', { colour: 'red' }, 400],
    ])('at %s %s with %j returns %i', async (version, verb, body, status) => {
      expect((await legacy(verb, body, version)).status).toBe(status);
    });

    it('are deleted by number', async () => {
      expect((await admin('2.52').delete('/os-services/x')).status).toBe(400);
      expect((await admin('2.52').delete('/os-services/99')).status).toBe(404);
      expect((await admin('2.52').delete(`/os-services/${anonymous}`)).status).toBe(400);
      const { id } = await compute('2.52');
      const removed = await admin('2.52').delete(`/os-services/${id}`);
      expect([removed.status, removed.body]).toEqual([204, undefined]);
      expect((await admin('2.52').delete(`/os-services/${id}`)).status).toBe(404);
    });
  });

  it('change the host status of their servers', async () => {
    const { id } = await admin('2.37').boot();
    const { 'OS-EXT-SRV-ATTR:host': host } = (await admin('2.37').get(`/servers/${id}`)).body.server;
    const [{ id: service }] = await list(`?host=${host}`);
    const status = async () => (await admin('2.37').get(`/servers/${id}`)).body.server.host_status;
    const put = (body: unknown) => admin().put(`/os-services/${service}`, body);
    expect(await status()).toBe('UP');
    await put({ status: 'disabled' });
    expect(await status()).toBe('MAINTENANCE');
    await put({ forced_down: true });
    expect(await status()).toBe('DOWN');
    await put({ status: 'enabled', forced_down: false });
    expect(await status()).toBe('UP');
  });

  it('get no new servers while they are disabled or down', async () => {
    await legacy('disable', {});
    await legacy('force-down', { host: 'host2', forced_down: true });
    expect((await admin('2.37').boot()).status).toBe('ERROR');
    await legacy('enable', {});
    expect((await admin('2.37').boot())['OS-EXT-SRV-ATTR:host']).toBe('host1');
  });

  it('are not deleted while their host has servers, and are deleted with node and aggregate membership', async () => {
    const { id: server, 'OS-EXT-SRV-ATTR:host': host } = await admin('2.37').boot();
    const [{ id }] = await list(`?host=${host}`);
    const { aggregate } = (await admin().post('/os-aggregates', { aggregate: { name: 'a' } })).body;
    await admin().post(`/os-aggregates/${aggregate.id}/action`, { add_host: { host } });
    expect((await admin().delete(`/os-services/${id}`)).status).toBe(409);
    await admin().delete(`/servers/${server}`);
    await api.idle();
    expect((await admin().delete(`/os-services/${id}`)).status).toBe(204);
    expect(await list(`?host=${host}`)).toEqual([]);
    expect((await admin().get(`/os-aggregates/${aggregate.id}`)).body.aggregate.hosts).toEqual([]);
    const { hypervisors } = (await admin().get('/os-hypervisors')).body;
    expect(hypervisors.map((h: any) => h.hypervisor_hostname)).not.toContain(host);
  });

  it('of other kinds are deleted without conditions', async () => {
    const [scheduler] = await list('?binary=nova-scheduler');
    expect((await admin().delete(`/os-services/${scheduler.id}`)).status).toBe(204);
  });

  it('that cannot be reached are omitted until 2.68, and partly shown since 2.69', async () => {
    coreOf(api.engine).infrastructure.setReachable('host1', false);
    expect((await list('?binary=nova-compute', '2.68')).map(({ host }) => host)).toEqual(['host2']);
    const services = await list('?binary=nova-compute', '2.69');
    expect(services[0]).toEqual({ binary: 'nova-compute', host: 'host1', status: 'UNKNOWN' });
    expect(services[1]).toMatchObject({ host: 'host2', status: 'enabled' });
    coreOf(api.engine).infrastructure.setReachable('host1', true);
    expect((await list('?host=host1', '2.69'))[0].status).toBe('enabled');
  });

  it('are denied to members, who change nothing', async () => {
    const { id } = await compute();
    const [ada, before] = [api.as('ada:p1', '2.53'), await list()];
    const responses = [
      await ada.get('/os-services'),
      await ada.put(`/os-services/${id}`, { status: 'disabled' }),
      await ada.put('/os-services/x', { status: 'disabled' }),
      await ada.delete(`/os-services/${id}`),
      await api.as('ada:p1', '2.52').put('/os-services/disable', { host: 'host1', binary: 'nova-compute' }),
      await api.as('ada:p1', '2.52').put('/os-services/explode', { host: 'host1', binary: 'nova-compute' }),
    ];
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 403));
    expect(await list()).toEqual(before);
  });
});
