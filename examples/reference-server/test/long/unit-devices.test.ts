import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Systemd } from '../../../../testing/systemd.js';
import { addDropIn, copyUnit, MACHINE_UNITS, poolDropIn } from '../shipped-unit.js';

const missing = Systemd.missingForDevices();
if (missing) console.warn(`\n*** SKIPPED: devices of the systemd units: this machine has no ${missing} ***\n`);

/** Devices with their numbers. If this computer lacks a device, its file is created for the test. */
const DEVICES = {
  '/dev/kvm': 'c 10 232',
  '/dev/net/tun': 'c 10 200',
  '/dev/vhost-net': 'c 10 238',
  '/dev/mapper/control': 'c 10 236',
  // Numbers for experiments: no driver has them.
  '/dev/physical-volume': 'b 60 0',
  '/dev/other-disk': 'b 61 0',
};

/** The devices of machines. */
const MACHINES = ['/dev/kvm', '/dev/net/tun', '/dev/vhost-net'];

describe.skipIf(missing).each(MACHINE_UNITS)('%s', (unit) => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-devices-'));
  let systemd: Systemd;

  beforeAll(async () => {
    copyUnit(unit, folder);
    const command = ['ExecStartPre=', 'ExecStart=', 'ExecStart=/bin/sleep infinity'];
    addDropIn(unit, folder, 'test.conf', ['StateDirectory=', 'WorkingDirectory=/', ...command]);
    systemd = await Systemd.start(folder);
    for (const [file, numbers] of Object.entries(DEVICES))
      await systemd.run('sh', '-ec', `test -e ${file} || { mkdir -p $(dirname ${file}); mknod ${file} ${numbers}; }`);
  }, 60_000);
  afterAll(async () => {
    await systemd?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Returns the devices that a process of the unit can open, as far as the policy decides. */
  async function allowed(): Promise<readonly string[]> {
    const files = Object.keys(DEVICES);
    const attempts = files.map((file) => `(exec 3<>${file}) 2>&1 && echo opened || true`);
    const results = (await systemd.runInUnit(unit, attempts.join('\n'))).split('\n');
    // The kernel checks the policy before it looks for a driver.
    const expected = /opened|No such device|Operation not permitted/;
    expect(results.filter((result) => !expected.test(result))).toEqual([]);
    expect(results).toHaveLength(files.length);
    return files.filter((_, index) => !results[index]!.includes('not permitted'));
  }

  it('lets its processes open the devices of machines, and no disks', async () => {
    await systemd.run('systemctl', 'restart', unit);
    expect(await allowed()).toEqual(MACHINES);
  });

  it('also lets its processes open the devices of a volume pool, with the drop-in for volume pools', async () => {
    addDropIn(unit, folder, 'volume-pool.conf', poolDropIn('/dev/physical-volume'));
    await systemd.run('systemctl', 'daemon-reload');
    await systemd.run('systemctl', 'restart', unit);
    expect(await allowed()).toEqual([...MACHINES, '/dev/mapper/control', '/dev/physical-volume']);
  });
});
