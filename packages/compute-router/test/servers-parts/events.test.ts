import { randomUUID } from 'node:crypto';
import { ManualClock } from '@apistrata/compute-engine/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ids } from '../api-under-test.js';
import { sharedByTests } from '../shared-by-tests.js';
import { largeCapacityApi, newestAction, newVolume, ada as owner } from './large-capacity-api.js';

describe('external events', () => {
  const api = sharedByTests(largeCapacityApi);

  const path = '/os-server-external-events';
  const notify = async (version: string, ...events: object[]) => {
    const responded = await api.as('svc:services:service', version).post(path, { events });
    await api.idle();
    return responded;
  };

  it('return a status for each: accepted, unknown server, no host, missing tag', async () => {
    const ada = api.as('ada:p1', '2.100');
    const { id } = await ada.boot();
    const shelved = await ada.boot();
    await ada.act(shelved.id, 'shelve');
    const anonymous = randomUUID();
    const response = await notify(
      '2.100',
      { name: 'network-vif-plugged', server_uuid: id, tag: 'port', status: 'in-progress' },
      { name: 'network-changed', server_uuid: anonymous },
      { name: 'network-changed', server_uuid: shelved.id },
      { name: 'volume-extended', server_uuid: id },
      { name: 'power-update', server_uuid: id, tag: 'SIDEWAYS' },
      { name: 'accelerator-request-bound', server_uuid: id },
    );
    expect(response.status).toBe(207);
    expect(response.body.events).toEqual([
      { name: 'network-vif-plugged', server_uuid: id, tag: 'port', status: 'in-progress', code: 200 },
      { name: 'network-changed', server_uuid: anonymous, status: 'failed', code: 404 },
      { name: 'network-changed', server_uuid: shelved.id, status: 'failed', code: 422 },
      { name: 'volume-extended', server_uuid: id, status: 'failed', code: 400 },
      { name: 'power-update', server_uuid: id, tag: 'SIDEWAYS', status: 'completed', code: 200 },
      { name: 'accelerator-request-bound', server_uuid: id, status: 'failed', code: 400 },
    ]);
    const fine = await notify('2.1', { name: 'network-vif-unplugged', server_uuid: id });
    expect([fine.status, fine.body.events[0].status]).toEqual([200, 'completed']);
  });

  it.each([
    ['2.50', 'volume-extended', '2.51'],
    ['2.75', 'power-update', '2.76'],
    ['2.81', 'accelerator-request-bound', '2.82'],
    ['2.92', 'volume-reimaged', '2.93'],
  ])('until %s do not include %s, which is added in %s', async (before, name, since) => {
    const event = { name, server_uuid: randomUUID(), tag: 'POWER_ON' };
    expect((await notify(before, event)).status).toBe(400);
    expect((await notify(since, event)).status).toBe(207);
  });

  it('are accepted from services and administrators', async () => {
    const events = [{ name: 'network-changed', server_uuid: randomUUID() }];
    expect((await api.as('ada:p1').post(path, { events })).status).toBe(403);
    expect((await api.as('admin:p1').post(path, { events })).status).toBe(207);
    for (const body of [
      {},
      { events: [] },
      { events: [{}] },
      { events: [{ ...events[0], server_uuid: 'x' }] },
      { events: [{ ...events[0], status: 'done' }] },
    ])
      expect((await api.as('admin:p1').post(path, body)).status).toBe(400);
  });

  it('of the network refresh the server', async () => {
    const ada = api.as('ada:p1', '2.100');
    const { id } = await ada.boot({ networks: [{ uuid: ids.network }] });
    const port = await api.engine.embedded.networks.createPort(owner, { networkId: ids.network, deviceId: id });
    await notify('2.100', { name: 'network-changed', server_uuid: id });
    const addresses = (await ada.get(`/servers/${id}/ips`)).body.addresses.private.map((a: any) => a.addr);
    expect(addresses).toContain(port.fixedIps[0]!.address);
    await api.engine.embedded.networks.deletePort(owner, port.id);
    await notify('2.100', { name: 'network-vif-deleted', server_uuid: id, tag: port.id });
    expect((await ada.get(`/servers/${id}/ips`)).body.addresses.private).toHaveLength(1);
  });

  it('of power are recorded as start and stop, if they change the state', async () => {
    const ada = api.as('ada:p1', '2.100');
    const { id } = await ada.boot();
    const status = async () => (await ada.get(`/servers/${id}`)).body.server.status;
    const power = (tag: string) => notify('2.76', { name: 'power-update', server_uuid: id, tag });
    expect((await power('POWER_ON')).status).toBe(200);
    expect((await newestAction(api, id)).action).toBe('create');
    expect((await power('POWER_OFF')).status).toBe(200);
    expect([await status(), (await newestAction(api, id)).action]).toEqual(['SHUTOFF', 'stop']);
    expect((await power('POWER_ON')).status).toBe(200);
    expect([await status(), (await newestAction(api, id)).action]).toEqual(['ACTIVE', 'start']);
  });

  it('of extended volumes reach the machine and the history', async () => {
    const ada = api.as('ada:p1', '2.100');
    const { id } = await ada.boot();
    const volumeId = await newVolume(api);
    await ada.post(`/servers/${id}/os-volume_attachments`, { volumeAttachment: { volumeId } });
    await api.idle();
    await api.engine.embedded.volumes.updateVolume(owner, volumeId, { status: 'extending' });
    expect((await notify('2.51', { name: 'volume-extended', server_uuid: id, tag: volumeId })).status).toBe(200);
    expect((await api.engine.embedded.volumes.getVolume(owner, volumeId)).status).toBe('in-use');
    expect(await newestAction(api, id)).toMatchObject({ action: 'extend_volume', message: null });
    await notify('2.51', { name: 'volume-extended', server_uuid: id, tag: randomUUID() });
    expect(await newestAction(api, id)).toMatchObject({ action: 'extend_volume', message: 'Error' });
  });

  it('are sent by the embedded volume service', async () => {
    const ada = api.as('ada:p1', '2.100');
    const { id } = await ada.boot();
    const volumeId = await newVolume(api);
    await ada.post(`/servers/${id}/os-volume_attachments`, { volumeAttachment: { volumeId } });
    await api.idle();
    await api.engine.embedded.volumes.extendVolume(owner, volumeId, 2);
    await expect.poll(async () => (await newestAction(api, id)).action).toBe('extend_volume');
    await api.idle();
    expect(await newestAction(api, id)).toMatchObject({ message: null, events: [{ result: 'Success' }] });
  });

  it('never cause a 500, for any body', async () => {
    const { id } = await api.as('ada:p1').boot();
    const name = fc.constantFrom('network-changed', 'volume-extended', 'power-update', 'network-vif-deleted');
    await fc.assert(
      fc.asyncProperty(fc.anything(), name, fc.string({ unit: 'binary' }), async (value, known, text) => {
        for (const event of [
          value,
          { name: known, server_uuid: id, tag: text },
          { name: known, server_uuid: id, tag: value },
        ])
          expect([200, 207, 400]).toContain((await notify('2.100', event as object)).status);
      }),
      { numRuns: 40 },
    );
  });
});

describe('assisted volume snapshots', () => {
  const api = sharedByTests(largeCapacityApi);

  const path = '/os-assisted-volume-snapshots';
  const info = { snapshot_id: randomUUID(), type: 'qcow2', new_file: 'volume.2' };

  async function attachedVolume() {
    const ada = api.as('ada:p1');
    const { id } = await ada.boot();
    const volumeId = await newVolume(api);
    await ada.post(`/servers/${id}/os-volume_attachments`, { volumeAttachment: { volumeId } });
    await api.idle();
    return volumeId;
  }

  it('are of volumes in use, for services and administrators', async () => {
    const volume_id = await attachedVolume();
    const admin = api.as('admin:p1');
    const create = (fields: object, client = admin) =>
      client.post(path, { snapshot: { volume_id, create_info: { ...info, ...fields } } });
    const created = await create({ id: 'x1' });
    expect([created.status, created.body]).toEqual([200, { snapshot: { id: 'x1', volumeId: volume_id } }]);
    expect((await create({})).body.snapshot.id).toBeNull();
    expect((await create({ type: 'raw' })).status).toBe(400);
    expect((await create({}, api.as('ada:p1'))).status).toBe(403);
    expect((await create({}, api.as('svc:services:service'))).status).toBe(200);
    const unused = await newVolume(api);
    for (const other of [unused, randomUUID()])
      expect((await admin.post(path, { snapshot: { volume_id: other, create_info: info } })).status).toBe(400);
  });

  it('are deleted with the id of their volume', async () => {
    const volume_id = await attachedVolume();
    const remove = async (delete_info: string, version = '2.75', client = api.as('admin:p1', version)) =>
      (await client.delete(`${path}/${randomUUID()}?${delete_info}`)).status;
    const of = (volume: string) => `delete_info=${encodeURIComponent(JSON.stringify({ volume_id: volume }))}`;
    expect(await remove(of(volume_id))).toBe(204);
    expect(await remove(of(randomUUID()))).toBe(404);
    expect(await remove(of(await newVolume(api)))).toBe(404);
    for (const bad of ['', 'delete_info=', 'delete_info=%7B', 'delete_info=%7B%7D', 'delete_info=null'])
      expect(await remove(bad)).toBe(400);
    expect(await remove(`${of(volume_id)}&x=1`)).toBe(400);
    expect(await remove(`${of(volume_id)}&x=1`, '2.74')).toBe(204);
    expect(await remove(of(volume_id), '2.1', api.as('ada:p1'))).toBe(403);
  });
});

describe('the log of usage audits', () => {
  const clock = new ManualClock(Date.UTC(2026, 2, 15));
  const path = '/os-instance_usage_audit_log';

  it('covers the last month, and reports that no host has run an audit', async () => {
    const api = await largeCapacityApi({ engine: { clock } });
    const admin = api.as('admin:p1');
    expect((await admin.get(path)).body).toEqual({
      instance_usage_audit_logs: {
        hosts_not_run: ['host1', 'host2'],
        log: {},
        num_hosts: 2,
        num_hosts_done: 0,
        num_hosts_not_run: 2,
        num_hosts_running: 0,
        overall_status: '0 of 2 hosts done. 0 errors.',
        period_beginning: '2026-02-01 00:00:00',
        period_ending: '2026-03-01 00:00:00',
        total_errors: 0,
        total_instances: 0,
      },
    });
    const before = (await admin.get(`${path}/2025-01-31%2010:00:00.25`)).body.instance_usage_audit_log;
    expect([before.period_beginning, before.period_ending]).toEqual(['2024-12-01 00:00:00', '2025-01-01 00:00:00']);
    for (const bad of ['x', '2025-01-31', '2025-02-31%2010:00:00', '2025-01-31T10:00:00'])
      expect((await admin.get(`${path}/${bad}`)).status).toBe(400);
    expect((await api.as('ada:p1').get(path)).status).toBe(403);
    expect((await api.as('ada:p1').get(`${path}/2025-01-31%2010:00:00`)).status).toBe(403);
    expect(api.errors).toEqual([]);
    await api.close();
  });

  it('counts the servers of the month if hosts audit them', async () => {
    const api = await largeCapacityApi({ engine: { clock, settings: { usageAudit: true } } });
    await api.as('ada:p1').boot();
    const log = (await api.as('admin:p1').get(`${path}/2026-04-02%2000:00:00`)).body.instance_usage_audit_log;
    expect(log).toMatchObject({ num_hosts_done: 2, overall_status: 'ALL hosts done. 0 errors.', total_instances: 1 });
    expect(Object.values(log.log).map((host: any) => [host.state, host.errors])).toEqual([
      ['DONE', 0],
      ['DONE', 0],
    ]);
    const earlier = (await api.as('admin:p1').get(path)).body.instance_usage_audit_logs;
    expect(earlier.total_instances).toBe(0);
    expect(api.errors).toEqual([]);
    await api.close();
  });
});
