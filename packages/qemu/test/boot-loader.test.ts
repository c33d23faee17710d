import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { QmpClient } from '../src/qmp/qmp-client.js';
import { missingForBootLoaders } from './guest/boot-disk.js';
import { BOOT_DISK, bootDiskImage, NOTHING, QemuCloud } from './qemu-cloud.js';

const missing = missingForBootLoaders();
if (missing) console.warn(`\n*** SKIPPED: a disk with a boot loader: this machine has no ${missing} ***\n`);

/** Boot loaders read the kernel through the firmware, which is slow without KVM on a busy computer. */
const CONDITION_TIMEOUT_MS = 300_000;

/** Returns the content of a machine's screen in text mode. Each character is followed by its color. */
async function readScreen(qmp: QmpClient): Promise<string> {
  const dump = await qmp.execute<string>('human-monitor-command', { 'command-line': 'xp /4000xb 0xb8000' });
  const bytes = [...dump.matchAll(/ 0x([0-9a-f]{2})/g)].map(([, hex = '']) => Number.parseInt(hex, 16));
  return String.fromCharCode(...bytes.filter((_byte, index) => index % 2 === 0));
}

describe.skipIf(missing)('a small disk with a boot loader', { timeout: 2 * CONDITION_TIMEOUT_MS }, () => {
  let cloud: QemuCloud;
  beforeAll(async () => {
    cloud = await QemuCloud.open({}, {}, { images: bootDiskImage });
  });
  afterAll(() => cloud?.close());

  it('is the only device that firmware boots from, so an empty disk with a config drive boots nothing', async () => {
    const { id } = await cloud.create({ imageId: NOTHING, configDrive: true });
    expect(existsSync(join(cloud.machines, id, 'config.img'))).toBe(true);
    const qmp = await QmpClient.connect(join(cloud.machines, id, 'guard'));
    onTestFinished(() => qmp.close());
    await expect.poll(() => readScreen(qmp), { timeout: CONDITION_TIMEOUT_MS }).toContain('No bootable device.');
  });

  it('boots despite a config drive, which the guest reads', async () => {
    const { id } = await cloud.create({ imageId: BOOT_DISK });
    await cloud.console(id, /LOADER begins[\s\S]*CONFIG \{[\s\S]*GUEST ready/, CONDITION_TIMEOUT_MS);
    const line = await cloud.line(id);
    expect(await line.run('cat /proc/cmdline')).toContain('BOOT_IMAGE=/vmlinuz');
  });
});
