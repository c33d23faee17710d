import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootTime } from '@apistrata/compute-engine/drivers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { ada, NOTHING, QemuCloud } from '../qemu-cloud.js';

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: machines that end by themselves: this machine has no ${missing} ***\n`);

/** The maximum time between the end of a machine's process and its record, which an event causes. */
const MAX_FOLLOW_MS = 2_000;
/** The interval between passes over all machines. The first pass begins when the program starts. */
const PASS_INTERVAL_MS = 30_000;

function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

describe.skipIf(missing)('a machine that stops by itself', { timeout: 240_000 }, () => {
  let cloud: QemuCloud;
  let id: string;
  beforeAll(async () => {
    cloud = await QemuCloud.open();
    id = (await cloud.create()).id;
  });
  afterAll(() => cloud.close());

  const act = () => cloud.engine.servers;
  const process_ = (server: string) => processesOf(join(cloud.machines, server));
  const state = async (server: string) => {
    const { vmState, powerState } = await act().get(ada, server);
    return { vmState, powerState };
  };
  const stopped = { vmState: 'stopped', powerState: 4 };
  const poll = { timeout: 60_000 };
  const onlyProcess = (server: string) => process_(server)[0] ?? expect.fail('no process');

  /** Ends a machine, and checks that its server is stopped at most 2 s after the end of the process. */
  async function followsEnd(server: string, end: (pid: number) => unknown): Promise<void> {
    const pid = onlyProcess(server);
    await end(pid);
    const frequently = { ...poll, interval: 20 };
    const [endedAt, stoppedAt] = await Promise.all([
      expect
        .poll(() => isRunning(pid), frequently)
        .toBe(false)
        .then(() => performance.now()),
      expect
        .poll(() => state(server), frequently)
        .toEqual(stopped)
        .then(() => performance.now()),
    ]);
    expect(stoppedAt - endedAt).toBeLessThan(MAX_FOLLOW_MS);
  }

  /** The number of stops in the history of the server. */
  async function stops(server: string): Promise<number> {
    const actions = await cloud.engine.instanceActions.list(server);
    return actions.filter(({ action }) => action === 'stop').length;
  }

  it('is SHUTOFF within 2 s when the guest powers off, and starts again', async () => {
    await cloud.console(id, /GUEST ready/);
    const line = await cloud.line(id);
    await followsEnd(id, () => line.run('(sleep 1; poweroff -f) >/dev/null 2>&1 &'));
    expect(await stops(id)).toBe(1);
    expect(process_(id)).toEqual([]);
    await cloud.done(id, act().act(ada, id, 'os-start'));
    await cloud.console(id, /(GUEST ready[\s\S]*){2}/);
    expect(await state(id)).toEqual({ vmState: 'active', powerState: 1 });
  });

  it('is SHUTOFF within 2 s when the kernel of the guest panics', async () => {
    const line = await cloud.line(id);
    await followsEnd(id, () => line.run('(sleep 1; echo c >/proc/sysrq-trigger) >/dev/null 2>&1 &'));
    expect(await stops(id)).toBe(2);
  });

  it('is SHUTOFF within 2 s when its process is killed, and in the first pass if the program was not running', async () => {
    const server = (await cloud.create({ imageId: NOTHING })).id;
    await followsEnd(server, (pid) => process.kill(pid, 'SIGKILL'));
    await cloud.done(server, act().act(ada, server, 'os-start'));
    expect(process_(server)).toHaveLength(1);
    await cloud.engine.close();
    process.kill(onlyProcess(server), 'SIGKILL');
    const beginsAt = performance.now();
    await cloud.begin();
    await expect.poll(() => state(server), poll).toEqual(stopped);
    expect(performance.now() - beginsAt, 'the first pass').toBeLessThan(PASS_INTERVAL_MS);
    expect(await stops(server)).toBe(2);
  });

  it('starts again if its computer was switched off and it requests autostart', async () => {
    const [starts, stays] = [
      await cloud.create({ imageId: NOTHING, metadata: { autostart: 'true' } }),
      await cloud.create({ imageId: NOTHING }),
    ];
    await cloud.engine.close();
    for (const server of [starts.id, stays.id]) {
      process.kill(onlyProcess(server), 'SIGKILL');
      // Simulates that the computer has been rebooted since the machine was started.
      writeFileSync(join(cloud.machines, server, 'host-boot'), 'a former boot');
    }
    await cloud.begin();
    await expect.poll(() => state(starts.id), poll).toEqual({ vmState: 'active', powerState: 1 });
    await expect.poll(() => process_(starts.id), poll).toHaveLength(1);
    await expect.poll(() => state(stays.id), poll).toEqual(stopped);
    // This time, the machine ended on its own, and not because of a reboot.
    process.kill(onlyProcess(starts.id), 'SIGKILL');
    await expect.poll(() => state(starts.id), poll).toEqual(stopped);
  });

  it('is not stopped by the API when the program starts again while the guest runs', async () => {
    const server = (await cloud.create({ imageId: NOTHING })).id;
    const [pid] = process_(server);
    await cloud.engine.close();
    await cloud.begin();
    // When a second server has stopped, the engine has checked all machines.
    const other = (await cloud.create({ imageId: NOTHING })).id;
    process.kill(process_(other)[0]!, 'SIGKILL');
    await expect.poll(() => state(other), poll).toEqual(stopped);
    expect(await state(server)).toEqual({ vmState: 'active', powerState: 1 });
    expect(process_(server)).toEqual([pid]);
  });

  it('is paused or switched off by the fence of its host, like the other machines of the computer', async () => {
    const servers = [await cloud.create({ imageId: NOTHING }), await cloud.create({ imageId: NOTHING })];
    const ids = servers.map((server) => server.id);
    const powers = () => Promise.all(servers.map((server) => cloud.driver.powerState?.(server)));
    expect(await cloud.driver.fence?.('pause', 10_000)).toEqual(expect.arrayContaining(ids));
    expect(await powers()).toEqual([3, 3]);
    expect(await cloud.driver.fence?.('pause', 10_000)).toEqual([]);
    expect(await cloud.driver.fence?.('stop', 10_000)).toEqual(expect.arrayContaining(ids));
    expect(await powers()).toEqual([4, 4]);
    expect(ids.flatMap(process_)).toEqual([]);
  });

  it('continues only after the next heartbeat when it was paused by the fence of its host', async () => {
    const server = await cloud.create({ imageId: NOTHING });
    const guard = cloud.driver.guard ?? expect.fail('the driver has no guard');
    const order = (inMs: number) => ({ action: 'pause' as const, at: bootTime() + inMs, withinMs: 10_000 });
    const unpause = () =>
      cloud.driver.perform({ verb: 'unpause' }, server, new AbortController().signal, {
        action: 'unpause',
        requestId: '',
      });
    const power = () => cloud.driver.powerState?.(server);
    await guard.ensureRunning(order(0));
    await expect.poll(power, poll).toBe(3);
    expect(await guard.listPaused()).toContain(server.id);
    await expect(unpause()).rejects.toMatchObject({ code: 'HOST_FENCED' });
    expect(await power()).toBe(3);
    await guard.renew(order(600_000));
    await unpause();
    expect(await power()).toBe(1);
    await expect.poll(() => guard.listPaused(), poll).not.toContain(server.id);
    await guard.end();
  });
});
