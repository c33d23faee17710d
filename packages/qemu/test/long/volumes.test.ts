import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { ada, IMAGE, NETWORK, QemuCloud } from '../qemu-cloud.js';

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: volumes of virtual machines: this machine has no ${missing} ***\n`);

/** The part of a volume's id that the guest sees. */
const serialOf = (volumeId: string) => volumeId.slice(0, 20);
const GIB_SECTORS = 2 ** 30 / 512;

describe.skipIf(missing)('volumes of virtual machines', { timeout: 240_000 }, () => {
  let cloud: QemuCloud;
  let first: string;
  let second: string;
  let volumeId: string;
  let copyId: string;
  beforeAll(async () => {
    cloud = await QemuCloud.open({ shutdownTimeoutMs: 8_000 });
  });
  afterAll(() => cloud.close());

  const act = () => cloud.engine.servers;
  const volumes = () => cloud.engine.embedded.volumes;
  const servers = () => processesOf(join(cloud.directory, 'qemu', 'contents'), 'qemu-storage-daemon');
  const contents = () => readdirSync(join(cloud.directory, 'qemu', 'contents'));
  const create = async (more: object = {}) =>
    (await volumes().createVolume(ada.caller, { key: randomUUID(), sizeGb: 1, ...more })).id;
  const status = async (id: string) => (await volumes().getVolume(ada.caller, id)).status;

  async function attach(id: string, volume: string): Promise<string> {
    const request = { volumeId: volume, allowShelved: true, multiattach: true };
    const { device } = await act().act(ada, id, 'attachVolume', request);
    await cloud.engine.idle();
    expect(await status(volume)).toBe('in-use');
    return device;
  }

  /** Runs a command in a guest as soon as a test succeeds there. */
  async function when(id: string, test: string, command = 'true'): Promise<string> {
    const wait = `n=0; until ${test}; do n=$((n + 1)); [ $n -lt 120 ] || break; sleep 0.25; done; ${test} && ${command}`;
    return (await cloud.line(id)).run(wait);
  }

  it('have their serial number and name in the guest, and keep their content', async () => {
    first = (await cloud.create({ name: 'first' })).id;
    await cloud.console(first, /GUEST ready/);
    volumeId = await create({ name: 'data' });
    expect(servers()).toEqual([]);
    expect(await attach(first, volumeId)).toBe('/dev/vdb');
    expect(servers()).toHaveLength(1);
    expect(await when(first, '[ -b /dev/vdb ]', 'cat /sys/block/vdb/serial /sys/block/vdb/size')).toBe(
      `${serialOf(volumeId)}${GIB_SECTORS}`,
    );
    const line = await cloud.line(first);
    await line.run('mkdir -p /mnt/v; mke2fs /dev/vdb >/dev/null; mount -t ext4 /dev/vdb /mnt/v');
    await line.run('echo one >/mnt/v/note; sync');
  });

  it('stay attached while the program and its storage daemon are restarted', async () => {
    const [server] = servers();
    await cloud.engine.close();
    process.kill(server!, 'SIGKILL');
    const line = await cloud.line(first);
    const written = line.run('echo two >>/mnt/v/note; sync; dd if=/dev/vdb of=/dev/null bs=1M count=8 2>/dev/null');
    await cloud.begin();
    await written;
    expect(servers()).toHaveLength(1);
    expect(servers()).not.toEqual([server]);
    const [again] = servers();
    await cloud.engine.close();
    await cloud.begin();
    expect(servers()).toEqual([again]);
  });

  it('are rejected if the disk of the computer has no space for them', async () => {
    const before = contents();
    await expect(create({ sizeGb: 10_000_000 })).rejects.toThrow(/10000000 GiB is needed, but only \d+ GiB is free/);
    await expect(volumes().extendVolume(ada.caller, volumeId, 10_000_000)).rejects.toThrow(/GiB is free on this host/);
    expect(await volumes().getVolume(ada.caller, volumeId)).toMatchObject({ status: 'in-use', sizeGb: 1 });
    expect(contents()).toEqual(before);
  });

  it('are extended under a running guest', async () => {
    await volumes().extendVolume(ada.caller, volumeId, 2);
    await cloud.settled(first);
    expect(await when(first, `[ $(cat /sys/block/vdb/size) = ${2 * GIB_SECTORS} ]`, 'cat /mnt/v/note')).toBe(
      'one\ntwo',
    );
  });

  it('are copied at one point in time', async () => {
    const line = await cloud.line(first);
    const requested = { key: randomUUID(), volumeId, force: true };
    const snapshot = await volumes().createSnapshot(ada.caller, requested);
    await line.run('echo three >>/mnt/v/note; sync');
    copyId = await create({ snapshotId: snapshot.id, sizeGb: 3 });
    await volumes().deleteSnapshot(ada.caller, snapshot.id);
    expect(contents()).toHaveLength(2);
  });

  it('are swapped under a running guest, which continues writing', async () => {
    const admin = { ...ada.caller, roles: ['admin'], isAdmin: true };
    const newVolumeId = await volumes().beginMigration(admin, volumeId);
    await act().act(ada, first, 'swapVolume', { oldVolumeId: volumeId, newVolumeId });
    await cloud.settled(first);
    expect(await volumes().getVolume(ada.caller, volumeId)).toMatchObject({
      status: 'in-use',
      migrationStatus: 'success',
      attachments: [{ serverId: first }],
    });
    expect(servers()).toHaveLength(1);
    expect(contents()).toHaveLength(2);
    await (await cloud.line(first)).run('echo four >>/mnt/v/note; sync; umount /mnt/v');
  });

  it('are detached from a guest that releases them, and stay attached to one that does not', async () => {
    await cloud.done(first, act().act(ada, first, 'pause'));
    await act().act(ada, first, 'detachVolume', { volumeId });
    await cloud.engine.idle();
    expect(await status(volumeId)).toBe('in-use');
    await act().act(ada, first, 'unpause');
    await cloud.engine.idle();
    await act().act(ada, first, 'detachVolume', { volumeId });
    await cloud.engine.idle();
    await when(first, '[ ! -e /sys/block/vdb ]');
    expect(await status(volumeId)).toBe('available');
    expect(servers()).toEqual([]);
  });

  it('boot a server, and contain what other servers have written', async () => {
    const devices = [
      { source: 'image', destination: 'volume', sourceId: IMAGE, size: 1, bootIndex: 0, deleteOnTermination: true },
      { source: 'volume', destination: 'volume', sourceId: volumeId, bootIndex: -1, tag: 'data' },
      { source: 'volume', destination: 'volume', sourceId: copyId, bootIndex: -1 },
    ] as const;
    const server = await cloud.create({
      name: 'second',
      imageId: undefined,
      devices,
      networks: [{ networkId: NETWORK }],
    });
    second = server.id;
    await cloud.console(second, /GUEST ready/);
    const line = await cloud.line(second);
    const [root, data, copy] = server.blockDevices;
    expect([root, data, copy].map((one) => one!.device)).toEqual(['/dev/vda', '/dev/vdb', '/dev/vdc']);
    const serials = [root, data, copy].map((one) => serialOf(one!.volumeId!));
    expect(await line.run('cat /sys/block/vd[abc]/serial')).toBe(serials.join(''));
    const read = (device: string) =>
      line.run(`mkdir -p /mnt/v; mount -t ext4 ${device} /mnt/v && cat /mnt/v/note; umount /mnt/v`);
    expect(await read('/dev/vdb')).toBe('one\ntwo\nthree\nfour');
    expect(await read('/dev/vdc')).toBe('one\ntwo');
    expect(await line.run('cat /sys/block/vdc/size')).toBe(`${3 * GIB_SECTORS}`);
    const metadata = JSON.parse(await line.run('cat /mnt/config/openstack/latest/meta_data.json'));
    expect(metadata.devices).toMatchObject([{ type: 'disk', serial: volumeId, path: '/dev/vdb', tags: ['data'] }]);
  });

  it('are attached again after a hard reboot', async () => {
    await cloud.done(second, act().act(ada, second, 'rebootHard'));
    await cloud.console(second, /(GUEST ready[\s\S]*){2}/);
    expect(await (await cloud.line(second)).run('wc -l </mnt/disk/boots; cat /sys/block/vdb/serial')).toContain(
      serialOf(volumeId),
    );
  });

  it('are shared by guests if their type allows it', async () => {
    await volumes().createType(ada.caller, { name: 'shared', extraSpecs: { multiattach: '<is> True' } });
    const shared = await create({ volumeType: 'shared' });
    await attach(first, shared);
    await attach(second, shared);
    const there = (device: string) => `[ "$(cat /sys/block/${device}/serial 2>/dev/null)" = ${serialOf(shared)} ]`;
    await when(first, there('vdb'), 'echo from the first | dd of=/dev/vdb conv=fsync 2>/dev/null');
    expect(await when(second, there('vdd'), 'dd if=/dev/vdd bs=14 count=1 2>/dev/null')).toBe('from the first');
  });

  it('are deleted with their server only if requested, and leave no files', async () => {
    const rootId = (await act().get(ada, second)).blockDevices[0]!.volumeId!;
    await act().delete(ada, second);
    await act().delete(ada, first);
    await cloud.engine.idle();
    await expect(volumes().getVolume(ada.caller, rootId)).rejects.toThrow('could not be found');
    expect(servers()).toEqual([]);
    for (const { id } of await volumes().listVolumes(ada.caller)) await volumes().deleteVolume(ada.caller, id);
    expect(contents()).toEqual([]);
    expect(readdirSync(join(cloud.directory, 'qemu', 'volumes'))).toEqual([]);
  });
});
