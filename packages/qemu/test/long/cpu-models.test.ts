import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { missingForGuests } from '../guest/build-guest.js';
import { admin, BOOT, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: CPU models of virtual machines: this machine has no ${missing} ***\n`);

const NO_AES = "Migration pre-check error: Host old does not provide features of the guest's CPU: aes.";

/** Two hosts: `old` has disabled a CPU feature, and `new` provides all features of `old`. */
describe.skipIf(missing)('hosts with different CPU models', { timeout: 400_000 }, () => {
  let hosts: QemuHosts;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    hosts = await QemuHosts.open(postgresUrl);
    await hosts.start('new', { cpuMode: 'custom', cpuModel: 'Westmere' });
    await hosts.start('old', { cpuMode: 'custom', cpuModel: 'Nehalem', cpuFeatures: ['-aes'] });
    for (const name of ['new', 'old']) ids[name] = (await hosts.booted(name)).id;
  }, 400_000);

  afterAll(() => hosts?.close(), 60_000);

  const migrate = (id: string, host: string, checkedFirst = false) =>
    hosts.engine.servers.act(admin, id, 'os-migrateLive', { host, checkedFirst });

  /** Returns the CPU as the guest reports it. */
  async function cpuOf(id: string): Promise<{ readonly model: string; readonly aes: boolean }> {
    const line = await hosts.line(id);
    const text = await line.run('grep -E "^(model name|flags)" /proc/cpuinfo');
    return { model: /Nehalem Class|Westmere/.exec(text)?.[0] ?? text, aes: / aes /.test(text) };
  }

  const lastMigration = async (id: string) =>
    (await hosts.engine.migrations.list({ serverId: id, newestFirst: true, limit: 1 }))[0];

  it('show their model to their guests', async () => {
    expect(await cpuOf(ids.new!)).toEqual({ model: 'Westmere', aes: true });
    expect(await cpuOf(ids.old!)).toEqual({ model: 'Nehalem Class', aes: false });
  });

  it('reject a guest whose CPU they do not provide, which continues on its host', async () => {
    const id = ids.new!;
    await expect(migrate(id, 'old', true)).rejects.toMatchObject({ code: 'BAD_REQUEST', message: NO_AES });
    await migrate(id, 'old');
    const server = await eventually(async () => {
      const seen = await hosts.see(id);
      expect(seen.jobId).toBeNull();
      return seen;
    }, BOOT);
    expect(server).toMatchObject({ vmState: 'active', taskState: null, host: 'new', fault: { message: NO_AES } });
    expect(await lastMigration(id)).toMatchObject({ status: 'error', memoryProcessedBytes: 0 });
    expect(await (await hosts.line(id)).run('echo here')).toBe('here');
  });

  it('accept a guest whose CPU they provide, which keeps its model', async () => {
    const id = ids.old!;
    const before = await (await hosts.line(id)).count();
    await migrate(id, 'new');
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'active', host: 'new' });
    expect(await cpuOf(id)).toEqual({ model: 'Nehalem Class', aes: false });
    expect(await (await hosts.line(id)).count()).toBeGreaterThan(before);
    await migrate(id, 'old');
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'active', host: 'old' });
  });

  it('use their own model for a guest after a cold migration to them', async () => {
    const id = ids.new!;
    await hosts.engine.servers.act(admin, id, 'migrate', { host: 'old' });
    const moved = await eventually(async () => {
      const seen = await hosts.see(id);
      expect(seen).toMatchObject({ jobId: null, vmState: 'resized', host: 'old' });
      return seen;
    }, BOOT);
    await eventually(async () => expect(await hosts.console(moved)).toMatch(/GUEST ready.*GUEST ready/s), BOOT);
    expect(await cpuOf(id)).toEqual({ model: 'Nehalem Class', aes: false });
  });

  it('resume a guest with the CPU with which it was suspended, even if their options have changed since', async () => {
    await hosts.start('changed', { cpuMode: 'host-model' });
    const { id } = await hosts.booted('changed');
    const cpu = 'grep -E "^(model name|flags)" /proc/cpuinfo';
    const line = await hosts.line(id);
    await line.run('mkdir /memory && mount -t tmpfs none /memory && echo kept >/memory/word');
    const before = await line.run(cpu);
    expect(before).toMatch(/ aes /);
    await hosts.engine.servers.act(admin, id, 'suspend');
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'suspended' });
    await hosts.kill('changed');
    await hosts.start('changed', { cpuMode: 'custom', cpuModel: 'Nehalem' });
    await hosts.engine.servers.act(admin, id, 'resume');
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'active' });
    const after = await hosts.line(id);
    expect(await after.run('cat /memory/word')).toBe('kept');
    expect(await after.run(cpu)).toBe(before);
    await hosts.engine.servers.act(admin, id, 'rebootHard');
    await hosts.settled(id);
    await eventually(async () => expect(await hosts.console(await hosts.see(id))).toMatch(/ready.*ready/s), BOOT);
    expect(await cpuOf(id)).toEqual({ model: 'Nehalem Class', aes: false });
  });
});
