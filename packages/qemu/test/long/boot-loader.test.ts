import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingForBootLoaders } from '../guest/boot-disk.js';
import { ada, BOOT_CD, BOOT_DISK, bootImages, QemuCloud } from '../qemu-cloud.js';

const missing = missingForBootLoaders();
if (missing) console.warn(`\n*** SKIPPED: disks with a boot loader: this machine has no ${missing} ***\n`);

/** Boot loaders read the kernel through the firmware, which is slow without KVM on a busy computer. */
const CONDITION_TIMEOUT_MS = 300_000;
/** The output of the disk's boot loader, followed by the output of the guest, which has read its config drive. */
const BOOTED = /LOADER begins[\s\S]*CONFIG \{[\s\S]*GUEST ready/;

describe.skipIf(missing)('a disk with a boot loader', { timeout: 2 * CONDITION_TIMEOUT_MS }, () => {
  let cloud: QemuCloud;
  beforeAll(async () => {
    cloud = await QemuCloud.open({}, {}, { images: bootImages });
  });
  afterAll(() => cloud.close());

  const act = () => cloud.engine.servers;

  async function removed(id: string): Promise<void> {
    await act().delete(ada, id);
    await cloud.engine.idle();
  }

  let id: string;

  it('boots despite a config drive', async () => {
    id = (await cloud.create({ imageId: BOOT_DISK })).id;
    await cloud.console(id, BOOTED, CONDITION_TIMEOUT_MS);
    const line = await cloud.line(id);
    expect(await line.run('cat /proc/cmdline')).toContain('BOOT_IMAGE=/vmlinuz');
    await line.run('echo own >/mnt/disk/note; umount /mnt/disk; sync');
  });

  it('boots as a rescue image, before the disk of the server', async () => {
    await cloud.done(id, act().act(ada, id, 'rescue', { imageId: BOOT_DISK, mayBeVolumeBacked: false }));
    await cloud.console(id, new RegExp(`${BOOTED.source}[\\s\\S]*${BOOTED.source}`), CONDITION_TIMEOUT_MS);
    const line = await cloud.line(id);
    const own = 'mkdir -p /mnt/own; mount -t ext4 /dev/vdb1 /mnt/own; cat /mnt/own/note; ls /mnt/disk';
    expect(await line.run(own)).toMatch(/^own\n(?!.*note)/s);
    await removed(id);
  });

  it('boots as a CD, which has no root disk, and also as a rescue image', async () => {
    id = (await cloud.create({ imageId: BOOT_CD })).id;
    await cloud.console(id, BOOTED, CONDITION_TIMEOUT_MS);
    const line = await cloud.line(id);
    expect(await line.run('ls /sys/block')).not.toContain('vda');
    await cloud.done(id, act().act(ada, id, 'rescue', { imageId: BOOT_CD, mayBeVolumeBacked: false }));
    await cloud.console(id, new RegExp(`${BOOTED.source}[\\s\\S]*${BOOTED.source}`), CONDITION_TIMEOUT_MS);
    await cloud.done(id, act().act(ada, id, 'unrescue'));
    await removed(id);
  });

  it('boots from a volume, before other volumes', async () => {
    const volumes = cloud.engine.embedded.volumes;
    const data = await volumes.createVolume(ada.caller, { key: randomUUID(), sizeGb: 1 });
    const devices = [
      { source: 'image', destination: 'volume', sourceId: BOOT_DISK, size: 1, bootIndex: 0, deleteOnTermination: true },
      { source: 'volume', destination: 'volume', sourceId: data.id, bootIndex: -1 },
    ] as const;
    id = (await cloud.create({ imageId: undefined, devices })).id;
    await cloud.console(id, /LOADER begins[\s\S]*GUEST begins/, CONDITION_TIMEOUT_MS);
    await removed(id);
  });
});
