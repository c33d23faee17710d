import { ManualClock } from '@apistrata/compute-engine/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest } from '../api-under-test.js';

describe('availability zones', () => {
  let api: Api;
  beforeEach(async () => {
    const size = { vcpus: 8, memoryMb: 4096, diskGb: 100 };
    api = await apiUnderTest({
      engine: { clock: new ManualClock() },
      router: { maxVersion: '2.104' },
      preset: {
        hosts: [
          { name: 'a1', zone: 'east', ...size },
          { name: 'a2', zone: 'east', ...size },
          { name: 'b1', ...size },
        ],
      },
    });
  });
  afterEach(async () => {
    expect(api.errors).toEqual([]);
    await api.close();
  });

  const zones = async (path = '', token = 'admin:p1', version = '2.104') =>
    (await api.as(token, version).get(`/os-availability-zone${path}`)).body.availabilityZoneInfo;
  const put = (verb: string, host: string, more = {}) =>
    api.as('admin:p1', '2.11').put(`/os-services/${verb}`, { host, binary: 'nova-compute', ...more });

  it('are listed for all callers, without hosts and without the internal zone', async () => {
    for (const version of ['2.1', '2.104']) {
      expect(await zones('', 'ada:p1', version)).toEqual([
        { zoneName: 'east', zoneState: { available: true }, hosts: null },
        { zoneName: 'nova', zoneState: { available: true }, hosts: null },
      ]);
    }
  });

  const state = { available: true, active: true, updated_at: '2026-01-01T00:00:00.000000' };

  it('are listed for administrators with their hosts, including the internal zone', async () => {
    expect(await zones('/detail')).toEqual([
      {
        zoneName: 'internal',
        zoneState: { available: true },
        hosts: { controller: { 'nova-scheduler': state, 'nova-conductor': state } },
      },
      {
        zoneName: 'east',
        zoneState: { available: true },
        hosts: { a1: { 'nova-compute': state }, a2: { 'nova-compute': state } },
      },
      { zoneName: 'nova', zoneState: { available: true }, hosts: { b1: { 'nova-compute': state } } },
    ]);
  });

  it('are available while one of their services is enabled; zones without services are not listed', async () => {
    await put('disable', 'a1');
    await put('disable', 'b1');
    const detail = await zones('/detail');
    expect(detail.slice(1)).toEqual([
      { zoneName: 'east', zoneState: { available: true }, hosts: { a2: { 'nova-compute': state } } },
      { zoneName: 'nova', zoneState: { available: false }, hosts: null },
    ]);
    expect(await zones('', 'ada:p1')).toEqual([
      { zoneName: 'east', zoneState: { available: true }, hosts: null },
      { zoneName: 'nova', zoneState: { available: false }, hosts: null },
    ]);
  });

  it('show services that are down as active, but not available', async () => {
    await put('force-down', 'b1', { forced_down: true });
    expect((await zones('/detail')).at(-1)).toEqual({
      zoneName: 'nova',
      zoneState: { available: true },
      hosts: { b1: { 'nova-compute': { ...state, available: false } } },
    });
  });

  it('appear and disappear with aggregates', async () => {
    const admin = api.as('admin:p1');
    const { aggregate } = (await admin.post('/os-aggregates', { aggregate: { name: 'x', availability_zone: 'west' } }))
      .body;
    const names = async () => (await zones()).map(({ zoneName }: any) => zoneName);
    expect(await names()).toEqual(['east', 'nova']);
    await admin.post(`/os-aggregates/${aggregate.id}/action`, { add_host: { host: 'b1' } });
    expect(await names()).toEqual(['east', 'west']);
  });

  it('have details for administrators only', async () => {
    expect((await api.as('ada:p1').get('/os-availability-zone/detail')).status).toBe(403);
  });

  it('accept no parameters since 2.102', async () => {
    for (const path of ['', '/detail']) {
      expect((await api.as('admin:p1', '2.101').get(`/os-availability-zone${path}?x=1`)).status).toBe(200);
      expect((await api.as('admin:p1', '2.102').get(`/os-availability-zone${path}?x=1`)).status).toBe(400);
    }
  });
});
