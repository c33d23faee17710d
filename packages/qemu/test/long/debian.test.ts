import { execFile, execFileSync } from 'node:child_process';
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freeRange } from '../forwarded-port.js';
import { buildDebianDisk, missingForDebian } from '../guest/debian-disk.js';
import { ada, NETWORK, QemuCloud } from '../qemu-cloud.js';

const missing = missingForDebian();
if (missing) console.warn(`\n*** SKIPPED: a real Debian: this machine has no ${missing} ***\n`);

const DEBIAN = 'dddddddd-dddd-4ddd-8ddd-dddddddddddd';
const MEGABYTES = 800;
/** Without KVM, Debian boots in a minute on an idle computer, but takes many times as long on a busy one. */
const PATIENCE = { timeout: 1_200_000, interval: 2_000 };

const run = promisify(execFile);

const PAGE = join(import.meta.dirname, '../../../../docs/a-real-cloud.md');

/** The user data from the page, which sets the password, and settings that are common with Debian's cloud images. */
const USER_DATA = `${/```yaml\n(## template: jinja\n[^`]*)```/.exec(readFileSync(PAGE, 'utf8'))?.[1]}
locale: C.UTF-8
write_files:
  - path: /etc/motd
    content: written by user data
runcmd:
  - [sh, -c, 'echo USER DATA ran >/dev/console']
`;

const SECRET = `n"w 's\u00e9cret' $(x)\\`;

/** The image declares the agent, requires it for copies, and names the user whose password it changes. */
const PROPERTIES = { hw_qemu_guest_agent: 'yes', os_require_quiesce: 'yes', os_admin_user: 'debian' };

/** The settings of a subnet without DHCP, which a guest can read only on its config drive. */
const SUBNET = {
  cidr: '10.99.0.0/24',
  gatewayIp: null,
  enableDhcp: false,
  dnsNameservers: ['192.0.2.53'],
  hostRoutes: [{ destination: '198.51.100.0/24', nexthop: '10.99.0.9' }],
};
/** The size of a file that the guest deletes before its disk is copied. */
const DELETED_MEGABYTES = 256;

describe.skipIf(missing)('a real Debian with cloud-init', { timeout: PATIENCE.timeout }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-debian-'));
  const key = join(folder, 'key');
  const askPassword = join(folder, 'ask-password');
  let cloud: QemuCloud | undefined;
  let id: string;
  let port: number;
  let adminPassword: string;

  beforeAll(async () => {
    const disk = buildDebianDisk(folder, MEGABYTES);
    if (!disk) return console.warn('\n*** SKIPPED: a real Debian: its packages cannot be reached ***\n');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    port = await freeRange(10);
    const images = () => [
      {
        id: DEBIAN,
        name: 'debian',
        diskFormat: 'qcow2' as const,
        content: () => createReadStream(disk),
        properties: PROPERTIES,
      },
    ];
    cloud = await QemuCloud.open({ forward: [`${port}-${port + 9}:22`] }, {}, { images });
    const publicKey = readFileSync(`${key}.pub`, 'utf8');
    await cloud.engine.keypairs.create(ada, { userId: 'ada', name: 'key', type: 'ssh', publicKey });
    const userData = Buffer.from(USER_DATA).toString('base64');
    const { networks } = cloud.engine.embedded;
    const { id: fixed } = await networks.createNetwork(ada.caller, { name: 'fixed' });
    await networks.createSubnet(ada.caller, { networkId: fixed, ...SUBNET });
    const created = await cloud.engine.servers.create(ada, {
      name: 'web-1',
      imageId: DEBIAN,
      flavorId: 'large-memory',
      keyName: 'key',
      userData,
      networks: [{ networkId: NETWORK }, { networkId: fixed }],
    });
    ({ adminPassword } = created);
    id = created.servers[0]!.id;
    await cloud.settled(id);
    writeFileSync(askPassword, '#!/bin/sh\nprintf "%s\\n" "$PASSWORD"\n', { mode: 0o700 });
  }, PATIENCE.timeout);
  afterAll(async () => {
    await cloud?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a command in the guest as the image's default user. */
  async function login(command: string, authentication: readonly string[], environment = {}): Promise<string> {
    const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'ConnectTimeout=20'];
    const args = ['-p', String(port), ...[...options, ...authentication].flatMap((option) => ['-o', option])];
    const env = { ...process.env, ...environment };
    const { stdout } = await run('ssh', [...args, 'debian@127.0.0.1', command], { env });
    return stdout.trim();
  }

  /** Runs a command in the guest after a login with the server's key. */
  const ssh = (command: string) => login(command, ['BatchMode=yes', `IdentityFile=${key}`]);

  /** Returns the name of the user who logs in with a password. */
  const userWith = (password: string) =>
    login('id -un', ['PubkeyAuthentication=no', 'PreferredAuthentications=password', 'NumberOfPasswordPrompts=1'], {
      SSH_ASKPASS: askPassword,
      SSH_ASKPASS_REQUIRE: 'force',
      PASSWORD: password,
    });

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

  it('configures an interface without DHCP from the config drive: address, route and resolver', async (context) => {
    if (!cloud) return context.skip('the packages of Debian cannot be reached');
    const server = await cloud.engine.servers.get(ada, id);
    const address = server.interfaces[1]?.fixedIps[0]?.address;
    const addresses = (await ssh('ip -4 -oneline address show scope global')).split('\n');
    const withAddress = addresses.filter((line) => line.includes(` ${address}/24 `));
    expect(withAddress).toHaveLength(1);
    expect(withAddress[0], 'the address is not from a DHCP server').not.toContain('dynamic');
    expect(await ssh('ip route show 198.51.100.0/24')).toMatch(/^198\.51\.100\.0\/24 via 10\.99\.0\.9 /);
    expect(await ssh('cat /etc/systemd/network/*.network')).toContain('DNS=192.0.2.53');
  });

  it('accepts the password of the create response, which the user data sets', async (context) => {
    if (!cloud) return context.skip('the packages of Debian cannot be reached');
    expect(await userWith(adminPassword)).toBe('debian');
    await expect(userWith(`${adminPassword}x`)).rejects.toThrow('Permission denied');
  });

  it('accepts a password that the API sets through the agent', async (context) => {
    if (!cloud) return context.skip('the packages of Debian cannot be reached');
    await cloud.done(id, cloud.engine.servers.act(ada, id, 'changePassword', { adminPassword: SECRET }));
    expect(await userWith(SECRET)).toBe('debian');
    await expect(userWith(adminPassword)).rejects.toThrow('Permission denied');
  });

  it('is copied with frozen file systems and without deleted files', async (context) => {
    if (!cloud) return context.skip('the packages of Debian cannot be reached');
    await ssh(`dd if=/dev/urandom of=large bs=1M count=${DELETED_MEGABYTES} status=none; sync; rm large; sync`);
    const usedMegabytes = Number(await ssh("df --block-size=M --output=used / | tail -n 1 | tr -d ' M'"));
    // The image requires a freeze, so the copy would fail without one.
    const imageId = await cloud.engine.servers.act(ada, id, 'createImage', { name: 'copy', limitMetadata: true });
    await cloud.settled(id);
    const { status, sizeBytes } = await cloud.engine.catalogs.images.get(ada.caller, imageId);
    expect(status).toBe('active');
    expect(sizeBytes! / 2 ** 20).toBeLessThan(usedMegabytes + DELETED_MEGABYTES / 2);
    expect(await ssh('sudo journalctl --boot --grep "fsfreeze|fstrim" --output cat')).toMatch(/fsfreeze/);
    expect(await ssh('echo thawed >note; sync; cat note')).toBe('thawed');
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
