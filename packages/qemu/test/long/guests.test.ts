import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { ada, IMAGE, NETWORK, QemuCloud } from '../qemu-cloud.js';

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: virtual machines: this machine has no ${missing} ***\n`);

describe.skipIf(missing)('a virtual machine', { timeout: 240_000 }, () => {
  let cloud: QemuCloud;
  let id: string;
  beforeAll(async () => {
    cloud = await QemuCloud.open();
  });
  afterAll(() => cloud.close());

  it('boots with the cores, memory, disk, address and config drive of the API', async () => {
    const userData = Buffer.from('#!/bin/sh\necho hello').toString('base64');
    const files = [{ path: '/etc/motd', contents: Buffer.from('welcome').toString('base64') }];
    const server = await cloud.create({ name: 'Web "1", $(x)', userData, files, metadata: { role: 'web' } });
    expect(server).toMatchObject({ vmState: 'active', powerState: 1, host: 'here' });
    const console_ = await cloud.console(server.id, /GUEST ready/);
    const [nic] = server.interfaces;
    const { mac, fixedIps } = nic!;
    expect(console_).toContain('CPUS 1 MEMORY');
    expect(console_).toContain(`DISK ${(server.flavor.diskGb * 2 ** 30) / 512}`);
    expect(console_).toContain(`ADDRESS eth0 ${mac} ${fixedIps[0]!.address}/16`);
    const line = await cloud.line(server.id);
    const metadata = JSON.parse(await line.run('cat /mnt/config/openstack/latest/meta_data.json'));
    expect(metadata).toMatchObject({
      uuid: server.id,
      name: server.name,
      hostname: server.hostname,
      meta: { role: 'web' },
    });
    expect(metadata.files).toEqual([{ path: '/etc/motd', content_path: '/content/0000' }]);
    expect(await line.run('cat /mnt/config/openstack/content/0000')).toBe('welcome');
    expect(await line.run('cat /mnt/config/openstack/latest/user_data')).toContain('echo hello');
    const network = JSON.parse(await line.run('cat /mnt/config/openstack/latest/network_data.json'));
    expect(network.links).toMatchObject([{ ethernet_mac_address: mac }]);

    id = server.id;
  });

  const act = () => cloud.engine.servers;
  const folder = () => join(cloud.machines, id);

  it('continues counting after pause and unpause', async () => {
    const line = await cloud.line(id);
    const before = await line.count();
    const paused = await cloud.done(id, act().act(ada, id, 'pause'));
    expect(paused).toMatchObject({ vmState: 'paused', powerState: 3 });
    const diagnostics = await act().diagnostics(paused);
    expect(diagnostics).toMatchObject({ state: 'paused', configDrive: true, memoryMaximumMb: 160 });
    expect(diagnostics.cpus[0]!.timeNs).toBeGreaterThan(0);
    expect(diagnostics.disks).toMatchObject([{ name: 'vda', writeBytes: expect.any(Number) }]);
    expect(diagnostics.disks[0]!.writeBytes).toBeGreaterThan(0);
    await cloud.done(id, act().act(ada, id, 'unpause'));
    expect(await line.count()).toBeGreaterThan(before);
  });

  it('attaches an interface while it runs, with its address, and detaches it again', async () => {
    await act().act(ada, id, 'attachInterface', {
      networkId: NETWORK,
      toExternal: false,
      resourceRequests: true,
    });
    await cloud.engine.idle();
    const { interfaces } = await act().get(ada, id);
    const { mac, fixedIps } = interfaces[1]!;
    const line = await cloud.line(id);
    const wait = (test: string) =>
      `n=0; until ${test}; do n=$((n + 1)); [ $n -lt 60 ] || break; sleep 0.5; done; ${test}`;
    await line.run(wait('[ -e /sys/class/net/eth1 ]'));
    expect(await line.run('cat /sys/class/net/eth1/address')).toBe(mac);
    await line.run('ip link set eth1 up; udhcpc -i eth1 -n -q -t 5 -T 1 -s /udhcpc.sh >/dev/null 2>&1');
    expect(await line.run('ip -4 -o addr show dev eth1')).toContain(` ${fixedIps[0]!.address}/16`);
    await act().act(ada, id, 'detachInterface', { portId: interfaces[1]!.portId });
    await cloud.engine.idle();
    await line.run(wait('[ ! -e /sys/class/net/eth1 ]'));
  });

  it('is adopted by the next engine, and not started twice', async () => {
    const [pid] = processesOf(folder());
    const line = await cloud.line(id);
    const before = await line.count();
    await cloud.engine.close();
    await cloud.begin();
    expect(processesOf(folder())).toEqual([pid]);
    await cloud.done(id, act().act(ada, id, 'pause'));
    await cloud.done(id, act().act(ada, id, 'unpause'));
    expect(processesOf(folder())).toEqual([pid]);
    expect(await line.count()).toBeGreaterThan(before);
  });

  it('is suspended to disk with its memory, and continues counting when it is resumed', async () => {
    const line = await cloud.line(id);
    const before = await line.count();
    expect(await cloud.done(id, act().act(ada, id, 'suspend'))).toMatchObject({ vmState: 'suspended' });
    expect(processesOf(folder())).toEqual([]);
    await cloud.done(id, act().act(ada, id, 'resume'));
    const resumed = await cloud.line(id);
    const after = await resumed.count();
    // The count would start at 1 if the guest had booted again.
    expect(after).toBeGreaterThan(before);
    expect(await resumed.run('cat /mnt/disk/boots | wc -l')).toBe('1');
    expect(existsSync(join(folder(), 'memory.bin'))).toBe(false);
  });

  it('is copied while it runs: a server created from the image has its files', async () => {
    const line = await cloud.line(id);
    await line.run('echo kept >/mnt/disk/note; sync');
    const imageId = await act().act(ada, id, 'createImage', { name: 'copy', metadata: {}, limitMetadata: true });
    await cloud.settled(id);
    const image = await cloud.engine.catalogs.images.get(ada.caller, imageId);
    expect(image).toMatchObject({ status: 'active', diskFormat: 'qcow2' });
    expect(image.sizeBytes).toBeLessThan(2 ** 27);
    await line.run('echo later >/mnt/disk/note; sync');
    const copy = await cloud.create({ name: 'copy', imageId });
    await cloud.console(copy.id, /GUEST ready/);
    expect(await (await cloud.line(copy.id)).run('cat /mnt/disk/note')).toBe('kept');
    await cloud.engine.servers.delete(ada, copy.id);
    await cloud.engine.idle();
  });

  it('has more cores, memory and disk after a resize, which shuts it down by its power button', async () => {
    const resized = await cloud.done(id, act().act(ada, id, 'resize', { flavorId: 'large' }));
    expect(resized).toMatchObject({ vmState: 'resized', powerState: 1 });
    await cloud.console(id, /GUEST ready[\s\S]*GUEST ready/);
    const line = await cloud.line(id);
    expect(await line.run('nproc')).toBe('2');
    expect(Number(await line.run('cat /sys/block/vda/size'))).toBe((2 * 2 ** 30) / 512);
    expect(await line.run('cat /mnt/disk/note')).toBe('later');
    await cloud.done(id, act().act(ada, id, 'confirmResize'));
    expect(existsSync(join(folder(), 'root.before-resize.qcow2'))).toBe(false);
  });

  it('is rescued with its own disk attached, and unrescued', async () => {
    await (await cloud.line(id)).run('umount /mnt/disk; sync');
    await cloud.done(id, act().act(ada, id, 'rescue', { imageId: IMAGE, mayBeVolumeBacked: false }));
    await cloud.console(id, /(GUEST ready[\s\S]*){3}/);
    const line = await cloud.line(id);
    expect(await line.run('mkdir -p /mnt/own; mount -t ext4 /dev/vdb /mnt/own; cat /mnt/own/note')).toBe('later');
    await cloud.done(id, act().act(ada, id, 'unrescue'));
    expect(existsSync(join(folder(), 'rescue.qcow2'))).toBe(false);
  });

  it('has a new disk after a rebuild, and no files or processes remain after its deletion', async () => {
    await cloud.done(id, act().act(ada, id, 'rebuild', { imageId: IMAGE, mayReimage: false }));
    await cloud.console(id, /(GUEST ready[\s\S]*){4}/);
    expect(await (await cloud.line(id)).run('cat /mnt/disk/boots | wc -l; ls -1 /mnt/disk')).toBe(
      '1\nboots\nlost+found',
    );
    await cloud.engine.servers.delete(ada, id);
    await cloud.engine.idle();
    expect(processesOf(cloud.machines)).toEqual([]);
    expect(cloud.folders()).toEqual([]);
  });
});
