import type { Server } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Computer } from '../bridge/computer.js';
import { addressOf, GuestsOfHosts, ping } from '../bridge/host-guests.js';
import { missingForBridges } from '../bridge/missing-for-bridges.js';
import { missingForGuests } from '../guest/build-guest.js';
import { admin, BOOT, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? missingForBridges() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: bridges of several hosts: this machine has no ${missing} ***\n`);

const PORTS = { h1: 4789, h2: 4790 } as const;
type Name = keyof typeof PORTS;

describe.skipIf(missing)('hosts with bridges on one computer', { timeout: 300_000 }, () => {
  let computer: Computer;
  let hosts: QemuHosts;
  let guests: GuestsOfHosts;
  let first: Server;
  let second: Server;

  const start = (name: string, tunnelPort: number) =>
    hosts.start(name, { networkMode: 'bridge', tunnelPort, computer });
  const tables = () => computer.inside('nft', 'list', 'tables');

  beforeAll(async () => {
    computer = await Computer.open();
    hosts = await QemuHosts.withoutHosts(postgresUrl);
    guests = new GuestsOfHosts(hosts);
    await Promise.all((['h1', 'h2'] as const).map((name: Name) => start(name, PORTS[name])));
    [first, second] = [await hosts.booted('h1'), await hosts.booted('h2')];
  }, 300_000);
  afterAll(async () => {
    guests?.close();
    await hosts?.close();
    computer?.close();
  }, 60_000);

  it('have separate devices, rules and DHCP servers, and their guests share one network', async () => {
    for (const server of [first, second]) {
      const line = await guests.line(server.id);
      expect(await line.run('ip -4 -o addr show dev eth0')).toContain(` ${addressOf(server)}/16`);
      expect(await line.run('wget -q -O - http://169.254.169.254/latest/meta-data/hostname')).toBe(server.hostname);
    }
    await guests.becomes(true, first, ping(addressOf(second)));
    await guests.becomes(true, second, ping('169.254.0.1'));
    const bridges = computer.left().filter((name) => name.startsWith('aqb'));
    expect(bridges).toHaveLength(2);
    expect(tables().match(/table bridge apistrata_../g)).toHaveLength(2);
  });

  it('require separate ports for their tunnels', async () => {
    await expect(start('h3', PORTS.h2)).rejects.toThrow('ended by itself');
    expect(hosts.errorLog('h3')).toContain('already uses UDP port 4790 for tunnels: choose a different port');
  });

  it('do not affect each other when one is killed, restarted or emptied', async () => {
    const before = computer.left();
    await hosts.kill('h1');
    await guests.becomes(true, first, ping(addressOf(second)));
    // Network changes on the second host do not remove networks of the first host.
    const third = await hosts.booted('h2');
    await guests.becomes(true, first, ping(addressOf(third)));
    await start('h1', PORTS.h1);
    await hosts.engine.servers.delete(admin, third.id);
    await expect.poll(() => computer.left(), BOOT).toEqual(before);
    await guests.becomes(true, first, 'wget -q -O - http://169.254.169.254/openstack');
    await hosts.engine.servers.delete(admin, first.id);
    await guests.becomes(true, second, ping('169.254.0.1'));
    await hosts.engine.servers.delete(admin, second.id);
    await expect.poll(() => computer.left(), BOOT).toEqual([]);
    await expect.poll(tables, BOOT).not.toContain('apistrata');
  });
});
