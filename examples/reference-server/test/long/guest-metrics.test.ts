import { prometheusMetrics } from '@apistrata/compute-router/prometheus';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingForGuests } from '../../../../packages/qemu/test/guest/build-guest.js';
import { ada, QemuCloud } from '../../../../packages/qemu/test/qemu-cloud.js';
import { dashboardExpressions } from '../dashboard.js';

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: metrics of virtual machines: this machine has no ${missing} ***\n`);

/** User-mode networks have no counters; `guest-networks.test.ts` checks the counters of bridges. */
const isCounted = (name: string) => !name.startsWith('apistrata_guest_network_');

/** Only separate host processes have heartbeats, a lease and a fence. */
const isOfProcess = (name: string) => /^apistrata_host_(?:heartbeat|lease|fence)/.test(name);

describe.skipIf(missing)('metrics of a guest', { timeout: 240_000 }, () => {
  const metrics = prometheusMetrics({ register: new Registry() });
  let cloud: QemuCloud;
  let id: string;
  beforeAll(async () => {
    cloud = await QemuCloud.open();
    metrics.scrape({ engine: cloud.engine });
    ({ id } = await cloud.create({ name: 'busy' }));
    await cloud.console(id, /GUEST ready/);
  }, 240_000);
  afterAll(() => cloud.close());

  /** Returns the value of each series of a metric, by its labels. */
  async function series(name: string): Promise<Readonly<Record<string, number>>> {
    const { values } = (await metrics.register.getSingleMetric(`apistrata_guest_${name}`)!.get()) as {
      values: readonly { labels: Readonly<Record<string, string>>; value: number }[];
    };
    return Object.fromEntries(values.map(({ labels, value }) => [Object.values(labels).join(' '), value]));
  }

  /** Waits for a series and returns its value. On a busy computer, a guest may not respond in time. */
  async function value(name: string, labels = id): Promise<number> {
    let found: number | undefined;
    const read = async () => {
      found = (await series(name))[labels];
      return found;
    };
    await expect.poll(read, { message: name }).toBeDefined();
    return found!;
  }

  it('include all that the dashboard shows of guests and of their host', async () => {
    const shown = [...new Set(dashboardExpressions.join(' ').match(/\bapistrata_(?:guests?|host)_\w+/g))]
      .filter(isCounted)
      .filter((name) => !isOfProcess(name));
    expect(shown.length).toBeGreaterThan(5);
    const withoutSamples = async () => {
      const samples = await metrics.register.metrics();
      return shown.filter((name) => !new RegExp(`^${name}[{ ]`, 'm').test(samples));
    };
    await expect.poll(withoutSamples).toEqual([]);
    expect(await value('info', `${id} busy p-ada`)).toBe(1);
  });

  it('count what the guest computes and writes', async () => {
    const line = await cloud.line(id);
    const disk = `${id} vda`;
    const before = { cpu: await value('cpu_seconds_total'), written: await value('disk_written_bytes_total', disk) };
    await line.run('dd if=/dev/zero of=/dev/vda bs=1M count=16 2>/dev/null; sync');
    expect((await value('disk_written_bytes_total', disk)) - before.written).toBeGreaterThanOrEqual(2 ** 24);
    await line.run('n=0; while [ $n -lt 20000 ]; do n=$((n + 1)); done');
    expect((await value('cpu_seconds_total')) - before.cpu).toBeGreaterThan(0.05);
    expect(await value('cpus')).toBe(1);
    expect(await value('memory_bytes')).toBe(160 * 2 ** 20);
    const used = await value('memory_used_bytes');
    expect(used).toBeGreaterThan(0);
    expect(used).toBeLessThanOrEqual(160 * 2 ** 20);
  });

  it('end when the guest is off', async () => {
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'os-stop'));
    expect(await series('info')).toEqual({});
    expect(await series('cpu_seconds_total')).toEqual({});
    expect(await series('disk_written_bytes_total')).toEqual({});
  });
});
