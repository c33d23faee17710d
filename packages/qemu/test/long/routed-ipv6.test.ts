import type { Server } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BridgeCloud, OTHER, OTHER_SUBNET, OUTSIDE } from '../bridge/bridge-cloud.js';
import type { Computer } from '../bridge/computer.js';
import { missingForBridges } from '../bridge/missing-for-bridges.js';
import { missingForGuests } from '../guest/build-guest.js';
import { ada } from '../qemu-cloud.js';

const missing = missingForGuests() ?? missingForBridges();
if (missing) console.warn(`\n*** SKIPPED: routed addresses of version 6: this machine has no ${missing} ***\n`);

const admin = { ...ada.caller, isAdmin: true };
const GUESTS = '2001:db8:7::/64';
/** The prefix of the external network. */
const EXTERNAL = '2001:db8:ee::/64';
/** An address of the internet. */
const FAR = '2001:db8:cafe::1';
/** The network between the computer and the upstream router. */
const [UPSTREAM, COMPUTER] = ['2001:db8:f::1', '2001:db8:f::2'];

/** Runs a program on the upstream router. */
const upstream = (computer: Computer, command: string) =>
  computer.inside('ip', ...['netns', 'exec', 'upstream', ...command.split(' ')]);

/** Connects the computer with a router that has no route to the prefixes of the cloud yet. */
function addUpstream(computer: Computer): void {
  for (const command of [
    'netns add upstream',
    'link add wire type veth peer name wire netns upstream',
    `address add ${COMPUTER}/64 dev wire nodad`,
    'link set wire up',
    '-netns upstream link set lo up',
    `-netns upstream address add ${FAR}/128 dev lo nodad`,
    `-netns upstream address add ${UPSTREAM}/64 dev wire nodad`,
    '-netns upstream link set wire up',
    `route add ::/0 via ${UPSTREAM} dev wire`,
  ])
    computer.inside('ip', ...command.split(' '));
}

describe.skipIf(missing)('IPv6 subnets behind a router with an external gateway', { timeout: 300_000 }, () => {
  let cloud: BridgeCloud;
  let guest: Server;
  let address: string;
  let gateway: string;

  beforeAll(async () => {
    cloud = await new BridgeCloud().open({}, addUpstream);
    const modes = { ipv6AddressMode: 'slaac', ipv6RaMode: 'slaac' } as const;
    const inside = await cloud.network('createSubnet')(admin, { networkId: OTHER, cidr: GUESTS, ...modes });
    const router = await cloud.network('createRouter')(admin, { name: 'r', externalNetworkId: OUTSIDE });
    await cloud.network('createSubnet')(admin, { networkId: OUTSIDE, cidr: EXTERNAL });
    for (const subnetId of [OTHER_SUBNET, inside.id])
      await cloud.network('addRouterInterface')(admin, router.id, { subnetId });
    const { externalAddresses } = await cloud.network('getRouter')(admin, router.id);
    gateway = externalAddresses.find((one) => one.address.includes(':'))!.address;
    guest = await cloud.create('guest', OTHER);
    address = guest.interfaces[0]!.fixedIps.find((one) => one.address.includes(':'))!.address;
    const line = await cloud.line(guest);
    await vi.waitFor(async () => expect(await line.run('ip -6 -o addr show dev eth0')).toContain(` ${address}/64`), {
      timeout: 90_000,
      interval: 500,
    });
  }, 300_000);
  afterAll(() => cloud?.close());

  const leaves = (target = FAR) => cloud.succeeds(guest, `ping -6 -c 1 -W 2 ${target}`);
  function arrives(target = address): boolean {
    try {
      upstream(cloud.computer, `busybox ping -6 -c 1 -W 2 ${target}`);
      return true;
    } catch {
      return false;
    }
  }
  const becomes = (expected: boolean, reached: () => boolean | Promise<boolean>) =>
    vi.waitFor(async () => expect(await reached()).toBe(expected), { timeout: 60_000, interval: 300 });

  it('are reached as soon as the upstream router has a route, and guests send from their own addresses', async () => {
    expect(await leaves()).toBe(false);
    upstream(cloud.computer, `ip -6 route add ${GUESTS} via ${COMPUTER}`);
    upstream(cloud.computer, `ip -6 route add ${EXTERNAL} via ${COMPUTER}`);
    // The upstream router accepts no other source address, so the test fails if addresses are translated.
    upstream(cloud.computer, 'nft add table ip6 test');
    upstream(cloud.computer, 'nft add chain ip6 test input { type filter hook input priority 0 ; }');
    const foreign = `nft add rule ip6 test input icmpv6 type echo-request ip6 saddr != ${address} drop`;
    upstream(cloud.computer, foreign);
    await becomes(true, () => leaves());
    expect(arrives(gateway)).toBe(true);
    // Prefixes that users choose do not affect the computer's own packets.
    expect(cloud.computer.inside('ip', '-6', 'route', 'get', address)).toContain(`via ${UPSTREAM}`);
    expect(cloud.computer.inside('cat', '/proc/sys/net/ipv6/conf/wire/accept_ra').trim()).toBe('2');
  });

  it('are protected by security groups', async () => {
    expect(arrives()).toBe(false);
    const [group] = await cloud.network('listSecurityGroups')(ada.caller, { name: 'default' });
    const rule = { securityGroupId: group!.id, ethertype: 'IPv6', protocol: 'ipv6-icmp' } as const;
    const ingress = await cloud.network('createSecurityGroupRule')(ada.caller, { ...rule, direction: 'ingress' });
    await becomes(true, () => arrives());
    await cloud.network('deleteSecurityGroupRule')(ada.caller, ingress.id);
    await becomes(false, () => arrives());

    const egress = group!.rules.find(({ direction, ethertype }) => direction === 'egress' && ethertype === 'IPv6')!;
    await cloud.network('deleteSecurityGroupRule')(ada.caller, egress.id);
    await becomes(false, () => leaves());
    await cloud.network('createSecurityGroupRule')(ada.caller, { ...rule, direction: 'egress' });
    await becomes(true, () => leaves());
  });

  it('are the only sources of their guests, even without port security', async () => {
    const { portId } = guest.interfaces[0]!;
    const spoofed = '2001:db8:bad::1';
    const spaces: readonly { name: string }[] = JSON.parse(cloud.computer.inside('ip', '-json', 'netns', 'list'));
    const router = spaces.find(({ name }) => name.startsWith('aqr'))!.name;
    const nft = (space: string, command: string) =>
      cloud.computer.inside('ip', 'netns', 'exec', space, 'nft', ...command.split(' '));
    for (const [space, hook] of [
      [router, 'forward'],
      ['upstream', 'input'],
    ] as const) {
      nft(space, 'add table ip6 spoofed');
      nft(space, `add chain ip6 spoofed counting { type filter hook ${hook} priority 0 ; }`);
      nft(space, `add rule ip6 spoofed counting ip6 saddr ${spoofed} counter`);
    }
    const hasPassed = (space: string) => !nft(space, 'list table ip6 spoofed').includes('packets 0 ');
    await (await cloud.line(guest)).run(`ip -6 addr add ${spoofed}/128 dev eth0`);
    const unprotected = { portSecurityEnabled: false, securityGroups: [] };
    await cloud.network('updatePort')(admin, portId, unprotected);
    await becomes(true, async () => {
      await leaves(`-I ${spoofed} ${FAR}`);
      return hasPassed(router);
    });
    expect(hasPassed('upstream')).toBe(false);
    expect(await leaves(`-I ${address} ${FAR}`)).toBe(true);
    expect(arrives()).toBe(true);
  });

  it('continue after a restart of the program, and are removed completely with their router', async () => {
    await cloud.kill();
    expect(arrives()).toBe(true);
    await cloud.begin();
    await becomes(true, () => arrives());
    await cloud.call('servers', 'delete')(ada, guest.id);
    await cloud.idle();
    await vi.waitFor(() => expect(cloud.computer.left()).toEqual([]), { timeout: 60_000, interval: 300 });
    const shown = (...args: readonly string[]) => cloud.computer.inside('ip', '-6', ...args);
    await vi.waitFor(() => expect(shown('rule', 'show')).not.toContain('fwmark'), { timeout: 60_000, interval: 300 });
    expect(shown('route', 'show', 'table', 'all')).not.toContain('2001:db8:7:');
    expect(cloud.computer.inside('nft', 'list', 'tables')).not.toContain('apistrata');
  });
});
