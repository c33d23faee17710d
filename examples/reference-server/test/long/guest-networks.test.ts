import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { Computer } from '../../../../packages/qemu/test/bridge/computer.js';
import { missingForBridges } from '../../../../packages/qemu/test/bridge/missing-for-bridges.js';
import { dataFrom, freeRange } from '../../../../packages/qemu/test/forwarded-port.js';
import { buildGuest, missingForGuests } from '../../../../packages/qemu/test/guest/build-guest.js';
import { GuestLine } from '../../../../packages/qemu/test/guest/guest-line.js';
import { processesOf } from '../../../../packages/qemu/test/processes-of.js';
import { guestPreset, IMAGE, machineDirectory, NETWORK } from '../../../../packages/qemu/test/qemu-cloud.js';
import { eventually } from '../../../../testing/eventually.js';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { type Program, runProgram, sendRequest, startProgram, type WrapCommand } from '../program.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests();
const missingBridges = missing ?? missingForBridges();
if (missingBridges)
  console.warn(`\n*** SKIPPED: options for networks of guests: this machine has no ${missingBridges} ***\n`);

const folder = machineDirectory();
const machines = join(folder, 'qemu');
const database = join(folder, 'cloud.db');
const options = ['--db', database, '--driver', 'qemu', '--machine-dir', machines, '--acceleration', 'tcg'];
const UNREACHABLE = 'http://127.0.0.1:9';
const BRIDGE = ['--network-mode', 'bridge'];
const outside = { id: '99999999-9999-4999-8999-999999999999', name: 'outside', external: true };

/** The address of another computer, which guests reach through their router. */
const PEER = '198.51.100.2';
/** The amount of traffic that a test generates. */
const KIB = 512;

/** Creates resources that users need: bootable images, flavors and networks. */
async function seed(): Promise<void> {
  const preset = guestPreset(buildGuest(folder));
  const networks = [...(preset.networks ?? []), { ...outside, subnets: [{ cidr: '203.0.113.0/24' }] }];
  const engine = await createEngine({ database, worker: false, preset: { ...preset, networks, hosts: [] } });
  await engine.close();
}

function pathOfProgram(program: string): string {
  const all = (process.env.PATH ?? '').split(':').map((path) => join(path, program));
  return all.find((path) => existsSync(path))!;
}

async function booted(id: string): Promise<GuestLine> {
  await eventually(
    () => expect(readFileSync(join(machines, 'machines', id, 'console.log'), 'utf8')).toContain('GUEST ready'),
    { timeout: 150_000, interval: 300 },
  );
  const line = await GuestLine.open(join(machines, 'machines', id, 'serial'));
  onTestFinished(() => line.close());
  return line;
}

beforeAll(async () => {
  if (!missing) await seed();
}, 60_000);
afterAll(() => {
  // Machines and networks continue to exist after the program ends, so a failed test must remove them.
  for (const name of ['qemu-system', 'dnsmasq'])
    for (const pid of processesOf(folder, name)) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const expected = { name: 'web', flavorRef: 'small', imageRef: IMAGE, networks: [{ uuid: NETWORK }] };

describe.skipIf(missing)('--forward', { timeout: 300_000 }, () => {
  it('forwards a port of this computer to a guest', async () => {
    const port = await freeRange(1);
    const program = await startProgram([...options, '--forward', `web:${port}:80`]);
    onTestFinished(() => void program.end('SIGKILL'));
    const { body } = await sendRequest(program.url, 'POST', '/v2.1/servers', { body: { server: expected } });
    const { id } = body.server;
    const line = await booted(id);
    expect(program.output()).toContain(`127.0.0.1:${port} forwards to port 80/tcp of web (${id})`);
    await line.run('(while :; do echo hello | nc -l -p 80; done) >/dev/null 2>&1 &');
    await eventually(async () => expect(await dataFrom(port)).toBe('hello'));
    await sendRequest(program.url, 'DELETE', `/v2.1/servers/${id}`);
    await eventually(() => expect(processesOf(folder)).toEqual([]));
    await program.end('SIGTERM');
  });

  it.each([
    [['--forward', '80:80'], "--driver qemu: forward: '80:80' has invalid host ports: use 1024 to 65535"],
    [
      ['--forward', 'nonsense'],
      "--driver qemu: forward: 'nonsense' is not [NAME:]HOSTPORT[-LAST]:GUESTPORT[/udp], such as 2222:22",
    ],
    [
      ['--forward', '2222:22', '--forward-address', 'here'],
      "forwardAddress must be an IPv4 address of this computer, not 'here'",
    ],
    [['--forward', '2222:22', ...BRIDGE], 'forward works only with the network mode user'],
  ])('rejects invalid values: %j', async (more, sentence) => {
    const { code, output } = await runProgram([...options, ...more]);
    expect(output).toContain(sentence);
    expect(code).toBe(1);
  });
});

describe.skipIf(missingBridges)('--network-mode bridge', { timeout: 300_000 }, () => {
  let computer: Computer;
  beforeAll(async () => {
    computer = await Computer.open();
  }, 60_000);
  afterAll(() => computer?.close());

  const wget = (...given: readonly string[]) => computer.outputOf('busybox', 'wget', '-q', '-O', '-', ...given);

  async function postTo({ url }: Program, path: string, body: object): Promise<any> {
    const header = ['--header', 'X-Auth-Token: ada:demo', '--header', 'Content-Type: application/json'];
    const response = await wget(...header, '--post-data', JSON.stringify(body), `${url}/v2.1${path}`);
    return JSON.parse(response || '{}');
  }

  /** Connects this computer to another one. */
  function connectPeer(): void {
    for (const command of [
      'netns add peer',
      'link add wan0 type veth peer name wan1 netns peer',
      'address add 198.51.100.1/24 dev wan0',
      'link set wan0 up',
      `-netns peer address add ${PEER}/24 dev wan1`,
      '-netns peer link set wan1 up',
    ])
      computer.inside('ip', ...command.split(' '));
  }

  /** Runs a program on the other computer for each TCP connection to a port. */
  function serve(port: number, ...program: readonly string[]): void {
    const args = ['netns', 'exec', 'peer', 'busybox', 'nc', '-ll', '-p', String(port), '-e', ...program];
    const server = spawn(...computer.enter('ip', args), { stdio: 'ignore' });
    onTestFinished(() => void server.kill());
  }

  it('forwards floating IPs to guests according to their security groups, even while the server is stopped', async () => {
    let program = await startProgram([...options, ...BRIDGE], {}, computer.enter);
    onTestFinished(() => void program.end('SIGKILL'));
    const post = (path: string, body: object) => postTo(program, path, body);
    const { server } = await post('/servers', { server: expected });
    const line = await booted(server.id);
    await line.run('(while :; do echo hello | nc -l -p 80; done) >/dev/null 2>&1 &');
    const { floating_ip: floating } = await post('/os-floating-ips', { pool: outside.name });
    await post(`/servers/${server.id}/action`, { addFloatingIp: { address: floating.ip } });
    const { security_group: group } = await post('/os-security-groups', {
      security_group: { name: 'web', description: '' },
    });
    await post(`/servers/${server.id}/action`, { addSecurityGroup: { name: 'web' } });
    const isReachable = () =>
      computer.outputOf('busybox', 'nc', '-w', '2', floating.ip, '80').then(
        (text) => text.trim(),
        () => '',
      );
    expect(await isReachable()).toBe('');
    const rule = { parent_group_id: group.id, ip_protocol: 'tcp', from_port: 80, to_port: 80, cidr: '0.0.0.0/0' };
    await post('/os-security-group-rules', { security_group_rule: rule });
    await expect.poll(isReachable).toBe('hello');

    await program.end('SIGTERM');
    await expect.poll(isReachable).toBe('hello');
    program = await startProgram([...options, ...BRIDGE], {}, computer.enter);
    await post(`/servers/${server.id}/action`, { forceDelete: null });
    await expect.poll(() => computer.left()).toEqual([]);
    expect(await program.end('SIGTERM')).toBe(0);
  });

  it('counts in the metrics what a guest sends and receives', async () => {
    const program = await startProgram([...options, ...BRIDGE, '--metrics'], {}, computer.enter);
    onTestFinished(() => void program.end('SIGKILL'));
    const { server } = await postTo(program, '/servers', { server: expected });
    const line = await booted(server.id);
    const mac = await line.run('cat /sys/class/net/eth0/address');
    /** Returns a counter of the guest’s interface. On a busy computer, a guest may not respond in time. */
    const counter = (name: string) =>
      eventually(async () => {
        const metric = `apistrata_guest_network_${name}_bytes_total{server="${server.id}",mac="${mac}"} `;
        const sample = (await wget(`${program.url}/metrics`)).split('\n').find((text) => text.startsWith(metric));
        return Number(sample?.slice(metric.length) ?? expect.fail(`no ${metric}`));
      });
    const counters = async () => ({ sent: await counter('transmit'), received: await counter('receive') });
    connectPeer();
    serve(7000, 'dd', 'of=/dev/null');
    serve(7001, 'dd', 'if=/dev/zero', 'bs=1024', `count=${KIB}`);

    const before = await counters();
    await line.run(`dd if=/dev/zero bs=1024 count=${KIB} 2>/dev/null | nc ${PEER} 7000`);
    const between = await counters();
    expect(between.sent - before.sent).toBeGreaterThan(KIB * 1024);
    expect(between.received - before.received).toBeLessThan((KIB * 1024) / 2);
    await line.run(`nc ${PEER} 7001 </dev/null >/dev/null`);
    const after = await counters();
    expect(after.received - between.received).toBeGreaterThan(KIB * 1024);
    expect(after.sent - between.sent).toBeLessThan((KIB * 1024) / 2);
    await postTo(program, `/servers/${server.id}/action`, { forceDelete: null });
    await expect.poll(() => computer.left()).toEqual([]);
    await program.end('SIGTERM');
  });

  it('reports that it needs root', async () => {
    const inUserNamespace: WrapCommand = (program, args) => ['unshare', ['--user', program, ...args]];
    const elsewhere = mkdtempSync(join(tmpdir(), 'ar-'));
    onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
    const { code, output } = await runProgram([...options, '--machine-dir', elsewhere, ...BRIDGE], {}, inUserNamespace);
    expect(output).toContain(
      '--driver qemu: bridges require root: start the program as root, or use the network mode user',
    );
    expect(code).toBe(1);
  });

  it.skipIf(!postgresUrl)(
    'reports this for a separate host too, which may use another port for its tunnels',
    async () => {
      const inUserNamespace: WrapCommand = (program, args) => ['unshare', ['--user', program, ...args]];
      const elsewhere = mkdtempSync(join(tmpdir(), 'ar-'));
      onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
      const host = ['host', '--name', 'h1', '--db', await freshDatabase(postgresUrl), '--machine-dir', elsewhere];
      const more = ['--driver', 'qemu', '--acceleration', 'tcg', ...BRIDGE, '--setting', 'serviceDownSeconds=30'];
      const key = { APISTRATA_SECRET_KEY: randomBytes(32).toString('base64') };
      const { output } = await runProgram([...host, ...more, '--tunnel-port', '4790'], key, inUserNamespace);
      expect(output).toContain('--driver qemu: bridges require root');
      const { output: rejected, code } = await runProgram([...host, ...more, '--tunnel-port', '70000'], key);
      expect(rejected).toContain('--tunnel-port');
      expect(code).toBe(1);
    },
  );

  it('reports that it needs the built-in network service', async () => {
    const { code, output } = await runProgram(
      [...options, ...BRIDGE, '--network-url', UNREACHABLE, '--identity-url', UNREACHABLE],
      {
        OS_USERNAME: 'admin',
        OS_PASSWORD: 'secret',
        OS_PROJECT_NAME: 'demo',
      },
    );
    expect(output).toContain('bridge mode requires the built-in network service: remove --network-url');
    expect(code).toBe(1);
  });

  it.each([
    ['ip', 'iproute2'],
    ['nft', 'nftables'],
    ['dnsmasq', 'dnsmasq-base'],
  ])('reports that %s is missing, and which package contains it', async (program, ofPackage) => {
    const few = machineDirectory();
    onTestFinished(() => rmSync(few, { recursive: true }));
    const needed = ['ip', 'bridge', 'nft', 'dnsmasq', 'qemu-system-x86_64', 'qemu-img'].filter(
      (name) => name !== program,
    );
    for (const name of needed) symlinkSync(pathOfProgram(name), join(few, name));
    const { code, output } = await runProgram([...options, ...BRIDGE], { PATH: few });
    expect(output).toContain(`--driver qemu: ${program} is not installed: install the package ${ofPackage}`);
    expect(code).toBe(1);
  });
});
