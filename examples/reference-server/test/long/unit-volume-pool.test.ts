import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  missingForThinPoolsInGuests,
  runInGuest,
  THIN_POOL_MODULES,
} from '../../../../packages/qemu/test/guest/computer-guest.js';
import { commandForUnit, Systemd } from '../../../../testing/systemd.js';
import { addDropIn, copyUnit, poolDropIn } from '../shipped-unit.js';

const missing = Systemd.missing() ?? missingForThinPoolsInGuests();
if (missing) console.warn(`\n*** SKIPPED: a volume pool of a systemd unit: this machine has no ${missing} ***\n`);

const UNIT = 'apistrata-machines.service';
const TIMEOUT_MS = 600_000;

/** Commands of the volume backend, and an attempt to open a disk that is not part of the pool. */
const COMMANDS = `
lvm lvcreate --yes --type thin --thinpool volumes --virtualsize 50m --name one vg0
lvm lvcreate --yes --type thin --setactivationskip n --name two vg0/one
dd if=/dev/zero of=/dev/vg0/two bs=1M count=4 conv=notrunc,nocreat
lvm lvremove --yes vg0/one
! dd if=/dev/loop1 count=0
`;

// The kernel of the computer may lack thin pools, but Debian's kernel has them.
it.skipIf(missing)(
  'the unit lets LVM create, copy and remove volumes, with the drop-in for volume pools',
  { timeout: TIMEOUT_MS },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-unit-pool-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const units = join(folder, 'units');
    mkdirSync(units);
    writeFileSync(join(folder, 'commands'), COMMANDS);
    copyUnit(UNIT, units);
    addDropIn(UNIT, units, 'volume-pool.conf', poolDropIn('/dev/loop0'));
    addDropIn(UNIT, units, 'test.conf', [
      'StateDirectory=',
      'WorkingDirectory=/',
      // Without udev, LVM creates the device files itself.
      'DeviceAllow=block-device-mapper m',
      'CapabilityBoundingSet=CAP_MKNOD',
      'Type=oneshot',
      'Restart=no',
      'ExecStartPre=',
      'ExecStart=',
      `ExecStart=/bin/sh -ex ${join(folder, 'commands')}`,
      `StandardOutput=file:${join(folder, 'output')}`,
      'StandardError=inherit',
      '[Unit]',
      'SuccessAction=exit-force',
      'FailureAction=exit-force',
    ]);
    const script = `
mount -t cgroup2 none /sys/fs/cgroup
truncate --size 300M /run/disk0 /run/disk1
for number in 0 1; do losetup /dev/loop$number /run/disk$number; done
lvm vgcreate vg0 /dev/loop0
lvm lvcreate --type thin-pool --size 200m --name volumes vg0
(${commandForUnit(units, UNIT)})
status=$?
echo OUTPUT
cat ${join(folder, 'output')}
exit $status
`;
    const { status, output } = await runInGuest(script, THIN_POOL_MODULES, TIMEOUT_MS - 30_000);
    expect(status, output).toBe(0);
    const [, ofUnit = ''] = output.split(/^OUTPUT$/m);
    // LVM continues with a warning if it cannot lock its memory.
    expect(ofUnit).not.toContain('mlock failed');
    expect(ofUnit).toContain('"one" successfully removed');
    expect(ofUnit).toMatch(/failed to open '\/dev\/loop1': Operation not permitted/);
  },
);
