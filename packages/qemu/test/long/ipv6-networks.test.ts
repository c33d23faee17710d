import { join } from 'node:path';
import type { Server } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BridgeCloud, OTHER, OTHER_SUBNET } from '../bridge/bridge-cloud.js';
import { missingForBridges } from '../bridge/missing-for-bridges.js';
import { missingForGuests } from '../guest/build-guest.js';
import { ada } from '../qemu-cloud.js';

const missing = missingForGuests() ?? missingForBridges();
if (missing) console.warn(`\n*** SKIPPED: addresses of version 6: this machine has no ${missing} ***\n`);

const admin = { ...ada.caller, isAdmin: true };
const SLAAC = 'fd00:6::';
const STATEFUL = 'fd00:7::';
const CLIENT = join(import.meta.dirname, '../bridge/dhcpv6-client.mjs');

const addressIn = (prefix: string, { interfaces }: Server) =>
  interfaces[0]!.fixedIps.find(({ address }) => address.startsWith(prefix))!.address;

describe.skipIf(missing)('IPv6 addresses', { timeout: 300_000 }, () => {
  let cloud: BridgeCloud;
  let first: Server;
  let second: Server;

  beforeAll(async () => {
    cloud = await new BridgeCloud().open();
    const router = await cloud.network('createRouter')(admin, { name: 'r' });
    const subnets = [OTHER_SUBNET];
    for (const [cidr, mode] of [
      [`${SLAAC}/64`, 'slaac'],
      [`${STATEFUL}/64`, 'dhcpv6-stateful'],
    ] as const) {
      const modes = { ipv6AddressMode: mode, ipv6RaMode: mode, dnsNameservers: ['fd00:6::53'] };
      subnets.push((await cloud.network('createSubnet')(admin, { networkId: OTHER, cidr, ...modes })).id);
    }
    for (const subnetId of subnets) await cloud.network('addRouterInterface')(admin, router.id, { subnetId });
    [first, second] = [await cloud.create('first', OTHER), await cloud.create('second', OTHER)];
  }, 300_000);
  afterAll(() => cloud?.close());

  const shows = (server: Server, command: string, text: string) =>
    vi.waitFor(async () => expect(await (await cloud.line(server)).run(command)).toContain(text), {
      timeout: 90_000,
      interval: 500,
    });

  it('are derived by guests from router advertisements, as the API shows them', async () => {
    for (const server of [first, second]) {
      const own = addressIn(SLAAC, server);
      await shows(server, 'ip -6 -o addr show dev eth0 scope global', ` ${own}/64`);
      await shows(server, 'ip -6 route', 'default via fe80::');
    }
    await shows(first, `ping -6 -c 1 -W 5 ${addressIn(SLAAC, second)} >/dev/null && echo reached`, 'reached');
    await shows(first, `ping -6 -c 1 -W 5 ${SLAAC}1 >/dev/null && echo reached`, 'reached');
    // The prefix of the DHCP subnet is on-link, but guests do not derive addresses from it.
    await shows(first, 'ip -6 route', `${STATEFUL}/64`);
    expect(await (await cloud.line(first)).run('ip -6 -o addr show dev eth0 scope global')).not.toContain(STATEFUL);
  });

  it('are assigned to guests that request them, as the API shows them', async () => {
    const { mac } = second.interfaces[0]!;
    // The client replaces the guest. If both were up, they would claim the same link-local address, and duplicate
    // address detection would prevent the second one from using it.
    await (await cloud.line(second)).run('ip link set eth0 down');
    const [bridge] = cloud.computer.left().filter((name) => name.startsWith('aqb'));
    const pair = `link add client type veth peer name wire address ${mac}`.split(' ');
    cloud.computer.inside('ip', ...pair);
    cloud.computer.inside('ip', 'link', 'set', 'client', 'master', bridge!, 'up');
    cloud.computer.inside('ip', 'link', 'set', 'wire', 'up');
    const lease = await vi.waitFor(
      async () => JSON.parse(await cloud.computer.outputOf(process.execPath, CLIENT, 'wire', mac)),
      { timeout: 90_000, interval: 500 },
    );
    expect(lease).toEqual({ address: addressIn(STATEFUL, second) });
  });
});
