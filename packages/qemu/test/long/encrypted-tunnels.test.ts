import { execFileSync } from 'node:child_process';
import { mkdirSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Server } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Capture } from '../bridge/capture.js';
import { Computer } from '../bridge/computer.js';
import { addressOf, GuestsOfHosts, ping } from '../bridge/host-guests.js';
import { missingForBridges } from '../bridge/missing-for-bridges.js';
import { kernelHasWireguard, missingForEncryption } from '../bridge/missing-for-encryption.js';
import { type ComputerName, TwoComputers } from '../bridge/two-computers.js';
import { missingForGuests } from '../guest/build-guest.js';
import { processesOf } from '../processes-of.js';
import { admin, BOOT, type HostOptions, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing =
  missingForGuests() ?? missingForBridges() ?? missingForEncryption() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: encrypted tunnels between hosts: this machine has no ${missing} ***\n`);
const isKernel = !missing && kernelHasWireguard();
if (isKernel) console.warn('\n*** SKIPPED: WireGuard outside the kernel: the kernel of this machine has it ***\n');

const ENCRYPTED = { tunnelEncryption: 'wireguard' } as const;
/** Programs that a host needs, except `wireguard-go`. */
const PROGRAMS = ['ip', 'bridge', 'nft', 'dnsmasq', 'wg', 'qemu-system-x86_64', 'qemu-img', 'nsenter', 'sh'];
const VXLAN = 'udp port 4789';
const WIREGUARD = 'udp port 51820';

describe.skipIf(missing)('encrypted tunnels between two computers', { timeout: 300_000 }, () => {
  let computers: TwoComputers;
  let hosts: QemuHosts;
  let guests: GuestsOfHosts;
  let first: Server;
  let second: Server;

  const start = (name: ComputerName, options: HostOptions = ENCRYPTED) =>
    hosts.start(name, {
      networkMode: 'bridge',
      computer: computers[name],
      link: { address: computers.addresses[name], serviceDownSeconds: 5 },
      ...options,
    });
  const device = (name: ComputerName, kind: 'aqw' | 'aqx') =>
    computers[name].left().find((found) => found.startsWith(kind))!;
  const wg = (name: ComputerName, what: string) =>
    computers[name].inside('wg', 'show', device(name, 'aqw'), what).trim();
  const keyFile = (name: ComputerName) => join(hosts.directory, name, 'networks', 'wireguard.key');
  const serviceOf = async (host: string) => {
    const [found] = await hosts.engine.services.list({ host, binary: 'nova-compute' });
    return found!.service;
  };
  const reasons = async () =>
    Promise.all(['h1', 'h2'].map(async (host) => (await serviceOf(host)).disabledReason ?? null));
  /** Captures a device's packets while a function runs. */
  const capturing = async (on: string, work: (capture: Capture) => Promise<unknown>) => {
    const capture = await Capture.start(computers.h1, on, join(hosts.directory, `${on}.pcap`));
    await work(capture);
    await capture.stop();
    return capture;
  };

  beforeAll(async () => {
    computers = await TwoComputers.open();
    hosts = await QemuHosts.withoutHosts(postgresUrl);
    guests = new GuestsOfHosts(hosts);
    await Promise.all([start('h1'), start('h2')]);
    first = await hosts.booted('h1');
    second = await hosts.booted('h2');
  }, 300_000);
  afterAll(async () => {
    guests?.close();
    await hosts?.close();
    // If a program implements the WireGuard interface, it exits when the interface is deleted.
    for (const name of ['h1', 'h2'] as const)
      if (device(name, 'aqw')) computers[name].inside('ip', 'link', 'delete', device(name, 'aqw'));
    computers?.close();
  }, 60_000);

  it('connect guests, and leave room for both headers', async () => {
    await guests.becomes(true, first, ping(addressOf(second)));
    const wire = await capturing('wire', async () => {
      await guests.becomes(true, second, ping(addressOf(first), '-s 1342'));
    });
    expect(wire.count('ip[6:2] & 0x3fff != 0')).toBe(0);
    for (const server of [first, second])
      expect(await (await guests.line(server.id)).run('cat /sys/class/net/eth0/mtu')).toBe('1370');
  });

  it('reveal nothing of the packets of guests on the wire', async () => {
    const traffic = (filter: string) => async (capture: Capture) => {
      await guests.becomes(true, first, ping(addressOf(second)));
      await expect.poll(() => capture.count(filter)).toBeGreaterThanOrEqual(2);
    };
    const wire = await capturing('wire', traffic(WIREGUARD));
    expect(wire.count(VXLAN)).toBe(0);
    expect(wire.shows(addressOf(first), addressOf(second))).toBe(false);
    const inside = await capturing(device('h1', 'aqw'), traffic(`ip6 and ${VXLAN}`));
    expect(inside.shows(addressOf(first), addressOf(second))).toBe(true);
  });

  it('accept VXLAN only from the WireGuard interface, and nothing else from it', async () => {
    const rules = computers.h2.inside('nft', 'list', 'ruleset');
    expect(rules).toContain(`udp dport 4789 iifname != "${device('h2', 'aqw')}" drop`);
    const [inside = ''] = wg('h1', 'allowed-ips').split('\t')[1]!.split('/');
    expect(inside).toMatch(/^fda9:/);
    const reached = computers.h1.outputOf('busybox', 'ping', '-c', '1', '-W', '2', inside);
    await expect(reached).rejects.toThrow();
  });

  it('send nothing by another route while the interface is down', async () => {
    const { h1 } = computers;
    const ip = (command: string) => h1.inside('ip', ...command.split(' '));
    ip('address add fd00:99::1/64 dev wire nodad');
    ip('route add default via fd00:99::2 dev wire');
    ip('neighbor add fd00:99::2 lladdr 02:00:00:00:00:99 dev wire');
    const wire = await capturing('wire', async () => {
      ip(`link set ${device('h1', 'aqw')} down`);
      expect(await guests.succeeds(first, ping(addressOf(second)))).toBe(false);
    });
    expect(wire.count(VXLAN)).toBe(0);
    ip('route delete default via fd00:99::2 dev wire');
    await guests.becomes(true, first, ping(addressOf(second)));
  });

  it.skipIf(isKernel)('are restored after the program that implements the interface has ended', async () => {
    const name = device('h1', 'aqw');
    const namespace = (pid: number) => readlinkSync(`/proc/${pid}/ns/net`);
    const own = namespace(computers.h1.pid);
    const programs = processesOf(name, 'wireguard-go').filter((pid) => namespace(pid) === own);
    expect(programs).toHaveLength(1);
    for (const pid of programs) process.kill(pid, 'SIGKILL');
    await expect.poll(() => computers.h1.left()).not.toContain(name);
    await guests.becomes(true, first, ping(addressOf(second)));
    await guests.becomes(true, second, ping(addressOf(first)));
  });

  it('keep their key when a host restarts, and get a new one if it was removed', async () => {
    const before = wg('h1', 'public-key');
    expect(statSync(keyFile('h1')).mode & 0o777).toBe(0o600);
    await hosts.stop('h1');
    await start('h1');
    expect(wg('h1', 'public-key')).toBe(before);
    expect(wg('h2', 'peers')).toBe(before);
    await hosts.stop('h1');
    rmSync(keyFile('h1'));
    await start('h1');
    await expect.poll(() => wg('h2', 'peers'), BOOT).not.toBe(before);
    expect(wg('h2', 'peers')).toBe(wg('h1', 'public-key'));
    await guests.becomes(true, first, ping(addressOf(second)));
    await guests.becomes(true, second, ping(addressOf(first)));
  });

  it('are not created to a host that does not encrypt, which both hosts report', async () => {
    await hosts.stop('h2');
    await start('h2', {});
    await expect
      .poll(reasons, BOOT)
      .toEqual([
        'AUTO: no tunnels to the hosts h2, which do not encrypt their tunnels',
        'AUTO: no tunnels to the hosts h1, which encrypt their tunnels',
      ]);
    expect(wg('h1', 'peers')).toBe('');
    expect(device('h2', 'aqw')).toBeUndefined();
    const wire = await capturing('wire', async () => {
      for (const [from, to] of [
        [first, second],
        [second, first],
      ] as const)
        expect(await guests.succeeds(from, ping(addressOf(to)))).toBe(false);
    });
    expect([VXLAN, WIREGUARD].map((filter) => wire.count(filter))).toEqual([0, 0]);
    await hosts.stop('h2');
    await start('h2');
    await expect.poll(reasons, BOOT).toEqual([null, null]);
    await guests.becomes(true, first, ping(addressOf(second)));
  });

  it('are allowed for one host of a computer only', async () => {
    const ports = { tunnelPort: 4790, wireguardPort: 51_821 };
    const other = hosts.start('h3', {
      ...ENCRYPTED,
      ...ports,
      networkMode: 'bridge',
      computer: computers.h1,
      link: { address: computers.addresses.h1 },
    });
    await expect(other).rejects.toThrow('ended by itself');
    expect(hosts.errorLog('h3')).toContain(
      'already encrypts its tunnels: only one host program on each computer can do so',
    );
  });

  it.skipIf(isKernel)('prevent the start of a host without an implementation of WireGuard', async () => {
    const path = process.env.PATH!;
    const folder = join(hosts.directory, 'programs');
    mkdirSync(folder);
    for (const program of PROGRAMS) {
      const target = execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim();
      symlinkSync(target, join(folder, program));
    }
    const computer = await Computer.open();
    process.env.PATH = folder;
    try {
      await expect(start('h4' as ComputerName, { ...ENCRYPTED, computer })).rejects.toThrow('ended by itself');
    } finally {
      process.env.PATH = path;
      computer.close();
    }
    expect(hosts.errorLog('h4')).toContain('this kernel has no WireGuard, which encrypts tunnels');
  });

  it('are removed with a host', async () => {
    expect(wg('h1', 'peers')).toBe(wg('h2', 'public-key'));
    await hosts.engine.servers.delete(admin, second.id);
    await expect.poll(() => computers.h2.left().filter((name) => name.startsWith('aqt')), BOOT).toEqual([]);
    await hosts.stop('h2');
    await hosts.engine.services.delete((await serviceOf('h2')).id);
    await expect.poll(() => wg('h1', 'peers'), BOOT).toBe('');
  });
});
