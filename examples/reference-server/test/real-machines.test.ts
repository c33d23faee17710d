import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCloud, type TestCloud } from '@apistrata/test-cloud';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildGuest, missingForGuests } from '../../../packages/qemu/test/guest/build-guest.js';
import { processesOf } from '../../../packages/qemu/test/processes-of.js';
import { CommandLines, highestKnownVersion } from '../../../packages/test-cloud/test/e2e/command-lines.js';
import { ask, type Program, startProgram } from './program.js';

const missing = missingForGuests() ?? (highestKnownVersion() === undefined ? 'python3-openstackclient' : undefined);
if (missing) console.warn(`\n*** SKIPPED: the command line with real machines: this machine has no ${missing} ***\n`);

describe.skipIf(missing)('the unmodified command line and real machines', { timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'ar-'));
  const machines = join(folder, 'qemu');
  let cloud: TestCloud;
  let program: Program;
  let clients: CommandLines;

  /** Images, networks and users are those of the cloud; its catalog says that compute is the program. */
  beforeAll(async () => {
    chmodSync(folder, 0o711);
    cloud = await startCloud();
    const services = ['--auth', 'identity', '--identity-url', cloud.authUrl.replace(/\/v3\/?$/, '')];
    services.push('--image-url', `${cloud.url}/image`, '--network-url', `${cloud.url}/network`);
    program = await startProgram(
      [...services, '--db', ':memory:', '--driver', 'qemu', '--machine-dir', machines, '--acceleration', 'tcg'],
      { OS_USERNAME: 'admin', OS_PASSWORD: 'secret', OS_PROJECT_NAME: 'demo' },
    );
    clients = new CommandLines();
    await openstack('endpoint', 'list', '--service', 'compute', '-f', 'json').then(async (text) => {
      for (const { ID } of JSON.parse(text)) await openstack('endpoint', 'set', '--url', `${program.url}/v2.1`, ID);
    });
  });
  afterAll(async () => {
    clients?.close();
    await program?.end('SIGTERM');
    await cloud?.stop();
    // Machines outlive the program: one that a failed test has left must not outlive the test.
    for (const pid of processesOf(folder)) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  async function openstack(...argv: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await clients.run('openstack', argv, cloud.envFor({ user: 'admin' }));
    expect(code, `${argv.join(' ')}\n${stderr}`).toBe(0);
    return stdout;
  }

  async function upload(name: string, format: string, file: string, ...more: readonly string[]): Promise<string> {
    const kind = format === 'raw' ? 'bare' : format;
    const formats = ['--disk-format', format, '--container-format', kind, '--file', file];
    return (await openstack('image', 'create', name, ...formats, ...more, '-f', 'value', '-c', 'id')).trim();
  }

  it('uploads images, boots a server, reads what its guest prints, and leaves nothing behind', async () => {
    const guest = buildGuest(folder);
    const disk = join(folder, 'disk');
    writeFileSync(disk, Buffer.alloc(2 ** 20));
    const kernel = await upload('kernel', 'aki', guest.kernel);
    const ramdisk = await upload('ramdisk', 'ari', guest.ramdisk);
    const properties = { kernel_id: kernel, ramdisk_id: ramdisk, os_command_line: 'console=ttyS0 quiet' };
    const set = Object.entries(properties).flatMap(([name, value]) => ['--property', `${name}=${value}`]);
    const image = await upload('guest', 'raw', disk, ...set);

    const [network] = JSON.parse(await openstack('network', 'list', '--internal', '-f', 'json'));
    const where = ['--flavor', 'm1.nano', '--image', image, '--nic', `net-id=${network.ID}`, '--wait'];
    const server = JSON.parse(await openstack('server', 'create', 'web', ...where, '-f', 'json'));
    expect(server.status).toBe('ACTIVE');
    expect(processesOf(join(machines, 'machines', server.id))).toHaveLength(1);
    await vi.waitFor(async () => expect(await openstack('console', 'log', 'show', 'web')).toContain('GUEST ready'), {
      timeout: 120_000,
      interval: 1_000,
    });
    const { body } = await ask(program.url, 'GET', `/v2.1/servers/${server.id}`, { token: cloud.token('admin') });
    const [[{ addr }]] = Object.values(body.server.addresses) as [[{ addr: string }]];
    expect(await openstack('console', 'log', 'show', 'web')).toContain(` ${addr}/`);
    expect(await openstack('hypervisor', 'list', '-f', 'value', '-c', 'Hypervisor Type')).toContain('QEMU');

    await openstack('server', 'delete', '--wait', 'web');
    await vi.waitFor(() => expect(existsSync(join(machines, 'machines', server.id))).toBe(false), { timeout: 20_000 });
    expect(processesOf(machines)).toEqual([]);
  });
});
