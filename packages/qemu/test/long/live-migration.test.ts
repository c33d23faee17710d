import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { admin, BOOT, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: live migrations of virtual machines: this machine has no ${missing} ***\n`);

describe.skipIf(missing)('live migrations of virtual machines', { timeout: 300_000 }, () => {
  let hosts: QemuHosts;
  let id: string;

  beforeAll(async () => {
    hosts = await QemuHosts.open(postgresUrl, 'h2');
    // The source host limits the bandwidth, so that tests can act during a transfer.
    await hosts.start('h1', { moveMibPerSecond: 4 });
    id = (await hosts.booted('h1')).id;
  }, 240_000);

  afterAll(() => hosts?.close(), 60_000);

  const migrate = (host: string) => hosts.engine.servers.act(admin, id, 'os-migrateLive', { host, checkedFirst: true });

  /** Waits until the last migration is transferring memory, and returns the migration. */
  const inProgress = () =>
    eventually(async () => {
      const [last] = await hosts.engine.migrations.list({ serverId: id, newestFirst: true, limit: 1 });
      expect(last).toMatchObject({ status: 'running', sourceHost: 'h1', destHost: 'h2' });
      expect(last!.memoryProcessedBytes).toBeGreaterThan(2 ** 20);
      return last!;
    }, BOOT);

  /** Checks that the server has one process, and that the other host has no process or folder of the server. */
  async function runsOnOneHost(here: string, there: string) {
    await eventually(() => expect(existsSync(hosts.folder(there, id))).toBe(false), BOOT);
    expect(processesOf(hosts.folder(there, id))).toEqual([]);
    expect(processesOf(hosts.folder(here, id))).toHaveLength(1);
  }

  it('report their progress, and leave the machine in place when they are aborted', async () => {
    const line = await hosts.line(id);
    const before = await line.count();
    await migrate('h2');
    const { memoryTotalBytes, memoryProcessedBytes, memoryRemainingBytes, diskTotalBytes, seq } = await inProgress();
    expect(memoryTotalBytes).toBeGreaterThanOrEqual(160 * 2 ** 20);
    expect(memoryProcessedBytes).toBeLessThan(memoryTotalBytes);
    expect(memoryRemainingBytes).toBeGreaterThan(0);
    expect(diskTotalBytes).toBeGreaterThan(0);
    expect(processesOf(hosts.folder('h2', id))).toHaveLength(1);
    await hosts.engine.servers.act(admin, id, 'live_migration_cancel', {
      migrationNumber: `${seq}`,
      statuses: ['running'],
    });
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'active', host: 'h1' });
    expect((await hosts.engine.migrations.list({ serverId: id, newestFirst: true }))[0]).toMatchObject({
      status: 'cancelled',
    });
    expect(await line.count()).toBeGreaterThan(before);
    await runsOnOneHost('h1', 'h2');
  });

  it('keep memory, disks and every line of the console', async () => {
    const line = await hosts.line(id);
    await line.run('mkdir /memory && mount -t tmpfs none /memory && echo kept >/memory/word');
    await line.run('echo moved >/mnt/disk/file; sync');
    const before = await line.count();
    await migrate('h2');
    const { seq } = await inProgress();
    await hosts.engine.servers.act(admin, id, 'live_migration_force_complete', { migrationNumber: `${seq}` });
    const server = await hosts.settled(id);
    expect(server).toMatchObject({ vmState: 'active', host: 'h2' });
    expect((await hosts.engine.migrations.list({ serverId: id, newestFirst: true }))[0]).toMatchObject({
      status: 'completed',
    });
    const after = await hosts.line(id);
    expect(await after.run('cat /mnt/disk/file /memory/word')).toBe('moved\nkept');
    expect(await after.run('echo 3 >/proc/sys/vm/drop_caches; cat /mnt/disk/file /mnt/disk/boots')).toBe('moved\nboot');
    const last = await after.count();
    expect(last).toBeGreaterThan(before);
    await hosts.checkCounted(id, last);
    expect(await hosts.console(server)).toMatch(/GUEST begins.*GUEST ready/s);
    await runsOnOneHost('h2', 'h1');
  });

  it('keep a paused machine paused', async () => {
    await hosts.engine.servers.act(admin, id, 'pause');
    await hosts.settled(id);
    await migrate('h1');
    const server = await hosts.settled(id);
    expect(server).toMatchObject({ vmState: 'paused', powerState: 3, host: 'h1' });
    const still = (await hosts.counted(id)).length;
    await runsOnOneHost('h1', 'h2');
    expect(await hosts.engine.servers.diagnostics(server)).toMatchObject({ state: 'paused' });
    await hosts.engine.servers.act(admin, id, 'unpause');
    await hosts.settled(id);
    const last = await (await hosts.line(id)).count();
    expect(last).toBeGreaterThan(still);
    await hosts.checkCounted(id, last);
  });
});
