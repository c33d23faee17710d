import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { bootTime } from '@apistrata/compute-engine/drivers';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { admin, BOOT, type HostOptions, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: the guard of a fence: this machine has no ${missing} ***\n`);

const DOWN_SECONDS = 12;

/** Observes a server's machines on a lost host and on another host, from the time at which the host is lost. */
class Observed {
  readonly #timer: NodeJS.Timeout;
  /** The highest number of machines that the server had at the same time. */
  most = 0;
  /** The size of the former machine's output when a machine first existed on another host. */
  sizeBefore: number | undefined;

  constructor(hosts: QemuHosts, id: string) {
    this.#timer = setInterval(() => {
      const elsewhere = processesOf(hosts.folder('h2', id)).length;
      this.most = Math.max(this.most, elsewhere + processesOf(hosts.folder('h1', id)).length);
      if (elsewhere > 0) this.sizeBefore ??= outputOf(hosts, id);
    }, 50);
  }

  end(): void {
    clearInterval(this.#timer);
  }
}

/** Returns the length of the console output on the lost host. A running guest writes a line every second. */
function outputOf(hosts: QemuHosts, id: string): number {
  return statSync(join(hosts.folder('h1', id), 'console.log')).size;
}

describe.skipIf(missing)('a host whose program does not run', { timeout: 300_000 }, () => {
  let hosts: QemuHosts;
  let observed: Observed | undefined;
  afterEach(async () => {
    observed?.end();
    await hosts?.close();
  }, 60_000);

  const open = async (fence: 'stop' | 'pause', shared: boolean, downSeconds = DOWN_SECONDS) => {
    const settings = { serviceDownSeconds: downSeconds, evacuateFencedOnly: true };
    hosts = await QemuHosts.withoutHosts(postgresUrl, {}, { settings });
    const options: HostOptions = {
      ...(shared && { sharedDirectory: join(hosts.directory, 'shared') }),
      link: { fence, serviceDownSeconds: downSeconds },
    };
    await hosts.start('h1', options);
    await hosts.start('h2', options);
    return options;
  };
  const isUp = async () => (await hosts.engine.services.on('h1', 'nova-compute')).up;
  const down = () => expect.poll(isUp, BOOT).toBe(false);
  const evacuate = (id: string) => hosts.engine.servers.act(admin, id, 'evacuate', { host: 'h2', stop: false });

  it('pauses its guests when the program is suspended, and resumes those that were not evacuated when it continues', async () => {
    await open('pause', false);
    const [moved, stays] = [(await hosts.booted('h1')).id, (await hosts.booted('h1')).id];
    hosts.signal('h1', 'SIGSTOP');
    await down();
    observed = new Observed(hosts, moved);
    await evacuate(moved);
    expect(await hosts.settled(moved)).toMatchObject({ vmState: 'active', host: 'h2' });
    await eventually(async () => expect(await hosts.console(await hosts.see(moved))).toMatch(/GUEST ready/), BOOT);
    expect(outputOf(hosts, moved)).toBe(observed.sizeBefore);
    const paused = outputOf(hosts, stays);
    hosts.signal('h1', 'SIGCONT');
    await expect.poll(isUp, BOOT).toBe(true);
    expect(processesOf(hosts.folder('h1', moved))).toEqual([]);
    expect(existsSync(hosts.folder('h1', moved))).toBe(false);
    await expect.poll(() => outputOf(hosts, stays), BOOT).toBeGreaterThan(paused);
    expect(await hosts.see(stays)).toMatchObject({ vmState: 'active', host: 'h1' });
    expect(await hosts.see(moved)).toMatchObject({ vmState: 'active', host: 'h2' });
  });

  it.each(['SIGSTOP', 'SIGKILL'] as const)(
    'switches its guests off after %s, before they start on another host',
    async (signal) => {
      const options = await open('stop', true);
      const { id } = await hosts.booted('h1');
      if (signal === 'SIGKILL') await hosts.kill('h1');
      else hosts.signal('h1', signal);
      observed = new Observed(hosts, id);
      await down();
      expect(processesOf(hosts.folder('h1', id))).toEqual([]);
      await evacuate(id);
      expect(await hosts.settled(id)).toMatchObject({ vmState: 'active', host: 'h2' });
      await eventually(async () => expect(await hosts.console(await hosts.see(id))).toMatch(/GUEST ready/), BOOT);
      if (signal === 'SIGKILL') await hosts.start('h1', options);
      else hosts.signal('h1', 'SIGCONT');
      await expect.poll(isUp, BOOT).toBe(true);
      expect(existsSync(hosts.folder('h1', id))).toBe(false);
      expect(processesOf(hosts.folder('h2', id))).toHaveLength(1);
      expect(observed.most).toBe(1);
    },
  );

  it('leaves its guests running when the program is stopped gracefully, and they are not evacuated', async () => {
    await open('stop', false);
    const { id } = await hosts.booted('h1');
    const guards = () => processesOf(join(hosts.directory, 'h1', 'guard'), 'node');
    expect(guards()).toHaveLength(1);
    await hosts.stop('h1');
    expect(guards()).toEqual([]);
    await down();
    const before = outputOf(hosts, id);
    await expect(evacuate(id)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect.poll(() => outputOf(hosts, id), BOOT).toBeGreaterThan(before);
  });

  it('does not fence the guests of the program that has taken over its name', async () => {
    const options = await open('stop', false, 30);
    const { id } = await hosts.booted('h1');
    const former = hosts.signal('h1', 'SIGSTOP');
    await hosts.start('h1', options);
    const silentAt = bootTime() + 20_000;
    await expect.poll(bootTime, BOOT).toBeGreaterThan(silentAt);
    former.kill('SIGCONT');
    await expect.poll(() => hosts.errorLog('h1'), BOOT).toContain('another process has taken over the host');
    const before = outputOf(hosts, id);
    await expect.poll(() => outputOf(hosts, id), BOOT).toBeGreaterThan(before + 100);
    expect(await isUp()).toBe(true);
  });
});
