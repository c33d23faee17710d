import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { AGENT_IMAGE } from '../qemu-cloud.js';
import { admin, BOOT, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: machines on shared storage: this machine has no ${missing} ***\n`);

describe.skipIf(missing)('virtual machines whose disks are on shared storage', { timeout: 300_000 }, () => {
  let hosts: QemuHosts;
  let id: string;
  let backed: string;
  const share = () => ({ sharedDirectory: join(hosts.directory, 'shared'), diskWaitMs: 280_000 });
  const start = (name: string) => hosts.start(name, share());

  beforeAll(async () => {
    hosts = await QemuHosts.open(postgresUrl);
    // The host stores volumes, and has no servers.
    await hosts.start('h3', { volumes: true });
    await change('h3', { disabled: true });
    await start('h1');
    await start('h2');
    id = (await hosts.booted('h1')).id;
    await (await hosts.line(id)).run('echo kept >/mnt/disk/file; sync');
  }, 240_000);

  afterAll(() => hosts?.close(), 60_000);

  /** Returns the ids of the servers that use the only volume. */
  const users = () => {
    const contents = join(hosts.directory, 'h3', 'contents');
    return readdirSync(contents).flatMap((name) => readdirSync(join(contents, name, 'users')));
  };
  const root = () => join(share().sharedDirectory, 'machines', id, 'root.qcow2');
  const running = () => ['h1', 'h2'].map((host) => processesOf(hosts.folder(host, id)).length);
  /** Returns for each host whether the machine has a local folder there. */
  const here = () => ['h1', 'h2'].map((host) => existsSync(hosts.folder(host, id)));
  /** Waits until a guest has booted the given number of times, and returns the output of a command in the guest. */
  const booted = async (boots: number, command = 'cat /mnt/disk/file; wc -l </mnt/disk/boots') => {
    await eventually(async () => {
      const text = await hosts.console(await hosts.see(id));
      expect(text.match(/GUEST ready/g)?.length).toBe(boots);
    }, BOOT);
    return (await hosts.line(id)).run(command);
  };
  const snapshots = () => {
    const imageInfo = execFileSync('qemu-img', ['info', '-U', '--output=json', root()], { encoding: 'utf8' });
    return JSON.parse(imageInfo).snapshots?.length ?? 0;
  };
  const change = async (host: string, expected: { disabled: boolean } | { forcedDown: boolean }) => {
    const [found] = await hosts.engine.services.list({ host });
    await hosts.engine.services.update(found!.service.id, expected);
  };
  const down = (host: string, forcedDown: boolean) => change(host, { forcedDown });
  const lastMigration = async () =>
    (await hosts.engine.migrations.list({ serverId: id, newestFirst: true, limit: 1 }))[0]!;

  it('migrate live without copying a disk', async () => {
    const { ino } = statSync(root());
    const before = await (await hosts.line(id)).count();
    await hosts.engine.servers.act(admin, id, 'os-migrateLive', { host: 'h2', checkedFirst: true });
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'active', host: 'h2' });
    expect(await lastMigration()).toMatchObject({ status: 'completed', diskTotalBytes: 0 });
    await eventually(() => expect(here()).toEqual([false, true]), BOOT);
    expect(running()).toEqual([0, 1]);
    expect(statSync(root()).ino).toBe(ino);
    const line = await hosts.line(id);
    const after = await line.count();
    expect(after).toBeGreaterThan(before);
    expect(await line.run('echo 3 >/proc/sys/vm/drop_caches; cat /mnt/disk/file')).toBe('kept');
    await hosts.checkCounted(id, after);
  });

  it('move to another flavor on another host and back, with their disks', async () => {
    const { ino } = statSync(root());
    await hosts.engine.servers.act(admin, id, 'resize', { flavorId: 'large' });
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'resized', host: 'h1' });
    expect(await booted(2, 'cat /mnt/disk/file /sys/block/vda/size')).toBe(`kept\n${(2 * 2 ** 30) / 512}`);
    await (await hosts.line(id)).run('echo lost >/mnt/disk/file; sync');
    expect([running(), snapshots()]).toEqual([[1, 0], 1]);
    await hosts.engine.servers.act(admin, id, 'revertResize');
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'active', host: 'h2', flavor: { name: 'small' } });
    expect(await booted(2, 'cat /mnt/disk/file /sys/block/vda/size')).toBe(`kept\n${2 ** 30 / 512}`);
    expect([running(), here(), snapshots()]).toEqual([[0, 1], [false, true], 0]);
    expect(statSync(root()).ino).toBe(ino);
  });

  it('stay on the other host after a confirmed migration', async () => {
    const { ino } = statSync(root());
    await hosts.engine.servers.act(admin, id, 'migrate', {});
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'resized', host: 'h1' });
    await hosts.engine.servers.act(admin, id, 'confirmResize');
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'active', host: 'h1' });
    expect([running(), here(), snapshots()]).toEqual([[1, 0], [true, false], 0]);
    expect(await booted(3)).toBe('kept\n3');
    expect(statSync(root()).ino).toBe(ino);
  });

  it('are evacuated with their own disks, which the returning host does not change', async () => {
    await (await hosts.line(id)).run('echo evacuated >/mnt/disk/file; sync');
    const root = { source: 'image', destination: 'volume', sourceId: AGENT_IMAGE, size: 1, bootIndex: 0 } as const;
    backed = (await hosts.booted('h1', { imageId: undefined, devices: [root] })).id;
    await (await hosts.line(backed)).run('echo on a volume >/mnt/disk/file; sync');
    await hosts.kill('h1');
    for (const pid of processesOf(hosts.folder('h1', id))) process.kill(pid, 'SIGKILL');
    await down('h1', true);
    const [waiting] = processesOf(hosts.folder('h1', backed));
    expect(waiting).toBeDefined();
    for (const server of [id, backed]) {
      await hosts.engine.servers.act(admin, server, 'evacuate', { sharedStorage: true, stop: false });
      expect(await hosts.settled(server)).toMatchObject({ vmState: 'active', host: 'h2' });
    }
    expect(users()).toEqual([`${backed}@h2`]);
    expect(await booted(1)).toBe('evacuated\n4');
    await start('h1');
    await down('h1', false);
    // The volume-backed machine had kept running on the lost host, without write access to its volume. It is now
    // removed.
    expect(processesOf(hosts.folder('h1', backed))).toEqual([]);
    expect(readdirSync(join(hosts.directory, 'h1', 'far'))).toEqual([]);
    await eventually(async () => expect(await hosts.console(await hosts.see(backed))).toMatch(/GUEST ready/), BOOT);
    expect(await (await hosts.line(backed)).run('cat /mnt/disk/file; wc -l </mnt/disk/boots')).toBe('on a volume\n2');
    await hosts.engine.servers.delete(admin, backed);
    expect([running(), here()]).toEqual([
      [0, 1],
      [false, true],
    ]);
    expect(await (await hosts.line(id)).run('echo 3 >/proc/sys/vm/drop_caches; cat /mnt/disk/file')).toBe('evacuated');
  });

  it('are not evacuated by a request that denies the shared storage, and remain on their host', async () => {
    await hosts.kill('h2');
    await down('h2', true);
    await hosts.engine.servers.act(admin, id, 'evacuate', { sharedStorage: false, stop: false });
    await eventually(async () => expect((await hosts.see(id)).jobId).toBeNull(), BOOT);
    expect(await hosts.see(id)).toMatchObject({
      vmState: 'error',
      host: 'h2',
      fault: { message: 'the disks of the server are on storage that this host shares' },
    });
    expect(running()).toEqual([0, 1]);
  });

  it('never run twice: machines of a host that is considered dead are stopped before they start elsewhere', async () => {
    const pids = processesOf(hosts.folder('h2', id));
    await hosts.engine.servers.act(admin, id, 'evacuate', { stop: false });
    const logFile = join(hosts.folder('h1', id), 'qemu.log');
    await eventually(() => expect(readFileSync(logFile, 'utf8')).toMatch(/another process using the image/), BOOT);
    expect(processesOf(hosts.folder('h2', id))).toEqual(pids);
    expect(await hosts.see(id)).toMatchObject({ taskState: 'rebuild_spawning', host: 'h1' });
    await start('h2');
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'active', host: 'h1' });
    expect([running(), here()]).toEqual([
      [1, 0],
      [true, false],
    ]);
    expect(await booted(1)).toBe('evacuated\n5');
    await hosts.engine.servers.delete(admin, id);
    await eventually(() => expect([running(), existsSync(root())]).toEqual([[0, 0], false]), BOOT);
  });
});
