import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { admin, BOOT, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: cold migrations of virtual machines: this machine has no ${missing} ***\n`);

describe.skipIf(missing)('a cold migration of virtual machines', { timeout: 300_000 }, () => {
  let hosts: QemuHosts;
  let id: string;

  beforeAll(async () => {
    hosts = await QemuHosts.open(postgresUrl, 'h1', 'h2');
    id = (await hosts.booted('h1')).id;
    await (await hosts.line(id)).run('echo kept >/mnt/disk/file; sync');
  }, 240_000);

  afterAll(() => hosts?.close(), 60_000);

  const running = (host: string) => processesOf(hosts.folder(host, id)).length;
  const boots = async (count: number) => {
    await eventually(async () => {
      const text = await hosts.console(await hosts.see(id));
      expect(text.match(/GUEST ready/g)).toHaveLength(count);
    }, BOOT);
    const line = await hosts.line(id);
    return line.run('cat /mnt/disk/file; wc -l </mnt/disk/boots; nproc; cat /sys/block/vda/size');
  };

  it('moves them to another flavor on another host, with their disks and console logs', async () => {
    await hosts.engine.servers.act(admin, id, 'resize', { flavorId: 'large' });
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'resized', host: 'h2' });
    expect([running('h1'), running('h2')]).toEqual([0, 1]);
    expect(await boots(2)).toBe(`kept\n2\n2\n${(2 * 2 ** 30) / 512}`);
    expect(existsSync(hosts.folder('h1', id))).toBe(true);
  });

  it('restores their former state when it is reverted', async () => {
    await (await hosts.line(id)).run('echo lost >/mnt/disk/file; sync');
    await hosts.engine.servers.act(admin, id, 'revertResize');
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'active', host: 'h1', flavor: { name: 'small' } });
    expect([running('h1'), running('h2')]).toEqual([1, 0]);
    expect(await boots(2)).toBe(`kept\n2\n1\n${2 ** 30 / 512}`);
    expect(existsSync(hosts.folder('h2', id))).toBe(false);
  });

  it('keeps machines on the destination when it is confirmed, and leaves no files on the source', async () => {
    await hosts.engine.servers.act(admin, id, 'migrate', {});
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'resized', host: 'h2' });
    await hosts.engine.servers.act(admin, id, 'confirmResize');
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'active', host: 'h2' });
    expect(existsSync(hosts.folder('h1', id))).toBe(false);
    expect(await boots(3)).toBe(`kept\n3\n1\n${2 ** 30 / 512}`);
  });
});
