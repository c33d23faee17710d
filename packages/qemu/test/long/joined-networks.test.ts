import type { Server } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { OUTSIDE } from '../bridge/bridge-cloud.js';
import { addressOf, GuestsOfHosts, ping } from '../bridge/host-guests.js';
import { missingForBridges } from '../bridge/missing-for-bridges.js';
import { type ComputerName, TwoComputers } from '../bridge/two-computers.js';
import { missingForGuests } from '../guest/build-guest.js';
import { ada, guestNetworks, NETWORK } from '../qemu-cloud.js';
import { admin, BOOT, QemuHosts } from '../qemu-hosts.js';

const postgresUrl = inject('postgresUrl');
const missing = missingForGuests() ?? missingForBridges() ?? (postgresUrl ? undefined : 'PostgreSQL');
if (missing) console.warn(`\n*** SKIPPED: networks of several computers: this machine has no ${missing} ***\n`);

const { caller } = ada;
const GATEWAY = '10.0.0.1';
/** The computer's address that routers use as their gateway. */
const ROUTER_GATEWAY = '169.254.0.1';

describe.skipIf(missing)('networks across two computers', { timeout: 300_000 }, () => {
  let computers: TwoComputers;
  let hosts: QemuHosts;
  let guests: GuestsOfHosts;
  let first: Server;
  let second: Server;

  const start = (name: ComputerName) =>
    hosts.start(name, {
      networkMode: 'bridge',
      computer: computers[name],
      link: { address: computers.addresses[name], serviceDownSeconds: 5 },
    });

  beforeAll(async () => {
    computers = await TwoComputers.open();
    const outside = { id: OUTSIDE, name: 'outside', external: true, subnets: [{ cidr: '203.0.113.0/24' }] };
    const inside = guestNetworks.map((network) => ({
      ...network,
      subnets: [...(network.subnets ?? []), { cidr: 'fd00:8::/64' }],
    }));
    hosts = await QemuHosts.withoutHosts(postgresUrl, { networks: [...inside, outside] });
    guests = new GuestsOfHosts(hosts);
    await Promise.all([start('h1'), start('h2')]);
    // The host of the first guest runs the router.
    first = await hosts.booted('h1');
    second = await hosts.booted('h2');
  }, 300_000);
  afterAll(async () => {
    guests?.close();
    await hosts?.close();
    computers?.close();
  }, 60_000);

  const networks = () => hosts.engine.embedded.networks;
  const routersOn = (name: ComputerName) => computers[name].left().filter((device) => /^aq[ru]/.test(device));

  it('connect guests, assign addresses, and leave room for the encapsulation of packets', async () => {
    for (const server of [first, second]) {
      const line = await guests.line(server.id);
      expect(await line.run('ip -4 -o addr show dev eth0')).toContain(` ${addressOf(server)}/16`);
      expect(await line.run('cat /sys/class/net/eth0/mtu')).toBe('1450');
      expect(await line.run('cat /mnt/config/openstack/latest/network_data.json')).toContain('"mtu":1450');
      expect(await line.run('wget -q -O - http://169.254.169.254/latest/meta-data/local-ipv4')).toBe(addressOf(server));
    }
    await guests.becomes(true, first, ping(addressOf(second)));
    await guests.becomes(true, second, ping(addressOf(first), '-s 1422'));
    expect(await networks().getNetwork(caller, NETWORK)).toMatchObject({ mtu: 1450 });
  });

  it('also carry IPv6', async () => {
    const six = ({ interfaces }: Server) =>
      interfaces[0]!.fixedIps.find(({ address }) => address.includes(':'))!.address;
    for (const server of [first, second])
      await (await guests.line(server.id)).run(`ip -6 addr add ${six(server)}/64 dev eth0`);
    await guests.becomes(true, first, `ping -6 -c 1 -W 2 -s 1402 ${six(second)}`);
    await guests.becomes(true, second, `ping -6 -c 1 -W 2 ${six(first)}`);
  });

  it('apply rules to traffic from other computers: members of a group are allowed, spoofed addresses are not', async () => {
    const [group] = await networks().listSecurityGroups(caller, { name: 'default' });
    const rule = group!.rules.find(({ direction, ethertype }) => direction === 'ingress' && ethertype === 'IPv4')!;
    // The rule's remote group is the group itself, so members of the group can reach each other.
    expect(rule.remoteGroupId).toBe(group!.id);
    const line = await guests.line(first.id);
    await line.run('ip addr add 10.0.99.99/16 dev eth0');
    expect(await guests.succeeds(first, ping(addressOf(second), '-I 10.0.99.99'))).toBe(false);
    await line.run('ip addr del 10.0.99.99/16 dev eth0');
    await networks().deleteSecurityGroupRule(caller, rule.id);
    await guests.becomes(false, first, ping(addressOf(second)));
    const { securityGroupId, direction, ethertype } = rule;
    await networks().createSecurityGroupRule(caller, {
      securityGroupId,
      direction,
      ethertype,
      remoteGroupId: group!.id,
    });
    await guests.becomes(true, first, ping(addressOf(second)));
  });

  it('reach external networks, and are reached from there, through the computer that runs the router', async () => {
    expect(routersOn('h1')).not.toEqual([]);
    expect(routersOn('h2')).toEqual([]);
    for (const server of [first, second]) {
      await guests.becomes(true, server, ping(GATEWAY));
      await guests.becomes(true, server, ping(ROUTER_GATEWAY));
    }
    const floating = await networks().createFloatingIp(caller, { pool: OUTSIDE });
    await networks().associateFloatingIp(caller, floating.id, { portId: second.interfaces[0]!.portId });
    const [group] = await networks().listSecurityGroups(caller, { name: 'default' });
    const rule = { securityGroupId: group!.id, direction: 'ingress', ethertype: 'IPv4', protocol: 'icmp' } as const;
    await networks().createSecurityGroupRule(caller, rule);
    const reached = () =>
      computers.h1.outputOf('busybox', 'ping', '-c', '1', '-W', '2', floating.address).then(
        () => true,
        () => false,
      );
    await expect.poll(reached, BOOT).toBe(true);
    await networks().releaseFloatingIp(caller, floating.id);
    await expect.poll(reached, BOOT).toBe(false);
  });

  it('keep a guest reachable at its address after its live migration', async () => {
    await hosts.engine.servers.act(admin, first.id, 'os-migrateLive', { host: 'h2', checkedFirst: true });
    expect(await hosts.settled(first.id)).toMatchObject({ vmState: 'active', host: 'h2' });
    await guests.becomes(true, second, ping(addressOf(first)));
    await guests.becomes(true, first, ping(ROUTER_GATEWAY));
  });

  it('continue without a process, and without a computer: another one takes over its routers', async () => {
    const third = await hosts.booted('h1');
    await guests.becomes(true, third, ping(addressOf(first)));
    await hosts.kill('h1');
    await guests.becomes(true, third, ping(addressOf(first)));
    await guests.becomes(true, third, ping(GATEWAY));
    await expect.poll(() => routersOn('h2'), BOOT).not.toEqual([]);
    await guests.becomes(true, first, ping(GATEWAY));
    await guests.becomes(true, first, ping(ROUTER_GATEWAY));
    await guests.becomes(true, third, ping(addressOf(first)));
    const before = computers.h1.left().filter((device) => /^aq[tbx]/.test(device));
    await start('h1');
    // The guest's interface is on this computer. The router remains on the other computer.
    await expect.poll(() => routersOn('h1'), BOOT).toEqual([]);
    expect(computers.h1.left().filter((device) => /^aq[tbx]/.test(device))).toEqual(before);
    await guests.becomes(true, third, ping(ROUTER_GATEWAY));
    expect(routersOn('h2')).not.toEqual([]);
    for (const { id } of [first, second, third]) await hosts.engine.servers.delete(admin, id);
    for (const computer of [computers.h1, computers.h2]) await expect.poll(() => computer.left(), BOOT).toEqual([]);
  });
});
