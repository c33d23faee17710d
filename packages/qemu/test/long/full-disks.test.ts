import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ImageCache } from '../../src/images/image-cache.js';
import { missingForGuests } from '../guest/build-guest.js';
import { GuestLine } from '../guest/guest-line.js';
import { ada, QemuCloud } from '../qemu-cloud.js';

const MIB = 2 ** 20;
const signal = new AbortController().signal;
const origin = { action: 'createImage', requestId: 'req-test' };

/** Mounts a small file system that a test can fill. Returns undefined if this computer does not permit mounts. */
function smallDisk(mib: number): string | undefined {
  const disk = mkdtempSync(join(tmpdir(), 'aq-full-'));
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m,mode=755`, 'none', disk]).status === 0) return disk;
  rmSync(disk, { recursive: true });
  return undefined;
}

const disk = smallDisk(300);
const missing = missingForGuests() ?? (disk ? undefined : 'right to mount a file system');
if (missing) console.warn(`\n*** SKIPPED: full disks: this machine has no ${missing} ***\n`);

describe.skipIf(missing)('a full disk of a host', { timeout: 300_000 }, () => {
  const directory = join(disk!, 'qemu');
  const ballast = join(disk!, 'ballast');
  let cloud: QemuCloud;
  let server: Server;
  beforeAll(async () => {
    mkdirSync(directory);
    chmodSync(directory, 0o711);
    cloud = await QemuCloud.open({ directory });
    server = await cloud.create();
    await cloud.console(server.id, /GUEST ready/);
  }, 240_000);
  afterAll(async () => {
    rmSync(ballast, { force: true });
    await cloud?.close();
    spawnSync('umount', ['-l', disk!]);
    rmSync(disk!, { recursive: true, force: true });
  });

  const states = async () => {
    const { vmState, powerState, taskState } = await cloud.engine.servers.get(ada, server.id);
    return { vmState, powerState, taskState };
  };
  const becomes = (powerState: number) =>
    expect.poll(states, { timeout: 90_000 }).toEqual({ vmState: 'active', powerState, taskState: null });
  const line = () => GuestLine.open(join(directory, 'machines', server.id, 'serial'));
  const pattern = 'yes 0123456789abcdef | dd bs=1M count=40 iflag=fullblock 2>/dev/null';
  /** Prints one checksum for each MiB of its input. */
  const checksums = 'for i in $(seq 40); do dd bs=1M count=1 iflag=fullblock 2>/dev/null | md5sum; done';

  it('is visible to administrators', async () => {
    await expect
      .poll(async () => (await cloud.engine.hypervisors.list())[0]!.host.node.disk, { timeout: 30_000 })
      .toEqual({ totalGb: 0, freeGb: 0, leastGb: -1 });
  });

  it('pauses a guest whose write has no space, which the API shows, and snapshots are rejected', async () => {
    const free = spawnSync('df', ['--output=avail', '-BM', disk!])
      .stdout.toString()
      .match(/(\d+)M/)![1];
    writeFileSync(ballast, Buffer.alloc((Number(free) - 15) * MIB, 'x'));
    const writing = await line();
    // A mounted file system would write its superblock between the bytes of the test.
    await writing.run('umount /mnt/disk');
    void writing.run(`${pattern} | dd of=/dev/vda bs=1M oflag=direct iflag=fullblock 2>/written; echo`).catch(() => {});
    await becomes(3);
    writing.close();
    const work = { verb: 'snapshot', imageId: 'c0ffee00-0000-4000-8000-000000000001' } as const;
    await expect(cloud.driver.perform(work, server, signal, origin)).rejects.toMatchObject({ code: 'DISK_FULL' });
    expect(readdirSync(join(directory, 'machines', server.id)).filter((name) => name.startsWith('snapshot'))).toEqual(
      [],
    );
  });

  it('damages nothing: the guest continues when there is space again, even after a restart of the program', async () => {
    await cloud.engine.close();
    await cloud.begin();
    await becomes(3);
    rmSync(ballast);
    await becomes(1);
    const reading = await line();
    // The first result on this serial line may be that of an earlier command.
    await reading.run('true');
    expect(await reading.run('cat /written')).toMatch(/^40\+0 records in\s+40\+0 records out$/);
    const expected = await reading.run(`${pattern} | (${checksums})`);
    await reading.run('echo 3 > /proc/sys/vm/drop_caches');
    expect(await reading.run(`dd if=/dev/vda bs=1M count=40 2>/read | (${checksums})`)).toBe(expected);
    expect(await reading.run('cat /read')).toMatch(/^40\+0 records in\s+40\+0 records out$/);
    reading.close();
  });

  it('evicts unused images before a new one is rejected', async () => {
    const folder = join(disk!, 'cache');
    mkdirSync(folder);
    const content = (letter: string) => Buffer.alloc(60 * MIB, letter);
    const images = {
      get: async (_: unknown, id: string) => ({
        id,
        diskFormat: 'raw',
        checksum: null,
        properties: {},
        sizeBytes: 60 * MIB,
      }),
      download: async (_: unknown, id: string) => [content(id)],
    };
    const cache = new ImageCache({
      folder,
      shared: false,
      images: images as never,
      qemuImg: 'qemu-img',
      runAs: undefined,
    });
    const caller = { userId: 'ada', projectId: 'p', roles: [] };
    const first = await cache.fetchImage(caller, 'a', 0, signal);
    for (const name of readdirSync(folder))
      utimesSync(join(folder, name), new Date(Date.now() - 600_000), new Date(Date.now() - 600_000));
    const free = spawnSync('df', ['--output=avail', '-BM', disk!])
      .stdout.toString()
      .match(/(\d+)M/)![1];
    writeFileSync(ballast, Buffer.alloc((Number(free) - 30) * MIB));
    const second = await cache.fetchImage(caller, 'b', 0, signal);
    expect([existsSync(first), existsSync(second)]).toEqual([false, true]);
    // Images that were just used remain.
    await expect(cache.fetchImage(caller, 'c', 0, signal)).rejects.toMatchObject({ code: 'DISK_FULL' });
    expect(existsSync(second)).toBe(true);
  });
});
