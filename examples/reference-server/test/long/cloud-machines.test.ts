import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { missingForBridges } from '../../../../packages/qemu/test/bridge/missing-for-bridges.js';
import { buildBootDisk, missingForBootLoaders } from '../../../../packages/qemu/test/guest/boot-disk.js';
import { buildGuest, missingForLogins } from '../../../../packages/qemu/test/guest/build-guest.js';
import { processesOf } from '../../../../packages/qemu/test/processes-of.js';
import { findProgram } from '../../../../testing/servers.js';
import { CloudComputer } from './cloud-computer.js';
import { IMAGE_FILE, REMAINING_OUTPUT, workflowCommands } from './workflow-commands.js';

const missing =
  missingForBridges() ??
  missingForLogins() ??
  missingForBootLoaders() ??
  (findProgram('openstack') ? undefined : 'python3-openstackclient');
if (missing) console.warn(`\n*** SKIPPED: a whole cloud with real machines: this machine has no ${missing} ***\n`);

/** Without KVM, a guest boots in half a minute on an idle computer, and takes many times as long on a busy one. */
const POLLING = { timeout: 300_000, interval: 1_000 };
const SSH_OPTIONS = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'BatchMode=yes', 'ConnectTimeout=20'];

describe.skipIf(missing)('a whole cloud with real machines', { timeout: 1_200_000 }, () => {
  const cloud = new CloudComputer();
  const { folder } = cloud;
  const key = join(folder, 'laptop.pem');
  const sshArguments = ['-q', '-i', key, ...SSH_OPTIONS.flatMap((option) => ['-o', option])];
  const shell = (commands: string) => cloud.shell(commands);
  beforeAll(async () => {
    const guest = buildGuest(folder, { logins: true });
    execFileSync('qemu-img', ['convert', '-O', 'qcow2', buildBootDisk(folder, guest), join(folder, IMAGE_FILE)]);
    await cloud.open();
  }, 120_000);
  afterAll(() => cloud.close());

  const openstack = (command: string) => shell(`openstack ${command}`);

  /** Runs a command in the guest over SSH, at the guest's floating IP address and with the key pair from the API. */
  const ssh = (address: string, command: string) => shell(`ssh ${sshArguments.join(' ')} root@${address} '${command}'`);

  /** Opens one SSH connection to the guest. Returns a function that sends a line, and waits until the guest returns it. */
  function openConnection(address: string): (line: string) => Promise<void> {
    const [enter, args] = cloud.computer.enter('ssh', [...sshArguments, `root@${address}`, 'cat']);
    const connection = spawn(enter, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void connection.kill());
    connection.stdin.on('error', () => {});
    let [sent, received] = ['', ''];
    connection.stdout.on('data', (chunk) => {
      received += chunk;
    });
    return async (line) => {
      sent += `${line}\n`;
      connection.stdin.write(`${line}\n`);
      await expect.poll(() => [connection.exitCode, received], POLLING).toEqual([null, sent]);
    };
  }

  /**
   * Returns the path of a volume's disk in the guest. The guest names disks in the order in which it finds them, which
   * differs if the volume is attached while the guest boots: only the serial number identifies a disk.
   */
  async function diskOf(address: string, volumeId: string): Promise<string> {
    const serial = volumeId.slice(0, 20);
    const file = await ssh(address, `grep -l ${serial} /sys/block/*/serial`);
    return `/dev/${file.split('/').at(-2)}`;
  }

  it('needs only the commands of the client, from the upload of an image to ssh, on connections that outlive the program', async () => {
    await shell(`${workflowCommands()}chmod 600 laptop.pem`);
    expect(readFileSync(join(folder, 'copy.qcow2')).equals(readFileSync(join(folder, IMAGE_FILE)))).toBe(true);
    const address = await openstack('floating ip list -f value -c "Floating IP Address"');
    const bootId = () => ssh(address, 'cat /proc/sys/kernel/random/boot_id').catch(() => undefined);
    await expect.poll(bootId, POLLING).toMatch(/^[0-9a-f-]{36}$/);
    const boot = await bootId();
    const data = await diskOf(address, await openstack('volume show data -f value -c id'));
    // If a guest finds the volume first, it formats and mounts it as its own disk.
    await ssh(address, `umount ${data} 2>/dev/null || true`);
    await ssh(address, `mke2fs ${data} && mkdir /data && mount ${data} /data && echo kept >/data/note && sync`);
    await openstack('server image create --wait --name copy one');
    expect(Number(await openstack('image show copy -f value -c size'))).toBeGreaterThan(1_000_000);

    const sendLine = openConnection(address);
    await sendLine('the program runs');
    for (const [signal, code] of [
      ['SIGTERM', 0],
      ['SIGKILL', null],
    ] as const) {
      expect(await cloud.program.end(signal)).toBe(code);
      expect(await bootId(), 'the guest runs on without the program').toBe(boot);
      await sendLine(`the program has ended after ${signal}`);
      await cloud.start();
      await sendLine(`the program has started again after ${signal}`);
    }
    for (const [command, prints] of REMAINING_OUTPUT) expect(await openstack(command), command).toMatch(prints);
    expect(await ssh(address, 'cat /data/note')).toBe('kept');
    expect(await bootId()).toBe(boot);

    await ssh(address, 'umount /data');
    // On a busy machine, the guest may not release the volume in time. The volume then stays attached, and the command
    // is repeated.
    const detached = async () => {
      await openstack('server remove volume one data').catch(() => {});
      await expect.poll(() => openstack('volume show data -f value -c status'), POLLING).toMatch(/available|in-use/);
      return ssh(address, `test ! -b ${data} && echo detached`);
    };
    await expect.poll(detached, POLLING).toBe('detached');
    await openstack('server delete --wait one');
    await openstack(`floating ip delete ${address}`);
    await shell('openstack volume snapshot delete monday && openstack volume delete data');
    await openstack('router remove subnet edge desks');
    await openstack('router delete edge');
    await openstack('network delete blue');
    await openstack('security group delete web');
    await openstack('image delete debian copy');

    await expect.poll(() => processesOf(folder), POLLING).toEqual([]);
    await expect.poll(() => cloud.computer.left(), POLLING).toEqual([]);
    for (const place of ['qemu/machines', 'qemu/volumes', 'qemu/contents', 'cloud.db.images'])
      await expect.poll(() => readdirSync(join(folder, place)), { ...POLLING, message: place }).toEqual([]);
    expect(await cloud.program.end('SIGTERM')).toBe(0);
    expect(cloud.program.output()).not.toContain('"level":50');
  });
});
