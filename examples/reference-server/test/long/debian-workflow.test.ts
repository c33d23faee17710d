import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingForBridges } from '../../../../packages/qemu/test/bridge/missing-for-bridges.js';
import { buildDebianDisk, missingForDebian } from '../../../../packages/qemu/test/guest/debian-disk.js';
import { findProgram } from '../../../../testing/servers.js';
import { CloudComputer } from './cloud-computer.js';
import { IMAGE_FILE, loginCommands, workflowCommands } from './workflow-commands.js';

/** The release of the image that the page uses. */
const RELEASE = 'trixie';
const MEGABYTES = 900;
const missing =
  missingForBridges() ??
  missingForDebian(RELEASE) ??
  (findProgram('openstack') ? undefined : 'python3-openstackclient');
if (missing) console.warn(`\n*** SKIPPED: the workflow with a real Debian: this machine has no ${missing} ***\n`);

/** Without KVM, Debian boots in a minute on an idle computer, but takes many times as long on a busy one. */
const PATIENCE = { timeout: 1_200_000, interval: 2_000 };

/** A client that does not ask for the confirmation of unknown host keys. */
const SSH = `#!/bin/sh
exec /usr/bin/ssh -q -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=20 "$@"
`;

describe.skipIf(missing)('the complete workflow with a real Debian', { timeout: PATIENCE.timeout }, () => {
  const cloud = new CloudComputer();
  let hasDisk = false;

  beforeAll(async () => {
    const disk = buildDebianDisk(cloud.folder, MEGABYTES, RELEASE);
    if (!disk) return console.warn('\n*** SKIPPED: a real Debian: its packages cannot be reached ***\n');
    hasDisk = true;
    renameSync(disk, join(cloud.folder, IMAGE_FILE));
    writeFileSync(join(cloud.folder, 'ssh'), SSH, { mode: 0o755 });
    await cloud.open();
  }, PATIENCE.timeout);
  afterAll(() => cloud.close());

  it('leads from the upload of the image to a login at the floating IP address', async (context) => {
    if (!hasDisk) return context.skip('the packages of Debian cannot be reached');
    await cloud.shell(workflowCommands());
    const address = await cloud.shell('openstack floating ip list -f value -c "Floating IP Address"');
    /** Runs commands in the login shell that the page's last command starts. */
    const inGuest = (commands: string) =>
      cloud.shell(`PATH=$PWD:$PATH ADDRESS=${address}\n(${loginCommands()}) <<'END'\n${commands}\nEND`);
    await expect.poll(() => inGuest('id -un').catch(() => undefined), PATIENCE).toContain('debian');
    expect(await inGuest('cloud-init status --wait; cat /etc/debian_version /etc/hostname')).toMatch(
      /status: done\s+13\.\d+\s+one$/,
    );
    const volume = await cloud.shell('openstack volume show data -f value -c id');
    expect(await inGuest('lsblk --nodeps --noheadings --output SERIAL')).toContain(volume.slice(0, 20));
    // The flavor's disk is larger than the image's disk.
    const bytes = await inGuest('df --block-size=1 --output=size / | tail -n 1');
    expect(Number(bytes.split('\n').at(-1))).toBeGreaterThan(19 * 2 ** 30);
    expect(cloud.program.output()).not.toContain('"level":50');
  });
});
