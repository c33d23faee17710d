import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCloud, type TestCloud } from '@apistrata/test-cloud';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildGuest, COMMAND_LINE, missingForGuests } from '../../../packages/qemu/test/guest/build-guest.js';
import { processesOf } from '../../../packages/qemu/test/processes-of.js';
import { CommandLines, highestKnownVersion } from '../../../packages/test-cloud/test/e2e/command-lines.js';
import { eventually } from '../../../testing/eventually.js';
import { type Program, startProgram } from './program.js';

const missing = missingForGuests() ?? (highestKnownVersion() === undefined ? 'python3-openstackclient' : undefined);
if (missing) console.warn(`\n*** SKIPPED: the command line with real machines: this machine has no ${missing} ***\n`);

const DAY = join(import.meta.dirname, '../../real-machines/day.sh');

describe.skipIf(missing)('the unmodified command line and real machines', { timeout: 600_000 }, () => {
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
    services.push('--volume-url', `${cloud.url}/volume`);
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

  it('do a whole day: from an image to a server, its console, volume, copy and resize, and leave nothing behind', async () => {
    const guest = buildGuest(folder);
    const disk = join(folder, 'disk');
    writeFileSync(disk, Buffer.alloc(2 ** 20));
    expect(await openstack('hypervisor', 'list', '-f', 'value', '-c', 'Hypervisor Type')).toContain('QEMU');
    const { output, code } = await runScript(DAY, {
      ...cloud.envFor({ user: 'admin' }),
      IMAGE_FILE: disk,
      IMAGE_FORMAT: 'raw',
      KERNEL_FILE: guest.kernel,
      RAMDISK_FILE: guest.ramdisk,
      COMMAND_LINE,
      FLAVOR: 'm1.nano',
      LARGER_FLAVOR: 'm1.tiny',
      READY: 'GUEST ready',
      SAY: 'typed echo $((6 * 7)) times',
      EXPECT: '42 times',
      SAY_VOLUME:
        'typed n=0; until [ -b /dev/vdb ] || [ $n = 60 ]; do n=$((n + 1)); sleep 0.5; done; echo disk $(cat /sys/block/vdb/size)',
      EXPECT_VOLUME: `disk ${2 ** 30 / 512}`,
    });
    expect(code, output).toBe(0);
    const [, address] = /\{'private': \['([\d.]+)/.exec(output) ?? [];
    expect(output).toContain(`ADDRESS eth0`);
    expect(output).toContain(` ${address}/`);
    for (const line of ['42 times', `disk ${2 ** 30 / 512}`, '/dev/vdb', 'm1.tiny', '== all of it went well'])
      expect(output).toContain(line);
    await eventually(() => expect(readdirSync(join(machines, 'machines'))).toEqual([]));
    await expect.poll(() => processesOf(folder)).toEqual([]);
    await expect.poll(() => processesOf(folder, 'qemu-storage-daemon')).toEqual([]);
    expect(await openstack('image', 'list', '-f', 'value', '-c', 'Name')).not.toContain('day-');
  });
});

/** Runs a script of the shell to its end. */
async function runScript(path: string, environment: NodeJS.ProcessEnv) {
  const child = spawn('sh', [path], { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      output += text;
    });
  const [code] = await once(child, 'close');
  return { output, code };
}
