import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCloud, type TestCloud } from '@apistrata/test-cloud';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freeRange } from '../../../../packages/qemu/test/forwarded-port.js';
import {
  buildGuest,
  COMMAND_LINE,
  missingForGuests,
  missingForLogins,
} from '../../../../packages/qemu/test/guest/build-guest.js';
import { processesOf } from '../../../../packages/qemu/test/processes-of.js';
import { CommandLines, highestKnownVersion } from '../../../../packages/test-cloud/test/long/e2e/command-lines.js';
import { CONDITION_TIMEOUT_MS } from '../../../../testing/condition-timeout.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { type Program, startHost, startProgram } from '../program.js';

const missing = missingForGuests() ?? (highestKnownVersion() === undefined ? 'python3-openstackclient' : undefined);
if (missing) console.warn(`\n*** SKIPPED: the command line with real machines: this machine has no ${missing} ***\n`);

const postgresUrl = inject('postgresUrl');
if (!missing && !postgresUrl)
  console.warn('\n*** NO LIVE MIGRATION by the command line: separate host processes need PostgreSQL ***\n');
const missingForSsh = missingForLogins();
if (!missing && missingForSsh)
  console.warn(`\n*** NO LOGIN by the command line: this machine has no ${missingForSsh} ***\n`);

const WORKFLOW = join(import.meta.dirname, '../../../real-machines/workflow.sh');

describe.skipIf(missing)('the unmodified command line and real machines', { timeout: 600_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'ar-'));
  /** The hosts that run machines: two host processes with PostgreSQL, otherwise the program itself. */
  const names = postgresUrl ? ['h1', 'h2'] : ['here'];
  const machinesOf = (name: string) => join(folder, name);
  let cloud: TestCloud;
  let program: Program;
  let hosts: readonly Omit<Program, 'url'>[] = [];
  let sshPort: number;
  let clients: CommandLines;

  /** The test cloud provides images, networks and users; its catalog names the program as the compute service. */
  beforeAll(async () => {
    chmodSync(folder, 0o711);
    cloud = await startCloud();
    const services = ['--auth', 'identity', '--identity-url', cloud.authUrl.replace(/\/v3\/?$/, '')];
    services.push('--image-url', `${cloud.url}/image`, '--network-url', `${cloud.url}/network`);
    services.push('--volume-url', `${cloud.url}/volume`);
    sshPort = await freeRange(1);
    const run = (name: string) => {
      const qemu = ['--driver', 'qemu', '--machine-dir', machinesOf(name), '--acceleration', 'tcg'];
      return [...qemu, '--forward', `${sshPort}:22`];
    };
    const key = { APISTRATA_SECRET_KEY: randomBytes(32).toString('base64') };
    const environment = { OS_USERNAME: 'admin', OS_PASSWORD: 'secret', OS_PROJECT_NAME: 'demo', ...key };
    if (postgresUrl) {
      services.push('--db', await freshDatabase(postgresUrl));
      program = await startProgram([...services, '--driver', 'none'], environment);
      hosts = await Promise.all(
        names.map((name, index) => {
          const own = ['--name', name, '--address', '127.0.0.1', ...(index === 0 ? ['--volumes'] : [])];
          return startHost([...services, ...run(name), ...own], environment);
        }),
      );
    } else program = await startProgram([...services, '--db', ':memory:', ...run('here')], environment);
    clients = new CommandLines();
    await openstack('endpoint', 'list', '--service', 'compute', '-f', 'json').then(async (text) => {
      for (const { ID } of JSON.parse(text)) await openstack('endpoint', 'set', '--url', `${program.url}/v2.1`, ID);
    });
    // A process without machines has the flavors of a large cloud.
    const small = ['--id', '0', '--ram', '192', '--disk', '1', '--vcpus', '1', 'm1.nano'];
    if (postgresUrl) await openstack('flavor', 'create', ...small);
  });
  afterAll(async () => {
    clients?.close();
    await program?.end('SIGTERM');
    for (const host of hosts) await host.end('SIGTERM');
    await cloud?.stop();
    // Machines continue to run after the program ends, so a failed test must remove its machines.
    for (const pid of processesOf(folder)) process.kill(pid, 'SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  async function openstack(...argv: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await clients.run('openstack', argv, cloud.envFor({ user: 'admin' }));
    expect(code, `${argv.join(' ')}\n${stderr}`).toBe(0);
    return stdout;
  }

  it('cover a typical workflow: image, server, console, volume, snapshot and resize, without orphaned resources', async () => {
    const guest = buildGuest(folder, { logins: !missingForSsh });
    const disk = join(folder, 'disk');
    writeFileSync(disk, Buffer.alloc(2 ** 20));
    expect(await openstack('hypervisor', 'list', '-f', 'value', '-c', 'Hypervisor Type')).toContain('QEMU');
    const { output, code } = await runScript(WORKFLOW, {
      ...cloud.envFor({ user: 'admin' }),
      IMAGE_FILE: disk,
      IMAGE_FORMAT: 'raw',
      KERNEL_FILE: guest.kernel,
      RAMDISK_FILE: guest.ramdisk,
      COMMAND_LINE,
      FLAVOR: 'm1.nano',
      LARGER_FLAVOR: 'm1.tiny',
      READY: 'GUEST ready',
      ...(!missingForSsh && { SSH_PORT: `${sshPort}`, SSH_USER: 'root' }),
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
    for (const line of ['42 times', `disk ${2 ** 30 / 512}`, '/dev/vdb', 'm1.tiny', '== all steps succeeded'])
      expect(output).toContain(line);
    if (!missingForSsh) expect(output).toContain('logged in as root');
    if (postgresUrl) expect(output).toMatch(/migrates the running server to another host.*\nACTIVE\n.*42 times/s);
    const left = () => names.flatMap((name) => readdirSync(join(machinesOf(name), 'machines')));
    await expect.poll(left, { timeout: CONDITION_TIMEOUT_MS }).toEqual([]);
    await expect.poll(() => processesOf(folder)).toEqual([]);
    await expect.poll(() => processesOf(folder, 'qemu-storage-daemon')).toEqual([]);
    expect(await openstack('image', 'list', '-f', 'value', '-c', 'Name')).not.toContain('workflow-');
  });
});

/** Runs a shell script and waits until it ends. */
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
