import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { missingForGuests } from './guest/build-guest.js';
import { processesOf } from './processes-of.js';
import { admin, BOOT, QemuHosts } from './qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: volumes of separate hosts: this machine has no ${missing} ***\n`);

const KEEPER = { volumes: true, shutdownTimeoutMs: 8_000 };

describe.skipIf(missing)('volumes that one host keeps for all', { timeout: 300_000 }, () => {
  let hosts: QemuHosts;
  let id: string;
  let volumeId: string;

  beforeAll(async () => {
    hosts = await QemuHosts.open(postgresUrl, 'h2');
    await hosts.start('h1', KEEPER);
    id = (await hosts.booted('h2')).id;
  }, 240_000);

  afterAll(() => hosts?.close(), 60_000);

  const volumes = () => hosts.engine.embedded.volumes;
  const served = () => processesOf(join(hosts.directory, 'h1', 'contents'), 'qemu-storage-daemon').length;
  /** Runs a command in the guest once a test holds there. */
  const when = async (test: string, command: string) => {
    const wait = `n=0; until ${test}; do n=$((n + 1)); [ $n -lt 120 ] || break; sleep 0.25; done; ${test} && ${command}`;
    return (await hosts.line(id)).run(wait);
  };

  it('reach guests of other hosts', async () => {
    volumeId = (await volumes().createVolume(admin.caller, { key: randomUUID(), sizeGb: 1 })).id;
    expect(readdirSync(join(hosts.directory, 'h1', 'volumes'))).toContain(volumeId);
    await hosts.engine.servers.act(admin, id, 'attachVolume', { volumeId, toShelved: false, multiattach: false });
    await hosts.settled(id);
    expect(await when('[ -b /dev/vdb ]', 'cat /sys/block/vdb/serial')).toBe(volumeId.slice(0, 20));
    const line = await hosts.line(id);
    await line.run('mkdir -p /mnt/v; mke2fs /dev/vdb >/dev/null; mount -t ext4 /dev/vdb /mnt/v');
    await line.run('echo one >/mnt/v/file; sync');
    expect(served()).toBe(1);
    expect(readdirSync(join(hosts.directory, 'h2', 'contents'))).toEqual([]);
  });

  it('are waited for by guests while the program of their host, or of the guest, is away', async () => {
    await hosts.kill('h1');
    await (await hosts.line(id)).run('(echo two >>/mnt/v/file; sync; echo three >>/mnt/v/done; sync) & true');
    await hosts.start('h1', KEEPER);
    expect(await when('[ -e /mnt/v/done ]', 'cat /mnt/v/file')).toBe('one\ntwo');
    await hosts.kill('h2');
    await hosts.start('h2');
    const line = await hosts.line(id);
    expect(await line.run('echo 3 >/proc/sys/vm/drop_caches; cat /mnt/v/file /mnt/v/done')).toBe('one\ntwo\nthree');
  });

  it('stay attached to guests that move, and are let go by them', async () => {
    await hosts.engine.servers.act(admin, id, 'os-migrateLive', { host: 'h1', checkedFirst: true });
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'active', host: 'h1' });
    const line = await hosts.line(id);
    expect(await line.run('echo four >>/mnt/v/file; sync; echo 3 >/proc/sys/vm/drop_caches; cat /mnt/v/file')).toBe(
      'one\ntwo\nfour',
    );
    await line.run('umount /mnt/v');
    expect(readdirSync(join(hosts.directory, 'h2', 'far'))).toEqual([]);
    expect(served()).toBe(1);
    await hosts.engine.servers.act(admin, id, 'detachVolume', { volumeId });
    await vi.waitFor(() => expect(served()).toBe(0), BOOT);
    await vi.waitFor(
      async () => expect((await volumes().getVolume(admin.caller, volumeId)).status).toBe('available'),
      BOOT,
    );
    await volumes().deleteVolume(admin.caller, volumeId);
    expect(readdirSync(join(hosts.directory, 'h1', 'volumes'))).toEqual([]);
  });
});
