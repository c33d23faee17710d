import type { Server } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { BridgeCloud, OTHER, OTHER_SUBNET, OUTSIDE } from '../bridge/bridge-cloud.js';
import { missingForBridges } from '../bridge/missing-for-bridges.js';
import { missingForGuests } from '../guest/build-guest.js';
import { ada, NETWORK, SUBNET } from '../qemu-cloud.js';

const missing = missingForGuests() ?? missingForBridges();
if (missing) console.warn(`\n*** SKIPPED: networks of guests: this machine has no ${missing} ***\n`);

const { caller } = ada;
const addressOf = ({ interfaces }: Server) => interfaces[0]!.fixedIps[0]!.address;
const portOf = ({ interfaces }: Server) => interfaces[0]!.portId;

describe.skipIf(missing)('networks of this computer', { timeout: 300_000 }, () => {
  let cloud: BridgeCloud;
  let first: Server;
  let second: Server;
  beforeAll(async () => {
    cloud = await new BridgeCloud().open();
    [first, second] = [await cloud.create('first', NETWORK), await cloud.create('second', NETWORK)];
  });
  afterAll(() => cloud.close());

  const ping = (address: string, more = '') => `ping -c 1 -W 2 ${more} ${address}`;
  /** Waits until a command succeeds or fails in the guest, because network changes take effect asynchronously. */
  const becomes = (expected: boolean, server: Server, command: string) =>
    eventually(async () => expect(await cloud.succeeds(server, command)).toBe(expected), { interval: 200 });

  /**
   * Returns the metadata service's response to a guest. The guest prints whole lines, because it also prints numbers.
   */
  async function requested(server: Server, path: string, ...headers: readonly string[]): Promise<string> {
    const headerOptions = headers.map((one) => `--header '${one}'`).join(' ');
    const line = await cloud.line(server);
    return line.run(`said=$(wget -q -O - ${headerOptions} http://169.254.169.254/${path}) && echo "$said"`);
  }

  it('assign addresses to guests, and connect the guests of a security group', async () => {
    const line = await cloud.line(first);
    expect(await line.run('ip -4 -o addr show dev eth0')).toContain(` ${addressOf(first)}/16`);
    await cloud.line(second);
    await becomes(true, first, ping(addressOf(second)));
  });

  it('disconnect them as soon as the rule is deleted, and connect them again when it is restored', async () => {
    const groups = await cloud.network('listSecurityGroups')(caller, { name: 'default' });
    const rule = groups[0]!.rules.find(({ direction, ethertype }) => direction === 'ingress' && ethertype === 'IPv4')!;
    await cloud.network('deleteSecurityGroupRule')(caller, rule.id);
    await becomes(false, first, ping(addressOf(second)));
    await cloud.network('createSecurityGroupRule')(caller, {
      securityGroupId: groups[0]!.id,
      direction: 'ingress',
      protocol: 'icmp',
    });
    await becomes(true, first, ping(addressOf(second)));
  });

  it('prevent spoofed addresses, unless they are allowed', async () => {
    const line = await cloud.line(first);
    const spoofed = '10.0.99.99';
    await line.run(`ip addr add ${spoofed}/16 dev eth0`);
    const spoofedPing = ping(addressOf(second), `-I ${spoofed}`);
    expect(await cloud.succeeds(first, spoofedPing)).toBe(false);
    const change = (allowedAddressPairs: readonly Record<string, string>[]) =>
      cloud.network('updatePort')({ ...caller, isAdmin: true }, portOf(first), { allowedAddressPairs });
    await change([{ ip_address: spoofed }, { ip_address: '10.0.99.0/24' }]);
    await becomes(true, first, spoofedPing);
    await change([]);
    await becomes(false, first, spoofedPing);

    const { mac } = first.interfaces[0]!;
    await line.run('ip link set eth0 down; ip link set eth0 address 02:00:00:00:00:01; ip link set eth0 up');
    expect(await cloud.succeeds(first, ping(addressOf(second)))).toBe(false);
    const way = `ip addr add ${addressOf(first)}/16 dev eth0 2>/dev/null; ip route replace default via 10.0.0.1`;
    await line.run(`ip link set eth0 down; ip link set eth0 address ${mac}; ip link set eth0 up; ${way}`);
    await becomes(true, first, ping(addressOf(second)));
  });

  it('count the traffic of guests', async () => {
    const diagnostics = await cloud.call('servers', 'diagnostics')(first);
    expect(diagnostics.nics).toMatchObject([{ macAddress: first.interfaces[0]!.mac, txErrors: 0 }]);
    const before = diagnostics.nics[0]!;
    await cloud.succeeds(first, 'ping -c 4 -s 1000 -W 2 10.0.0.1');
    const after = (await cloud.call('servers', 'diagnostics')(first)).nics[0]!;
    expect(after.txBytes - before.txBytes).toBeGreaterThan(4_000);
    expect(after.rxBytes - before.rxBytes).toBeGreaterThan(4_000);
  });

  it('identify guests by their address, regardless of their request', async () => {
    const line = await cloud.line(first);
    const get = (path: string, ...headers: readonly string[]) => requested(first, path, ...headers);
    const reported = JSON.parse(await get('openstack/latest/meta_data.json'));
    const driveMetadata = JSON.parse(await line.run('cat /mnt/config/openstack/latest/meta_data.json'));
    // Secrets and values that change each time are only on the drive.
    const { admin_pass: _, random_seed: __, ...shared } = driveMetadata;
    expect(reported).toMatchObject(shared);
    expect(reported).not.toHaveProperty('admin_pass');
    expect(reported.uuid).toBe(first.id);
    const spoofedHeaders = [`X-Forwarded-For: ${addressOf(second)}`, `X-Instance-ID: ${second.id}`];
    expect(JSON.parse(await get('openstack/latest/meta_data.json', ...spoofedHeaders)).uuid).toBe(first.id);
    expect(await get('latest/meta-data/local-ipv4')).toBe(addressOf(first));
    expect(await get('latest/meta-data/hostname')).toBe('first');
    expect(await get('openstack/latest')).toContain('network_data.json');
    expect(await requested(second, 'latest/meta-data/hostname')).toBe('second');
    await expect(get('openstack/latest/../../../etc/passwd')).rejects.toThrow('ended with');
  });

  it('are rebuilt if their namespaces are lost', async () => {
    const [service = expect.fail('no namespace')] = cloud.computer.left().filter((name) => name.startsWith('aqs'));
    cloud.computer.inside('umount', `/run/netns/${service}`);
    await cloud.kill();
    await cloud.begin();
    await becomes(true, first, 'wget -q -O - http://169.254.169.254/openstack');
    const line = await cloud.line(first);
    await line.run('udhcpc -i eth0 -n -q -t 30 -T 1 -s /udhcpc.sh >/dev/null 2>&1');
    await becomes(true, first, ping(addressOf(second)));
  });

  it('connect floating addresses to guests, and guests to external networks', async () => {
    const floating = await cloud.network('createFloatingIp')(caller, { pool: OUTSIDE });
    await cloud.network('associateFloatingIp')(caller, floating.id, { portId: portOf(first) });
    const reached = () => cloud.computer.inside('busybox', 'ping', '-c', '1', '-W', '2', floating.address);
    await eventually(reached, { interval: 300 });
    await becomes(true, first, ping('169.254.0.1'));
    await becomes(true, second, ping('169.254.0.1'));
    expect(await requested(first, 'latest/meta-data/public-ipv4')).toBe(floating.address);
    await cloud.network('disassociateFloatingIp')(caller, floating.id);
    await eventually(() => expect(reached).toThrow(), { interval: 300 });
  });

  it('are connected by routers, and have the configured MTU', async () => {
    const third = await cloud.create('third', OTHER);
    expect(await (await cloud.line(third)).run('cat /sys/class/net/eth0/mtu')).toBe('1400');
    expect(await cloud.succeeds(first, ping(addressOf(third)))).toBe(false);
    const admin = { ...caller, isAdmin: true };
    const router = await cloud.network('createRouter')(admin, { name: 'r', externalNetworkId: OUTSIDE });
    for (const subnetId of [SUBNET, OTHER_SUBNET])
      await cloud.network('addRouterInterface')(admin, router.id, { subnetId });
    await becomes(true, first, ping(addressOf(third)));
    await becomes(true, third, ping('169.254.0.1'));

    // An interface is attached to the running second guest. It is on the same network as the third guest.
    await cloud.act(second.id, 'attachInterface', {
      networkId: OTHER,
      toExternal: false,
      resourceRequests: true,
    });
    await cloud.idle();
    const line = await cloud.line(second);
    await line.run('n=0; until [ -e /sys/class/net/eth1 ] || [ $n -gt 60 ]; do n=$((n + 1)); sleep 0.5; done');
    await line.run('ip link set eth1 up; udhcpc -i eth1 -n -q -t 5 -T 1 -s /udhcpc.sh >/dev/null 2>&1');
    const { interfaces } = await cloud.call('servers', 'get')(ada, second.id);
    expect(await line.run('ip -4 -o addr show dev eth1')).toContain(` ${interfaces[1]!.fixedIps[0]!.address}/24`);
    await becomes(true, second, ping(addressOf(third), '-I eth1'));
    await cloud.act(second.id, 'detachInterface', { portId: interfaces[1]!.portId });
    await cloud.idle();
    await cloud.call('servers', 'delete')(ada, third.id);
    await cloud.idle();
    await eventually(() => expect(cloud.computer.left().filter((name) => name.startsWith('aqb'))).toHaveLength(1));
  });

  it('continue without their process, are taken over by the next process, and are removed completely', async () => {
    await cloud.kill();
    await becomes(true, first, ping(addressOf(second)));
    const before = cloud.computer.left();
    await cloud.begin();
    await becomes(true, first, 'wget -q -O - http://169.254.169.254/openstack');
    expect(cloud.computer.left()).toEqual(before);
    for (const { id } of [first, second]) await cloud.call('servers', 'delete')(ada, id);
    await cloud.idle();
    await eventually(() => expect(cloud.computer.left()).toEqual([]), { interval: 300 });
    expect(cloud.computer.inside('nft', 'list', 'tables')).not.toContain('apistrata');
  });
});
