import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { missingForGuests } from './guest/build-guest.js';
import { processesOf } from './processes-of.js';
import { admin, BOOT, QemuHosts } from './qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing)
  console.warn(`\n*** SKIPPED: moves of virtual machines that are cut off: this machine has no ${missing} ***\n`);

const SLOW = { moveMibPerSecond: 4 };

describe.skipIf(missing).each([
  ['target', 'h2', undefined],
  ['source', 'h1', SLOW],
] as const)('a live migration whose %s is killed in the middle', { timeout: 240_000 }, (_title, host, options) => {
  let hosts: QemuHosts;
  let id: string;

  beforeAll(async () => {
    hosts = await QemuHosts.open(postgresUrl, 'h2');
    await hosts.start('h1', SLOW);
    id = (await hosts.booted('h1')).id;
  }, 240_000);

  afterAll(() => hosts?.close(), 60_000);

  const running = () => ['h1', 'h2'].map((host) => processesOf(hosts.folder(host, id)).length);
  const last = async () => (await hosts.engine.migrations.list({ serverId: id, newestFirst: true, limit: 1 }))[0]!;

  it('fails, and the guest goes on where it was', async () => {
    const before = await (await hosts.line(id)).count();
    await hosts.engine.servers.act(admin, id, 'os-migrateLive', { host: 'h2', checkedFirst: true });
    await eventually(async () => expect((await last()).memoryProcessedBytes).toBeGreaterThan(2 ** 20), BOOT);
    expect(running()).toEqual([1, 1]);
    await hosts.kill(host);
    await hosts.start(host, options);
    // The failed migration is the server's fault, which stays to be read.
    await eventually(async () => expect((await hosts.see(id)).jobId).toBeNull(), BOOT);
    expect(await hosts.see(id)).toMatchObject({ vmState: 'active', powerState: 1, host: 'h1' });
    expect((await last()).status).toBe('failed');
    await eventually(() => expect(existsSync(hosts.folder('h2', id))).toBe(false), BOOT);
    expect(running()).toEqual([1, 0]);
    expect(await (await hosts.line(id)).count()).toBeGreaterThan(before);
  });
});
