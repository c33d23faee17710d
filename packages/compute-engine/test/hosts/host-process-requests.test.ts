import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { Rejection } from '../../src/errors/rejection.js';
import { imageId } from '../engine-under-test.js';
import { admin, HostCloud } from './host-cloud.js';

const postgresUrl = inject('postgresUrl');

describe.skipIf(!postgresUrl)('a request to a host process', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-host-requests-'));
  let cloud: HostCloud;
  let host: ChildProcess;
  beforeAll(async () => {
    cloud = await HostCloud.open(await freshDatabase(postgresUrl), folder);
    host = await cloud.start('h1');
  }, 60_000);
  afterAll(async () => {
    host.kill('SIGCONT');
    await cloud.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const uptime = async () => (await cloud.engine.hypervisors.list({ uptime: true }))[0]?.uptime;
  const power = (action: 'reboot' | 'shutdown') => cloud.engine.hosts.power('h1', action);
  const changePassword = (id: string) =>
    cloud.engine.servers.act(admin(), id, 'changePassword', { adminPassword: 'secret' });

  it('is served by that process: uptime, power, maintenance', async () => {
    const uptimeText = `h1, in process ${host.pid}`;
    expect(await uptime()).toBe(uptimeText);
    expect(await power('reboot')).toBe('reboot of h1');
    await cloud.engine.hosts.setMaintenance('h1', true);
    expect(await uptime()).toBe(`${uptimeText}, maintained`);
    await cloud.engine.hosts.setMaintenance('h1', false);
    expect(await uptime()).toBe(uptimeText);
  });

  it('is rejected with the error of the host', async () => {
    const error = await power('shutdown').catch((thrown) => thrown);
    expect(error).toBeInstanceOf(Rejection);
    expect(error).toMatchObject({ code: 'BAD_REQUEST', status: 400, message: 'h1 stays up' });
  });

  it('can prevent an action, which is then rejected without side effects', async () => {
    const { id } = await cloud.settled((await cloud.create('h1')).id);
    await expect(changePassword(id)).rejects.toMatchObject({ code: 'CONFLICT', message: 'the guest of h1 sleeps' });
    expect(await cloud.see(id)).toMatchObject({ vmState: 'active', taskState: null, jobId: null });
    const history = await cloud.engine.instanceActions.list(id);
    expect(history.map(({ action }) => action)).toEqual(['create']);
    await cloud.engine.servers.update(admin(), id, { name: 'awake' });
    await changePassword(id);
    expect(await cloud.settled(id)).toMatchObject({ vmState: 'active', fault: null });
  });

  it('reaches the host even if no caller waits for it, such as an image download', async () => {
    const { seq } = await cloud.engine.aggregates.create('all');
    await cloud.engine.aggregates.addHost(seq, 'h1');
    await cloud.engine.aggregates.cacheImages(admin(), seq, [imageId]);
    await eventually(() => expect(readFileSync(join(folder, 'h1', 'images'), 'utf8')).toBe(imageId));
  });

  it('fails clearly if the host does not respond: 409 for servers, 400 for hosts', async () => {
    const server = await cloud.settled((await cloud.create('h1')).id);
    host.kill('SIGSTOP');
    const { engine } = cloud;
    const conflict = { code: 'CONFLICT', message: expect.stringContaining('its host is unavailable') };
    const badRequest = { code: 'BAD_REQUEST', message: expect.stringContaining('h1 is unavailable') };
    await Promise.all([
      expect(engine.consoles.output(admin(), server)).rejects.toMatchObject(conflict),
      expect(engine.servers.diagnostics(server)).rejects.toMatchObject(conflict),
      expect(changePassword(server.id)).rejects.toMatchObject(conflict),
      expect(power('reboot')).rejects.toMatchObject(badRequest),
      expect(engine.hosts.setMaintenance('h1', true)).rejects.toMatchObject(badRequest),
    ]);
    expect(await cloud.see(server.id)).toMatchObject({ vmState: 'active', taskState: null, jobId: null });
    host.kill('SIGCONT');
    await eventually(async () => expect(await cloud.orders()).toEqual([]));
    expect(await power('reboot')).toBe('reboot of h1');
  });
});
