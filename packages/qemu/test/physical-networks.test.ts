import { describe, expect, it } from 'vitest';
import {
  desiredLinks,
  type ExistingLink,
  linkCommands,
  mustRecreate,
  removalCommands,
} from '../src/network/desired-links.js';
import { DeviceNames } from '../src/network/device-names.js';
import { guestRules } from '../src/network/guest-rules.js';
import { checkPhysicalNetwork, findPhysicalNetworks } from '../src/network/physical-networks.js';
import { planOf } from './physical-plan.js';

const names = new DeviceNames('h7');
const cache = new Map([
  ['lan', { device: 'br0', isBridge: true }],
  ['wire', { device: 'eth1', isBridge: false }],
]);
const tunnels = { local: { address: '192.0.2.1', port: 4789 }, peers: new Map() };

const commandsOf = (plan: ReturnType<typeof planOf>, there: readonly ExistingLink[] = []) =>
  linkCommands(desiredLinks(plan, names, cache, tunnels), there, 0).filter((command) =>
    /aq[pqvx]|eth1|br0/.test(command),
  );

describe('a network that is connected to a physical network', () => {
  it('is connected to a bridge of the computer by a pair of devices, and has no tunnels', () => {
    expect(commandsOf(planOf('flat', 'lan', null))).toEqual([
      'link add name aqqh71111111111 mtu 1500 type veth peer name aqph71111111111 mtu 1500',
      'link set dev aqqh71111111111 addrgenmode none',
      'link set dev aqqh71111111111 master br0',
      'link set dev aqqh71111111111 up',
      'link set dev aqph71111111111 addrgenmode none',
      'link set dev aqph71111111111 master aqbh71111111111',
      'link set dev aqph71111111111 up',
    ]);
  });

  it('is connected to an interface of the computer, or to a VLAN on it', () => {
    expect(commandsOf(planOf('flat', 'wire', null))).toContain('link set dev eth1 master aqbh71111111111');
    expect(commandsOf(planOf('vlan', 'wire', 7))).toEqual([
      'link set dev eth1 addrgenmode none',
      'link set dev eth1 up',
      'link add link eth1 name aqvh71111111111 mtu 1500 type vlan id 7',
      'link set dev aqvh71111111111 addrgenmode none',
      'link set dev aqvh71111111111 master aqbh71111111111',
      'link set dev aqvh71111111111 up',
    ]);
  });

  it('is connected to a VLAN of a bridge, whose device is recreated if the tag changes', () => {
    const links = desiredLinks(planOf('vlan', 'lan', 7), names, cache);
    const commands = linkCommands(links, [], 0);
    expect(commands).toContain('link add link aqph71111111111 name aqvh71111111111 mtu 1500 type vlan id 7');
    expect(commands).not.toContain('link set dev aqph71111111111 master aqbh71111111111');
    const vlan = links.find(({ kind }) => kind === 'vlan');
    const existing = (id: number): ExistingLink => ({
      ifindex: 1,
      ifname: 'aqvh71111111111',
      mtu: 1500,
      flags: [],
      linkinfo: { info_data: { id } },
    });
    expect(vlan && [mustRecreate(vlan, existing(7)), mustRecreate(vlan, existing(8))]).toEqual([false, true]);
  });

  it('is disconnected by removing each device once, because the kernel removes pairs and VLANs with their device', () => {
    const existing = (ifname: string, link?: string): ExistingLink => ({
      ifindex: 1,
      ifname,
      mtu: 1500,
      flags: [],
      ...(link && { link }),
    });
    const links = [
      existing('aqbh71111111111'),
      existing('aqph71111111111', 'aqqh71111111111'),
      existing('aqqh71111111111', 'aqph71111111111'),
      existing('aqvh71111111111', 'aqph71111111111'),
      existing('aqvh72222222222', 'eth1'),
    ];
    expect(removalCommands(links)).toEqual([
      'link delete dev aqbh71111111111',
      'link delete dev aqph71111111111',
      'link delete dev aqvh72222222222',
    ]);
  });

  it('keeps DHCP and services of the cloud out of the physical network', () => {
    const rules = guestRules(planOf('flat', 'lan', null), new Map(), names, cache);
    expect(rules).toContain('iifname "aqph71111111111" oifname "aqsh71111111111" drop');
    expect(rules).toContain('oifname "aqph71111111111" ether type ip udp sport { 67, 68 } udp dport { 67, 68 } drop');
  });

  it('is rejected on a host without the physical network', () => {
    expect(() => checkPhysicalNetwork(planOf('flat', 'lan', null), 'p', cache)).not.toThrow();
    expect(() => checkPhysicalNetwork(planOf('flat', 'other', null), 'p', cache)).toThrow(
      'this host is not connected to the physical network other of the network lan: start it with --provider-network other=BRIDGE',
    );
  });

  it('is not connected if its tag is not a valid VLAN tag', () => {
    expect(commandsOf(planOf('vlan', 'lan', 4095)).filter((command) => command.includes('vlan'))).toEqual([]);
  });
});

it('devices of physical networks must exist', async () => {
  await expect(findPhysicalNetworks({ lan: 'missing0' }, 'ip')).rejects.toMatchObject({
    code: 'NETWORKS_UNAVAILABLE',
    message: 'the physical network lan cannot use missing0: this computer does not have this device',
  });
  await expect(findPhysicalNetworks({ lan: '../x' }, 'ip')).rejects.toThrow('does not have this device');
});
