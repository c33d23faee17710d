import { join } from 'node:path';
import type { Server } from '@apistrata/compute-engine';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { BridgeCloud } from '../bridge/bridge-cloud.js';
import type { Computer } from '../bridge/computer.js';
import { missingForBridges } from '../bridge/missing-for-bridges.js';
import { missingForGuests } from '../guest/build-guest.js';
import { ada } from '../qemu-cloud.js';

const missing = missingForGuests() ?? missingForBridges();
if (missing) console.warn(`\n*** SKIPPED: LAN networks: this machine has no ${missing} ***\n`);

const admin = { ...ada.caller, isAdmin: true };
const CIDR = '192.168.50.0/24';
/** The addresses of the home router and of the computer. */
const [HOME, OWN] = ['192.168.50.1', '192.168.50.2'];
const PREFIX = 'fd00:50::';
/** The other LAN, to which an interface of the computer leads. */
const OTHER_CIDR = '192.168.60.0/24';
const OTHER_ROUTER = '192.168.60.1';

describe.skipIf(missing)('LAN networks', { timeout: 300_000 }, () => {
  let cloud: BridgeCloud;
  let served: Server;

  /** Sends a ping from a router to a guest. Throws an error if there is no reply. */
  const pingFrom = (router: 'home' | 'office', server: Server) =>
    cloud.computer.inside('ip', 'netns', 'exec', router, 'busybox', 'ping', '-c', '1', '-W', '2', addressOf(server, 4));

  /**
   * Creates the computer's bridge, which leads to a home router that assigns addresses, and the computer's interface,
   * which leads to a router of another LAN.
   */
  function wire(computer: Computer, directory: string): void {
    const ip = (command: string) => computer.inside('ip', ...command.split(' '));
    for (const command of [
      'link add br0 type bridge',
      `address add ${OWN}/24 dev br0`,
      'netns add home',
      'link add lan0 type veth peer name lan1 netns home',
      'link set lan0 master br0 up',
      'link set br0 up',
      `-netns home address add ${HOME}/24 dev lan1`,
      `-netns home address add ${PREFIX}1/64 dev lan1 nodad`,
      '-netns home link set lan1 up',
      '-netns home link set lo up',
      'netns add office',
      'link add wire0 type veth peer name wire1 netns office',
      `-netns office address add ${OTHER_ROUTER}/24 dev wire1`,
      '-netns office link set wire1 up',
    ])
      ip(command);
    const dnsmasq = ['dnsmasq', '--conf-file=/dev/null', '--port=0', '--interface=lan1', '--bind-interfaces'];
    const files = [`--pid-file=${join(directory, 'home.pid')}`, '--leasefile-ro', '--user=root'];
    const ranges = [
      '--dhcp-range=192.168.50.100,192.168.50.199,1h',
      '--enable-ra',
      `--dhcp-range=${PREFIX},ra-only,64`,
    ];
    ip(`netns exec home ${[...dnsmasq, ...files, ...ranges].join(' ')}`);
  }

  const lan = (physicalNetwork: string, fields: object = {}) =>
    cloud.network('createNetwork')(admin, {
      name: physicalNetwork,
      shared: true,
      provider: { networkType: 'flat', physicalNetwork, segmentationId: null },
      ...fields,
    });
  const shows = (server: Server, command: string, text: string | RegExp) =>
    eventually(async () => expect(await (await cloud.line(server)).run(command)).toMatch(text), {
      timeout: 90_000,
      interval: 500,
    });
  const addressOf = ({ interfaces }: Server, version: 4 | 6) =>
    interfaces[0]!.fixedIps.find(({ address }) => address.includes(':') === (version === 6))!.address;

  beforeAll(async () => {
    cloud = new BridgeCloud();
    await cloud.open({ lan: 'br0', wire: 'wire0' }, (computer) => wire(computer, cloud.directory));
    const network = await lan('lan');
    expect(network.mtu).toBe(1500);
    const pool = { allocationPools: [{ start: '192.168.50.10', end: '192.168.50.19' }] };
    await cloud.network('createSubnet')(admin, { networkId: network.id, cidr: CIDR, gatewayIp: HOME, ...pool });
    const six = { cidr: `${PREFIX}/64`, gatewayIp: `${PREFIX}1`, ipv6AddressMode: 'slaac' as const };
    await cloud.network('createSubnet')(admin, { networkId: network.id, ...six });
    served = await cloud.create('served', network.id);
  }, 300_000);
  afterAll(() => cloud?.close());

  it('give guests LAN addresses, from which they reach its router and this computer', async () => {
    const address = addressOf(served, 4);
    expect(address).toMatch(/^192\.168\.50\.1\d$/);
    await shows(served, 'ip -4 -o addr show dev eth0', ` ${address}/24`);
    await shows(served, `ping -c 1 -W 5 ${HOME} >/dev/null && echo reached`, 'reached');
    await shows(served, `ping -c 1 -W 5 ${OWN} >/dev/null && echo reached`, 'reached');
    await shows(served, 'ip route', `default via ${HOME}`);
  });

  it("reach external networks over IPv6, with addresses that the LAN's router announces", async () => {
    await shows(served, 'ip -6 -o addr show dev eth0 scope global', ` ${addressOf(served, 6)}/64`);
    await shows(served, 'ip -6 route', 'default via fe80::');
    await shows(served, `ping -6 -c 1 -W 5 ${PREFIX}1 >/dev/null && echo reached`, 'reached');
  });

  it('admit computers of the LAN as security groups allow', async () => {
    const reached = () => pingFrom('home', served);
    expect(reached).toThrow();
    const [group] = await cloud.network('listSecurityGroups')(ada.caller, { name: 'default' });
    const rule = { securityGroupId: group!.id, direction: 'ingress' as const, protocol: 'icmp' };
    await cloud.network('createSecurityGroupRule')(ada.caller, rule);
    await eventually(reached, { interval: 300 });
  });

  it('without DHCP and port security, leave address assignment to the router of the LAN', async () => {
    const network = await lan('lan', { name: 'bare', portSecurityEnabled: false });
    await cloud.network('createSubnet')(admin, {
      networkId: network.id,
      cidr: CIDR,
      gatewayIp: null,
      enableDhcp: false,
    });
    const bare = await cloud.create('bare', network.id);
    await shows(bare, 'ip -4 -o addr show dev eth0', / 192\.168\.50\.1\d\d\/24/);
    await shows(bare, `ping -c 1 -W 5 ${HOME} >/dev/null && echo reached`, 'reached');
    await cloud.call('servers', 'delete')(ada, bare.id);
    await cloud.idle();
  });

  it('connect guests to a LAN through an interface of the computer, until the last guest is deleted', async () => {
    const ownerOf = () => cloud.computer.inside('ip', '-o', 'link', 'show', 'wire0');
    expect(ownerOf()).not.toContain(' master ');
    const network = await lan('wire');
    await cloud.network('createSubnet')(admin, { networkId: network.id, cidr: OTHER_CIDR, gatewayIp: OTHER_ROUTER });
    const wired = await cloud.create('wired', network.id);
    await shows(wired, 'ip -4 -o addr show dev eth0', ` ${addressOf(wired, 4)}/24`);
    await shows(wired, `ping -c 1 -W 5 ${OTHER_ROUTER} >/dev/null && echo reached`, 'reached');
    await eventually(() => pingFrom('office', wired), { interval: 300 });
    expect(await cloud.succeeds(wired, `ping -c 1 -W 2 ${HOME}`)).toBe(false);
    await cloud.call('servers', 'delete')(ada, wired.id);
    await cloud.idle();
    expect(ownerOf()).not.toContain(' master ');
  });

  it('put a server in ERROR on a host that does not have the physical network', async () => {
    const network = await lan('elsewhere');
    await cloud.network('createSubnet')(admin, { networkId: network.id, cidr: '192.168.51.0/24' });
    await expect(cloud.create('lost', network.id)).rejects.toThrow('not connected to the physical network elsewhere');
  });

  it('leave the bridge of the computer unchanged', async () => {
    await cloud.call('servers', 'delete')(ada, served.id);
    await cloud.idle();
    // The first attempt removes all devices; a failed attempt would be repeated later.
    expect(cloud.computer.left()).toEqual([]);
    expect(cloud.computer.inside('ip', '-o', 'link', 'show', 'master', 'br0').trim().split('\n')).toHaveLength(1);
  });
});
