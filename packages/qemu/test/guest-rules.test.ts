import type { NetworkPlan, PlannedPort } from '@apistrata/compute-engine/drivers';
import { describe, expect, it } from 'vitest';
import { sanitizePlan } from '../src/network/checked-plan.js';
import { DeviceNames } from '../src/network/device-names.js';
import { guestRules } from '../src/network/guest-rules.js';
import { createRuleMatch } from '../src/network/rule-match.js';

const GROUP = '11111111-1111-4111-8111-111111111111';
const NETWORK = '22222222-2222-4222-8222-222222222222';
const PORT = '33333333-3333-4333-8333-333333333333';
const INJECTION = '} ; flush ruleset ; #';

function rule(more: Partial<NetworkPlan['rules'][number]>): NetworkPlan['rules'][number] {
  const any = { protocol: null, portMin: null, portMax: null, remoteCidr: null, remoteGroupId: null, description: '' };
  return { id: 'r', securityGroupId: GROUP, direction: 'ingress', ethertype: 'IPv4', ...any, ...more };
}

describe('a rule of a security group', () => {
  const members = () => ['10.0.0.7', 'fd00::7'];

  it.each([
    [{}, 'ether type ip'],
    [{ ethertype: 'IPv6' }, 'ether type ip6'],
    [{ protocol: 'tcp', portMin: 22, portMax: 23 }, 'ether type ip meta l4proto 6 tcp dport 22-23'],
    [{ protocol: '17', portMin: 53, portMax: 53 }, 'ether type ip meta l4proto 17 udp dport 53-53'],
    [{ protocol: 'icmp', portMin: 8, portMax: 0 }, 'ether type ip meta l4proto 1 icmp type 8 icmp code 0'],
    [{ protocol: 'icmp', ethertype: 'IPv6' }, 'ether type ip6 meta l4proto 58'],
    [{ remoteCidr: '10.1.2.3/16' }, 'ether type ip ip saddr 10.1.0.0/16'],
    [{ remoteCidr: '10.1.0.0/16', direction: 'egress' }, 'ether type ip ip daddr 10.1.0.0/16'],
    [{ remoteCidr: '0.0.0.0/0' }, 'ether type ip'],
    [{ remoteGroupId: GROUP }, 'ether type ip ip saddr { 10.0.0.7 }'],
    [{ remoteGroupId: GROUP, ethertype: 'IPv6' }, 'ether type ip6 ip6 saddr { fd00::7 }'],
  ] as const)('becomes a match expression: %j', (more, match) => {
    expect(createRuleMatch(rule(more), members)).toBe(match);
  });

  it.each([
    [{ protocol: INJECTION }],
    [{ protocol: '256' }],
    [{ protocol: 'constructor' }],
    [{ remoteCidr: INJECTION }],
    [{ remoteCidr: 'fd00::/64' }],
    [{ protocol: 'icmp', portMin: 300, portMax: null }],
    [{ protocol: 'tcp', portMin: 1, portMax: 70_000 }],
    [{ protocol: 'tcp', portMin: 9, portMax: 8 }],
    [{ protocol: 'udp', portMin: -1, portMax: -1 }],
  ] as const)('that no packet can match allows nothing: %j', (more) => {
    expect(createRuleMatch(rule(more), members)).toBeUndefined();
  });

  it('with an empty group allows nothing', () => {
    expect(createRuleMatch(rule({ remoteGroupId: GROUP }), () => [])).toBeUndefined();
  });
});

describe('the rules of guests', () => {
  const port: PlannedPort = {
    id: PORT,
    networkId: NETWORK,
    serverId: 's',
    mac: 'FA:16:3E:00:00:01',
    adminStateUp: true,
    addresses: [{ address: '10.0.0.7', version: 4, subnetId: 'x' }],
    portSecurityEnabled: true,
    securityGroupIds: [GROUP],
    allowedAddressPairs: [],
  };
  const names = new DeviceNames('h7');
  const network = { id: NETWORK, mtu: 1500, segment: 1, subnets: [] } as unknown as NetworkPlan['networks'][number];
  const text = (more: Partial<PlannedPort>, rules: NetworkPlan['rules'] = []) =>
    guestRules(
      sanitizePlan({ networks: [network], ports: [{ ...port, ...more }], routers: [], rules, members: {} }),
      new Map(),
      names,
      new Map(),
    );

  it('pass only allowed traffic, and the requests by which a guest obtains its address', () => {
    const [, ingress = ''] = /chain ingress-aqth73333333333 \{([^}]*\}[^}]*)\}/.exec(text({})) ?? [];
    expect(
      ingress
        .trim()
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual([
      'meta mark and 0x40000000 == 0x40000000 return',
      'ether type arp return',
      'ether type ip udp sport 67 udp dport 68 return',
      'ether type ip6 udp sport 547 udp dport 546 return',
      'ether type ip6 icmpv6 type { 130, 131, 132, 134, 135, 136 } return',
      'drop',
    ]);
  });

  it('let a port send from its own addresses, and from its allowed address pairs', () => {
    const pairs: PlannedPort['allowedAddressPairs'] = [
      { ip_address: '10.0.9.0/24' },
      { ip_address: '10.0.0.8', mac_address: 'FA:16:3E:00:00:02' },
    ];
    expect(text({})).toContain('ether type ip ip saddr { 10.0.0.7 } return');
    const allowed = text({ allowedAddressPairs: pairs });
    expect(allowed).toContain('ip saddr { 10.0.0.7, 10.0.9.0/24, 10.0.0.8 } return');
    expect(allowed).toContain('ether saddr != { fa:16:3e:00:00:01, fa:16:3e:00:00:02 } drop');
  });

  it('omit ports without port security', () => {
    expect(text({ portSecurityEnabled: false })).not.toContain('aqth73333333333" :');
    expect(text({ portSecurityEnabled: false })).not.toContain('jump');
  });

  it('contain no text from users', () => {
    const written = text(
      {
        allowedAddressPairs: [
          { ip_address: INJECTION },
          { ip_address: 'fe80::9%flush' },
          { ip_address: '10.0.0.9', mac_address: INJECTION },
        ],
        addresses: [...port.addresses, { address: INJECTION, version: 4, subnetId: 'x' }],
      },
      [rule({ protocol: INJECTION }), rule({ remoteCidr: INJECTION }), rule({ description: INJECTION })],
    );
    expect(written).not.toContain('flush');
    expect(text({ mac: INJECTION })).not.toContain('flush');
  });
});
