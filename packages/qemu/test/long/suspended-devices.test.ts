import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { ada, IMAGE, NETWORK, OLD_IMAGE, Q35_IMAGE, QemuCloud } from '../qemu-cloud.js';

const NIC = { networkId: NETWORK, toExternal: false, resourceRequests: true };

const missing = missingForGuests();
if (missing) console.warn(`\n*** SKIPPED: devices of suspended machines: this machine has no ${missing} ***\n`);

/**
 * Guests with disks on PCI, at PCI Express ports, and on SCSI. Each has the path of a disk's serial number, and its
 * disk names.
 */
const GUESTS = [
  { name: 'virtio', imageId: IMAGE, serials: '/sys/block/vd*/serial' },
  { name: 'q35', imageId: Q35_IMAGE, serials: '/sys/block/vd*/serial' },
  { name: 'scsi', imageId: OLD_IMAGE, serials: '/sys/block/sd*/device/vpd_pg80' },
] as const;

const TITLE = 'suspended machines with devices that were attached while they ran';

describe.skipIf(missing)(TITLE, { timeout: 240_000 }, () => {
  let cloud: QemuCloud;
  const ids: string[] = [];
  beforeAll(async () => {
    cloud = await QemuCloud.open({ shutdownTimeoutMs: 60_000 });
    const created = GUESTS.map(({ name, imageId }) => cloud.create({ name, imageId }));
    for (const server of await Promise.all(created)) ids.push(server.id);
    for (const id of ids) await cloud.console(id, /GUEST ready/, 150_000);
  }, 240_000);
  afterAll(() => cloud?.close());

  const act = () => cloud.engine.servers;
  const volumes = () => cloud.engine.embedded.volumes;
  const run = async (id: string, command: string) => (await cloud.line(id)).run(command);

  async function attach(id: string): Promise<string> {
    const volumeId = (await volumes().createVolume(ada.caller, { key: randomUUID(), sizeGb: 1 })).id;
    await cloud.done(id, act().act(ada, id, 'attachVolume', { volumeId, allowShelved: false, multiattach: false }));
    return volumeId;
  }

  it.each([0, 1, 2])('keeps devices at their former addresses: guest %i', async (index) => {
    const id = ids[index]!;
    const { serials } = GUESTS[index]!;
    /** Waits until the guest has detected a volume, and returns the volume's device. */
    const deviceOf = async (volumeId: string) => {
      const find = `grep -la ${volumeId.slice(0, 20)} ${serials} 2>/dev/null`;
      const wait = `n=0; until ${find} >/tmp-found; do n=$((n + 1)); [ $n -lt 240 ] || break; sleep 0.25; done`;
      const path = await run(id, `${wait}; cat /tmp-found`);
      return `/dev/${path.split('/')[3]}`;
    };
    // Devices are attached in place of a detached one, so that their order differs from the order after a boot.
    const removed = await attach(id);
    const stays = await attach(id);
    const place = await deviceOf(stays);
    await deviceOf(removed);
    await cloud.done(id, act().act(ada, id, 'detachVolume', { volumeId: removed }));
    await cloud.done(id, act().act(ada, id, 'attachInterface', NIC));
    const later = await attach(id);
    const laterDevice = await deviceOf(later);
    await run(
      id,
      `mkdir -p /mnt/v; mke2fs ${place} >/dev/null; mount -t ext4 ${place} /mnt/v; echo before >/mnt/v/note`,
    );
    // Guests look for the config drive on the first SCSI disk, which is a different disk if all disks are on SCSI.
    await run(id, 'for disk in /dev/sd?; do mount -t vfat -o ro $disk /mnt/config 2>/dev/null; done; true');
    const buses = await run(id, 'cat /sys/bus/pci/devices/*/uevent');

    await cloud.done(id, act().act(ada, id, 'suspend'));
    expect(processesOf(join(cloud.machines, id))).toEqual([]);
    await cloud.done(id, act().act(ada, id, 'resume'));

    expect(await run(id, 'cat /sys/bus/pci/devices/*/uevent')).toBe(buses);
    expect(await run(id, 'echo after >>/mnt/v/note; sync; echo 3 >/proc/sys/vm/drop_caches; cat /mnt/v/note')).toBe(
      'before\nafter',
    );
    expect([await deviceOf(stays), await deviceOf(later)]).toEqual([place, laterDevice]);
    const written = `echo kept | dd of=${laterDevice} conv=fsync 2>/dev/null; echo 3 >/proc/sys/vm/drop_caches`;
    expect(await run(id, `${written}; head -c 4 ${laterDevice}`)).toBe('kept');
    // The config drive keeps its content.
    expect(await run(id, 'cat /mnt/config/openstack/latest/meta_data.json')).toContain(id);
    if (index === 0) {
      const [, { mac, fixedIps }] = (await act().get(ada, id)).interfaces as unknown as [unknown, any];
      expect(await run(id, 'cat /sys/class/net/eth1/address')).toBe(mac);
      await run(id, 'ip link set eth1 up; udhcpc -i eth1 -n -q -t 10 -T 2 -s /udhcpc.sh >/dev/null 2>&1');
      expect(await run(id, 'ip -4 -o addr show dev eth1')).toContain(` ${fixedIps[0].address}/16`);
    }
    await run(id, 'umount /mnt/v');
    expect(readdirSync(join(cloud.machines, id)).filter((name) => name.startsWith('memory'))).toEqual([]);
    await cloud.done(id, act().act(ada, id, 'detachVolume', { volumeId: stays }));
    expect((await volumes().getVolume(ada.caller, stays)).status).toBe('available');
  });
});
