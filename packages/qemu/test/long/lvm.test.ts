import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findInstalledProgram } from '../../src/programs/find-program.js';
import { missingForComputerGuests, runInGuest } from '../guest/computer-guest.js';

const root = join(import.meta.dirname, '../../../..');
const missing =
  missingForComputerGuests() ??
  (findInstalledProgram('lvm') ? undefined : 'LVM (lvm2)') ??
  (existsSync('/usr/sbin/thin_check') ? undefined : 'thin_check (thin-provisioning-tools)');
if (missing)
  console.warn(`\n*** SKIPPED: volumes of an LVM thin pool in a guest: this machine has no ${missing} ***\n`);

const MODULES = ['libcrc32c', 'dm-mod', 'dm-bufio', 'dm-persistent-data', 'dm-bio-prison', 'dm-thin-pool', 'loop'];
const TIMEOUT_MS = 600_000;

/** There is no udev in the guest, so LVM creates the device files itself. */
const LVM_SETTINGS = `activation { udev_sync = 0 udev_rules = 0 monitoring = 0 }
devices { obtain_device_list_from_udev = 0 external_device_info_source = "none" }`;

// The kernel of the computer may lack thin pools, but Debian's kernel has them.
it.skipIf(missing)(
  'volumes of an LVM thin pool pass the conformance tests in a guest',
  { timeout: TIMEOUT_MS },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'apistrata-lvm-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const vitest = `${process.execPath} ${join(root, 'node_modules/vitest/vitest.mjs')} run --root ${root}`;
    const script = `export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp NO_COLOR=1
cat >/etc/lvm/lvmlocal.conf <<END
${LVM_SETTINGS}
END
cd ${root} && ${vitest} --config ${join(import.meta.dirname, '../guest/in-guest.config.ts')} -t 'LVM thin pool' --reporter verbose >/run/output 2>&1
status=$?
cat /run/output
exit $status
`;
    const { status, output } = await runInGuest(folder, script, MODULES, TIMEOUT_MS - 30_000);
    expect(status, output).toBe(0);
    expect(output).not.toContain('SKIPPED');
    expect(output.match(/✓ .*LVM thin pool > /g), output).toHaveLength(9);
  },
);
