import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingForGuests } from './guest/build-guest.js';
import { ada, QemuCloud } from './qemu-cloud.js';

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: virtual machines: this machine has no ${missing} ***\n`);

/** Processes whose command line speaks of that folder. */
function processesOf(folder: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
    } catch {
      return false;
    }
  });
}

describe.skipIf(missing)('a virtual machine', { timeout: 240_000 }, () => {
  let cloud: QemuCloud;
  beforeAll(async () => {
    cloud = await QemuCloud.open();
  });
  afterAll(() => cloud.close());

  it('boots with the cores, memory, disk, address and config drive that the API promises', async () => {
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
    const told = JSON.parse(await line.run('cat /mnt/config/openstack/latest/meta_data.json'));
    expect(told).toMatchObject({
      uuid: server.id,
      name: server.name,
      hostname: server.hostname,
      meta: { role: 'web' },
    });
    expect(told.files).toEqual([{ path: '/etc/motd', content_path: '/content/0000' }]);
    expect(await line.run('cat /mnt/config/openstack/content/0000')).toBe('welcome');
    expect(await line.run('cat /mnt/config/openstack/latest/user_data')).toContain('echo hello');
    const network = JSON.parse(await line.run('cat /mnt/config/openstack/latest/network_data.json'));
    expect(network.links).toMatchObject([{ ethernet_mac_address: mac }]);

    await cloud.engine.servers.delete(ada, server.id);
    await cloud.engine.idle();
    expect(processesOf(join(cloud.machines, server.id))).toEqual([]);
    expect(existsSync(join(cloud.machines, server.id))).toBe(false);
  });
});
