import { execFile, execFileSync } from 'node:child_process';
import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freeRange } from '../forwarded-port.js';
import { buildDebianDisk, missingForDebian } from '../guest/debian-disk.js';
import { ada, QemuCloud } from '../qemu-cloud.js';

const missing = missingForDebian();
if (missing) console.warn(`\n*** SKIPPED: a real Debian: this machine has no ${missing} ***\n`);

const DEBIAN = 'dddddddd-dddd-4ddd-8ddd-dddddddddddd';
const MEGABYTES = 800;
/** Without KVM, Debian boots in a minute on an idle computer, but takes many times as long on a busy one. */
const PATIENCE = { timeout: 1_200_000, interval: 2_000 };

const run = promisify(execFile);

/** User data as it is commonly used with Debian's cloud images. */
const USER_DATA = `#cloud-config
locale: C.UTF-8
write_files:
  - path: /etc/motd
    content: written by user data
runcmd:
  - [sh, -c, 'echo USER DATA ran >/dev/console']
`;

describe.skipIf(missing)('a real Debian with cloud-init', { timeout: PATIENCE.timeout }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-debian-'));
  const key = join(folder, 'key');
  let cloud: QemuCloud | undefined;
  let id: string;
  let port: number;

  beforeAll(async () => {
    const disk = buildDebianDisk(folder, MEGABYTES);
    if (!disk) return console.warn('\n*** SKIPPED: a real Debian: its packages cannot be reached ***\n');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    port = await freeRange(10);
    const images = () => [
      { id: DEBIAN, name: 'debian', diskFormat: 'qcow2' as const, content: () => createReadStream(disk) },
    ];
    cloud = await QemuCloud.open({ forward: [`${port}-${port + 9}:22`] }, {}, { images });
    const publicKey = readFileSync(`${key}.pub`, 'utf8');
    await cloud.engine.keypairs.create(ada, { userId: 'ada', name: 'key', type: 'ssh', publicKey });
    const userData = Buffer.from(USER_DATA).toString('base64');
    const fields = { name: 'web-1', imageId: DEBIAN, flavorId: 'large-memory', keyName: 'key', userData };
    id = (await cloud.create(fields)).id;
  }, PATIENCE.timeout);
  afterAll(async () => {
    await cloud?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a command in the guest as the image's default user, who logs in with the server's key. */
  async function ssh(command: string): Promise<string> {
    const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'BatchMode=yes', 'ConnectTimeout=20'];
    const args = ['-q', '-i', key, '-p', String(port), ...options.flatMap((option) => ['-o', option])];
    const { stdout } = await run('ssh', [...args, 'debian@127.0.0.1', command]);
    return stdout.trim();
  }

  const state = async () => {
    const { vmState, powerState } = await cloud!.engine.servers.get(ada, id);
    return { vmState, powerState };
  };

  it('boots from its disk, and accepts the key of the server', async (context) => {
    if (!cloud) return context.skip('the packages of Debian cannot be reached');
    await cloud.console(id, /USER DATA ran/, PATIENCE.timeout);
    await expect.poll(() => ssh('id -un').catch(() => undefined), PATIENCE).toBe('debian');
  });

  it('applies the settings of the API: name, user data, disk size and address', async (context) => {
    if (!cloud) return context.skip('the packages of Debian cannot be reached');
    expect(await ssh('cloud-init status --wait --long || true; cat /run/cloud-init/result.json')).toContain(
      'status: done',
    );
    expect(await ssh('hostname')).toBe('web-1');
    expect(await ssh('cat /etc/motd')).toBe('written by user data');
    expect(await ssh('sudo cloud-init query instance_id')).toBe(id);
    // The flavor's disk is larger than the image's disk.
    expect(Number(await ssh("df --block-size=M --output=size / | tail -n 1 | tr -d ' M'"))).toBeGreaterThan(900);
    const server = await cloud.engine.servers.get(ada, id);
    const address = server.interfaces[0]?.fixedIps[0]?.address;
    expect(await ssh('ip -4 -oneline address show scope global')).toContain(` ${address}/16 `);
  });

  it('reboots as the same machine', async (context) => {
    if (!cloud) return context.skip('the packages of Debian cannot be reached');
    const before = await ssh('cat /proc/sys/kernel/random/boot_id; echo kept >note');
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'rebootSoft'));
    const again = () => ssh('cat /proc/sys/kernel/random/boot_id').catch(() => before);
    await expect.poll(again, PATIENCE).not.toBe(before);
    expect(await ssh('cat note')).toBe('kept');
  });

  it('is SHUTOFF after the guest powers off', async (context) => {
    if (!cloud) return context.skip('the packages of Debian cannot be reached');
    await ssh('sudo systemctl poweroff').catch(() => undefined);
    await expect.poll(state, PATIENCE).toEqual({ vmState: 'stopped', powerState: 4 });
  });
});
