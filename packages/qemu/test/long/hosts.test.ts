import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { admin, BOOT, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: hosts of virtual machines: this machine has no ${missing} ***\n`);

describe.skipIf(missing)('two hosts of virtual machines on one computer', { timeout: 300_000 }, () => {
  let hosts: QemuHosts;

  beforeAll(async () => {
    hosts = await QemuHosts.open(postgresUrl, 'h1', 'h2');
  }, 120_000);

  afterAll(() => hosts?.close(), 60_000);

  it('report the processor that their guests see', async () => {
    const listed = await hosts.engine.hypervisors.list();
    expect(listed).toHaveLength(2);
    for (const { host } of listed) {
      const { cpuInfo } = host.node;
      expect(cpuInfo).toMatchObject({ arch: 'x86_64', model: expect.any(String), vendor: expect.any(String) });
      expect(cpuInfo.model).not.toBe('Nehalem');
      // The features that every x86-64 processor has.
      expect(cpuInfo.features).toEqual(expect.arrayContaining(['cx8', 'fpu', 'lm', 'sse2']));
      const { cells = 0, sockets, cores, threads } = cpuInfo.topology;
      expect(cells * sockets * cores * threads).toBeGreaterThan(0);
    }
  });

  it('boot guests, which outlive the host process and are adopted by the next one', async () => {
    const { engine } = hosts;
    const [one, two] = await Promise.all([hosts.booted('h1'), hosts.booted('h2')]);
    expect([one.host, two.host]).toEqual(['h1', 'h2']);
    const folders = [hosts.folder('h1', one.id), hosts.folder('h2', two.id)] as const;
    const pids = folders.map((folder) => processesOf(folder));
    expect(pids.map((found) => found.length)).toEqual([1, 1]);
    expect(await engine.servers.diagnostics(two)).toMatchObject({ state: 'running', memoryMaximumMb: 160 });

    const before = await (await hosts.line(one.id)).count();
    await hosts.kill('h1');
    // The operation is requested while the host is down, and executed when the host is available again.
    await engine.servers.act(admin, one.id, 'pause');
    await hosts.start('h1');
    expect(await hosts.settled(one.id)).toMatchObject({ vmState: 'paused', powerState: 3 });
    await engine.servers.act(admin, one.id, 'unpause');
    await hosts.settled(one.id);
    expect(await (await hosts.line(one.id)).count()).toBeGreaterThan(before);
    expect(folders.map((folder) => processesOf(folder))).toEqual(pids);

    await engine.servers.delete(admin, one.id);
    await eventually(() => expect(processesOf(hosts.folder('h1'))).toEqual([]), BOOT);
    expect(processesOf(folders[1])).toEqual(pids[1]);
  });
});
