import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, inject, it } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { HostCloud } from '../host-cloud.js';

const postgresUrl = inject('postgresUrl');
const folder = mkdtempSync(join(tmpdir(), 'apistrata-hosts-'));
let cloud: HostCloud | undefined;
afterEach(() => cloud?.end(), 30_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(!postgresUrl)('hosts as separate processes, on PostgreSQL', { timeout: 120_000 }, () => {
  const open = async (latencyMs = 0): Promise<HostCloud> => {
    cloud = new HostCloud(await freshDatabase(postgresUrl), mkdtempSync(join(folder, 'cloud-')), latencyMs);
    await cloud.startApi();
    return cloud;
  };

  it('run the servers that are placed on them', async () => {
    const { startHost, create, settled, request, machinesOn } = await open();
    await Promise.all([startHost('h1'), startHost('h2')]);
    const one = await settled(await create('one', { host: 'h1' }));
    const two = await settled(await create('two', { host: 'h2' }));
    expect([one, two].map(({ status, host }) => [status, host])).toEqual([
      ['ACTIVE', 'h1'],
      ['ACTIVE', 'h2'],
    ]);
    expect([machinesOn('h1'), machinesOn('h2')]).toEqual([[one.id], [two.id]]);

    const { body: console } = await request('POST', `/servers/${one.id}/action`, { 'os-getConsoleOutput': {} });
    expect(console.output).toContain('Simulated machine one');
    expect((await request('GET', `/servers/${one.id}/diagnostics`)).body).toMatchObject({
      state: 'running',
      driver: 'libvirt',
    });
    const hypervisors = async () =>
      (await request('GET', '/os-hypervisors/detail', undefined, '2.53')).body.hypervisors;
    const seen = async () =>
      (await hypervisors())
        .map((h: any) => [h.hypervisor_hostname, h.state, h.vcpus, h.memory_mb, h.running_vms])
        .sort();
    await expect.poll(seen).toEqual([
      ['h1', 'up', 8, 8192, 1],
      ['h2', 'up', 8, 8192, 1],
    ]);
    const [{ id }] = await hypervisors();
    const uptime = await request('GET', `/os-hypervisors/${id}/uptime`, undefined, '2.53');
    expect(uptime.body.hypervisor.uptime).toMatch(/ up /);

    expect((await request('DELETE', `/servers/${one.id}`)).status).toBe(204);
    await expect.poll(() => machinesOn('h1')).toEqual([]);
    expect(machinesOn('h2')).toEqual([two.id]);
  });

  it('adopt their machines after a restart, and destroy those that were evacuated or deleted', async () => {
    const { startHost, create, settled, request, machinesOn, until } = await open();
    const h1 = await startHost('h1');
    await startHost('h2');
    const [stays, evacuated, deleted] = await Promise.all(
      ['stays', 'evacuated', 'deleted'].map(async (name) => settled(await create(name, { host: 'h1' }))),
    );
    await h1.end('SIGKILL');
    await until(async () => (await request('GET', '/os-services?host=h1')).body.services[0].state === 'down');
    const requested = await request('POST', `/servers/${stays!.id}/action`, { 'os-getConsoleOutput': {} });
    expect([requested.status, requested.body.conflictingRequest?.message]).toEqual([
      409,
      expect.stringContaining('unavailable'),
    ]);

    await request('POST', `/servers/${evacuated!.id}/action`, { evacuate: {} });
    expect((await request('DELETE', `/servers/${deleted!.id}`)).status).toBe(204);
    expect(await settled(evacuated!.id)).toMatchObject({ status: 'ACTIVE', host: 'h2' });
    expect(machinesOn('h1').sort()).toEqual([stays, evacuated, deleted].map((server) => server!.id).sort());

    await startHost('h1');
    await expect.poll(() => machinesOn('h1')).toEqual([stays!.id]);
    expect(machinesOn('h2')).toEqual([evacuated!.id]);
    await expect
      .poll(async () => {
        const { body } = await request('GET', '/os-migrations?migration_type=evacuation');
        return body.migrations.map((m: any) => m.status);
      })
      .toEqual(['completed']);
  });

  it('reject a second process with the same name', async () => {
    const { startHost } = await open();
    await startHost('h1');
    await expect(startHost('h1')).rejects.toThrow('another process is already running as host h1');
  });

  it('report that they need PostgreSQL', async () => {
    const { startHost } = await open();
    await expect(startHost('h1', ['--db', join(folder, 'cloud.db')])).rejects.toThrow('separate hosts need PostgreSQL');
    expect(existsSync(join(folder, 'cloud.db'))).toBe(false);
  });
});
