import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { callAgent } from '../../src/guest/guest-agent.js';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { AGENT_IMAGE } from '../qemu-cloud.js';
import { admin, BOOT, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: volumes of separate hosts: this machine has no ${missing} ***\n`);

const GIB_SECTORS = 2 ** 30 / 512;
const STORES_VOLUMES = { volumes: true };

describe.skipIf(missing)('volumes that one host stores for all hosts', { timeout: 300_000 }, () => {
  let hosts: QemuHosts;
  let id: string;
  let second: string;
  let volumeId: string;
  let shared: string;

  beforeAll(async () => {
    hosts = await QemuHosts.open(postgresUrl, 'h2');
    await hosts.start('h1', STORES_VOLUMES);
    id = (await hosts.booted('h2')).id;
  }, 240_000);

  afterAll(() => hosts?.close(), 60_000);

  const volumes = () => hosts.engine.embedded.volumes;
  const create = async (more: object = {}) =>
    (await volumes().createVolume(admin.caller, { key: randomUUID(), sizeGb: 1, ...more })).id;
  const servers = () => processesOf(join(hosts.directory, 'h1', 'contents'), 'qemu-storage-daemon');
  const served = () => servers().length;
  const retained = () => readdirSync(join(hosts.directory, 'h1', 'volumes'));
  const sockets = () => readdirSync(join(hosts.directory, 'h2', 'far'));
  /** Waits until a volume has the given status. */
  const becomes = (volume: string, status: string) =>
    eventually(async () => expect((await volumes().getVolume(admin.caller, volume)).status).toBe(status), BOOT);
  const attach = async (server: string, volume: string) => {
    const request = { volumeId: volume, allowShelved: false, multiattach: true };
    await hosts.engine.servers.act(admin, server, 'attachVolume', request);
    await eventually(async () => {
      const { status, attachments } = await volumes().getVolume(admin.caller, volume);
      expect([status, attachments.map(({ serverId }) => serverId)]).toEqual([
        'in-use',
        expect.arrayContaining([server]),
      ]);
    }, BOOT);
  };
  /** Runs a command in a guest as soon as a test succeeds there. */
  const when = async (test: string, command: string, server = id) => {
    const wait = `n=0; until ${test}; do n=$((n + 1)); [ $n -lt 240 ] || break; sleep 0.25; done; ${test} && ${command}`;
    return (await hosts.line(server)).run(wait);
  };
  const isAttached = (device: string, volume: string) =>
    `[ "$(cat /sys/block/${device}/serial 2>/dev/null)" = ${volume.slice(0, 20)} ]`;

  it('can be used by guests of other hosts', async () => {
    volumeId = await create();
    expect(retained()).toContain(volumeId);
    await attach(id, volumeId);
    await when(isAttached('vdb', volumeId), 'true');
    const line = await hosts.line(id);
    await line.run('mkdir -p /mnt/v; mke2fs /dev/vdb >/dev/null; mount -t ext4 /dev/vdb /mnt/v');
    await line.run('echo one >/mnt/v/file; sync');
    expect(served()).toBe(1);
    expect(readdirSync(join(hosts.directory, 'h2', 'contents'))).toEqual([]);
  });

  it('delay writes while their host is down, and stay attached when the host of the guest restarts', async () => {
    await hosts.kill('h1');
    await (await hosts.line(id)).run('(echo two >>/mnt/v/file; sync; echo three >>/mnt/v/done; sync) & true');
    await hosts.start('h1', STORES_VOLUMES);
    expect(await when('[ -e /mnt/v/done ]', 'cat /mnt/v/file')).toBe('one\ntwo');
    await hosts.kill('h2');
    await hosts.start('h2');
    // The process that serves the volume may be killed as well; only its host can restart it.
    const server = servers()[0]!;
    process.kill(server, 'SIGKILL');
    await expect.poll(servers, BOOT).not.toContain(server);
    const line = await hosts.line(id);
    expect(await line.run('echo 3 >/proc/sys/vm/drop_caches; cat /mnt/v/file /mnt/v/done')).toBe('one\ntwo\nthree');
  });

  it('stay attached to migrated guests, which can detach them', async () => {
    await hosts.engine.servers.act(admin, id, 'os-migrateLive', { host: 'h1', checkedFirst: true });
    expect(await hosts.settled(id)).toMatchObject({ vmState: 'active', host: 'h1' });
    const line = await hosts.line(id);
    expect(await line.run('echo four >>/mnt/v/file; sync; echo 3 >/proc/sys/vm/drop_caches; cat /mnt/v/file')).toBe(
      'one\ntwo\nfour',
    );
    await line.run('umount /mnt/v');
    await expect.poll(sockets, BOOT).toEqual([]);
    expect(served()).toBe(1);
    await hosts.engine.servers.act(admin, id, 'detachVolume', { volumeId });
    await eventually(() => expect(served()).toBe(0), BOOT);
    await becomes(volumeId, 'available');
    await volumes().deleteVolume(admin.caller, volumeId);
    expect(retained()).toEqual([]);
  });

  it('are boot disks of servers of other hosts, with the tags that the guest reads', async () => {
    volumeId = await create({ name: 'data' });
    const devices = [
      {
        source: 'image',
        destination: 'volume',
        sourceId: AGENT_IMAGE,
        size: 1,
        bootIndex: 0,
        deleteOnTermination: true,
      },
      { source: 'volume', destination: 'volume', sourceId: volumeId, bootIndex: -1, tag: 'data' },
    ] as const;
    const server = await hosts.booted('h2', { imageId: undefined, devices });
    second = server.id;
    expect(server.blockDevices.map(({ device }) => device)).toEqual(['/dev/vda', '/dev/vdb']);
    expect([...retained()].sort()).toEqual(server.blockDevices.map((device) => device.volumeId).sort());
    expect(existsSync(join(hosts.folder('h2', second), 'root.qcow2'))).toBe(false);
    const line = await hosts.line(second);
    const serials = server.blockDevices.map((device) => device.volumeId!.slice(0, 20));
    expect(await line.run('cat /sys/block/vd[ab]/serial; cat /mnt/disk/boots')).toBe(`${serials.join('')}boot`);
    const metadata = JSON.parse(await line.run('cat /mnt/config/openstack/latest/meta_data.json'));
    expect(metadata.devices).toMatchObject([{ type: 'disk', serial: volumeId, path: '/dev/vdb', tags: ['data'] }]);
  });

  /** Writes a text to a block without using the guest's cache, because other guests use the same volume. */
  const says = (text: string, device: string, block: number) =>
    `printf '%-512s' '${text}' | dd of=${device} bs=512 seek=${block} oflag=direct 2>/dev/null`;
  const reads = (device: string, block: number) =>
    `dd if=${device} bs=512 skip=${block} count=1 iflag=direct 2>/dev/null`;

  it('are shared by guests of two hosts, which read each other’s writes', async () => {
    await volumes().createType(admin.caller, { name: 'shared', extraSpecs: { multiattach: '<is> True' } });
    shared = await create({ volumeType: 'shared' });
    await attach(id, shared);
    await attach(second, shared);
    for (const round of ['one', 'two']) {
      await when(isAttached('vdb', shared), says(`${round} of h1`, '/dev/vdb', 0));
      expect(await when(isAttached('vdc', shared), reads('/dev/vdc', 0), second)).toBe(`${round} of h1`);
      await when(isAttached('vdc', shared), says(`${round} of h2`, '/dev/vdc', 8), second);
      expect(await when(isAttached('vdb', shared), reads('/dev/vdb', 8))).toBe(`${round} of h2`);
    }
    await volumes().extendVolume(admin.caller, shared, 2);
    for (const [server, device] of [
      [id, 'vdb'],
      [second, 'vdc'],
    ] as const) {
      await when(`[ $(cat /sys/block/${device}/size) = ${2 * GIB_SECTORS} ]`, 'true', server);
    }
  });

  it('are detached from a server that is evacuated, and not from others of its host', async () => {
    const third = (await hosts.booted('h2')).id;
    await attach(third, shared);
    await when(isAttached('vdb', shared), says('third', '/dev/vdb', 16), third);
    const [found] = await hosts.engine.services.list({ host: 'h2' });
    await hosts.engine.services.update(found!.service.id, { forcedDown: true });
    await hosts.engine.servers.act(admin, third, 'evacuate', { host: 'h1', stop: false });
    expect(await hosts.settled(third)).toMatchObject({ vmState: 'active', host: 'h1' });
    await eventually(async () => expect(await hosts.console(await hosts.see(third))).toMatch(/GUEST ready/), BOOT);
    await hosts.kill('h2');
    await hosts.start('h2');
    await hosts.engine.services.update(found!.service.id, { forcedDown: false });
    await when('true', says('three of h2', '/dev/vdc', 8), second);
    expect(await when(isAttached('vdb', shared), reads('/dev/vdb', 8), third)).toBe('three of h2');
    expect(await when('true', reads('/dev/vdc', 16), second)).toBe('third');
    expect(processesOf(hosts.folder('h2', third))).toEqual([]);
    expect(sockets().filter((name) => name.includes(third))).toEqual([]);
    await hosts.engine.servers.delete(admin, third);
  });

  it('are attached again when a suspended guest resumes after its host process was stopped', async () => {
    await hosts.engine.servers.act(admin, second, 'suspend');
    expect(await hosts.settled(second)).toMatchObject({ vmState: 'suspended' });
    await hosts.kill('h2');
    await hosts.start('h2');
    await hosts.engine.servers.act(admin, second, 'resume');
    expect(await hosts.settled(second)).toMatchObject({ vmState: 'active' });
    expect(await when('true', 'dd if=/dev/vdc bs=512 count=1 iflag=direct 2>/dev/null', second)).toBe('two of h1');
    await when('true', 'echo resumed >/mnt/disk/note; sync; echo 3 >/proc/sys/vm/drop_caches', second);
    expect(await when('true', 'cat /mnt/disk/note', second)).toBe('resumed');
  });

  it('are extended and swapped while a guest of another host writes', async () => {
    const run = (command: string) => when('true', command, second);
    await run('mkdir -p /mnt/v; mke2fs /dev/vdb >/dev/null; mount -t ext4 /dev/vdb /mnt/v');
    const count = 'n=$((n + 1)); echo $n >>/mnt/v/numbers; sync; sleep 0.2';
    await run(`{ (n=0; while [ ! -e /tmp-enough ]; do ${count}; done; touch /tmp-over) & }`);
    await volumes().extendVolume(admin.caller, volumeId, 2);
    await when(`[ $(cat /sys/block/vdb/size) = ${2 * GIB_SECTORS} ]`, 'true', second);
    const before = readlinkSync(join(hosts.directory, 'h1', 'volumes', volumeId));
    const newVolumeId = await volumes().beginMigration(admin.caller, volumeId);
    await hosts.engine.servers.act(admin, second, 'swapVolume', { oldVolumeId: volumeId, newVolumeId });
    const migrated = { status: 'in-use', migrationStatus: 'success', attachments: [{ serverId: second }] };
    await expect.poll(() => volumes().getVolume(admin.caller, volumeId), BOOT).toMatchObject(migrated);
    const after = readlinkSync(join(hosts.directory, 'h1', 'volumes', volumeId));
    expect(after).not.toBe(before);
    expect(readdirSync(join(hosts.directory, 'h1', 'contents'))).not.toContain(before);
    expect(sockets().filter((name) => name.startsWith(before))).toEqual([]);
    await run('touch /tmp-enough');
    await when('[ -e /tmp-over ]', 'umount /mnt/v', second);
    await run('echo 3 >/proc/sys/vm/drop_caches; mount -t ext4 /dev/vdb /mnt/v');
    await run('seq $(wc -l </mnt/v/numbers) >/tmp-numbers; cmp /tmp-numbers /mnt/v/numbers && umount /mnt/v');
  });

  const createImage = (name: string) =>
    hosts.engine.servers.act(admin, second, 'createImage', { name, metadata: {}, limitMetadata: true });

  it('are copied while the filesystems of the guest are frozen', async () => {
    await when('true', 'echo unwritten >/mnt/disk/note', second);
    const image = await hosts.engine.catalogs.images.get(admin.caller, await eventually(() => createImage('copy')));
    expect(await when('true', 'sort -u /tmp-freezes; echo more >>/mnt/disk/note; cat /mnt/disk/note', second)).toBe(
      'frozen\nunwritten\nmore',
    );
    const mappings = JSON.parse(image.properties.block_device_mapping!);
    const copied = await create({ snapshotId: mappings[0].snapshot_id });
    await attach(id, copied);
    const look = 'mkdir -p /mnt/c; mount -t ext4 /dev/vdc /mnt/c; cat /mnt/c/note; umount /mnt/c';
    expect(await when(isAttached('vdc', copied), look)).toBe('unwritten');
    for (const { snapshot_id } of mappings) await volumes().deleteSnapshot(admin.caller, snapshot_id);
  });

  it('do not become an image if the host of the guest is killed in the meantime, and the guest continues after its restart', async () => {
    const { volumes: catalog, images } = hosts.engine.catalogs;
    const state = () => callAgent(join(hosts.folder('h2', second), 'agent'), 'guest-fsfreeze-status');
    await expect.poll(state, BOOT).toBe('thawed');
    const { createSnapshot } = catalog;
    const gate = new EventEmitter();
    const reached = once(gate, 'reached');
    vi.spyOn(catalog, 'createSnapshot').mockImplementationOnce(async (...request) => {
      const opened = once(gate, 'opened');
      gate.emit('reached');
      await opened;
      return createSnapshot(...request);
    });
    const creation = createImage('late').then(String, ({ code }) => code);
    await reached;
    await hosts.kill('h2');
    await expect.poll(state, BOOT).toBe('frozen');
    await hosts.start('h2');
    await expect.poll(state, BOOT).toBe('thawed');
    gate.emit('opened');
    expect(await creation).toBe('CONFLICT');
    vi.restoreAllMocks();
    expect(await volumes().listSnapshots(admin.caller)).toEqual([]);
    expect((await images.list(admin.caller, {})).map(({ name }) => name)).not.toContain('late');
  });

  it('are deleted with their server if requested, and leave no files on either host', async () => {
    const rootId = (await hosts.see(second)).blockDevices[0]!.volumeId!;
    await hosts.engine.servers.delete(admin, second);
    await hosts.engine.servers.delete(admin, id);
    await becomes(volumeId, 'available');
    await eventually(() => expect(retained()).not.toContain(rootId), BOOT);
    await expect.poll(served, BOOT).toBe(0);
    await expect.poll(sockets, BOOT).toEqual([]);
    for (const volume of await volumes().listVolumes(admin.caller)) {
      await becomes(volume.id, 'available');
      await volumes().deleteVolume(admin.caller, volume.id);
    }
    expect(readdirSync(join(hosts.directory, 'h1', 'contents'))).toEqual([]);
  });
});
