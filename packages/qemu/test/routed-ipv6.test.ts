import type { NetworkPlan, PlannedRouter } from '@apistrata/compute-engine/drivers';
import { describe, expect, it } from 'vitest';
import { DeviceNames } from '../src/network/device-names.js';
import { routeCommands, routedRules } from '../src/network/ipv6-rules.js';
import { formatConflict, selectRoutedSubnets } from '../src/network/routed-ipv6.js';

const names = new DeviceNames('h7');
const [FIRST, SECOND] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
const [UPLINK, OTHER_UPLINK] = ['aquh71111111111', 'aquh72222222222'];
const TABLE = 0x6171_0000 + Number.parseInt('h7', 36);

const subnet = (id: string, cidr: string) => ({ id, cidr, ipVersion: cidr.includes(':') ? 6 : 4 });
const networks = [
  {
    subnets: [
      subnet('four', '10.0.0.0/24'),
      subnet('seven', '2001:db8:7::/64'),
      subnet('eight', '2001:db8:8::/64'),
      subnet('wide', '2001:db8::/40'),
      subnet('one', '2001:db8:9::1/128'),
    ],
  },
] as unknown as NetworkPlan['networks'];

function router(id: string, subnetIds: readonly string[], more: Partial<PlannedRouter> = {}): PlannedRouter {
  const addresses = subnetIds.map((subnetId) => ({
    address: subnetId === 'four' ? '10.0.0.1' : 'fd00::1',
    version: subnetId === 'four' ? (4 as const) : (6 as const),
    subnetId,
  }));
  return {
    id,
    host: null,
    adminStateUp: true,
    interfaces: [{ id, networkId: 'n', mac: '02:00:00:00:00:01', addresses }],
    external: true,
    externalAddresses: ['203.0.113.5', `2001:db8:ee::${id[0]}`],
    enableSnat: true,
    floating: [],
    ...more,
  };
}

const select = (routers: readonly PlannedRouter[], routes: Parameters<typeof selectRoutedSubnets>[1] = []) =>
  selectRoutedSubnets({ routers, networks }, routes, names);

describe('the routed IPv6 subnets', () => {
  it('are those of routers with an IPv6 address on an external network', () => {
    expect(select([router(FIRST, ['four', 'seven', 'eight'])])).toEqual({
      routed: [{ routerId: FIRST, addresses: ['2001:db8:ee::1'], prefixes: ['2001:db8:7::/64', '2001:db8:8::/64'] }],
      conflicts: [],
    });
    for (const more of [
      { external: false },
      { adminStateUp: false },
      { externalAddresses: ['203.0.113.5'] },
      { interfaces: router(FIRST, ['four']).interfaces },
    ])
      expect(select([router(FIRST, ['seven'], more)]).routed).toEqual([]);
  });

  it('have one router, the oldest; its other subnets are routed independently', () => {
    const { routed, conflicts } = select([router(FIRST, ['seven']), router(SECOND, ['seven', 'eight'])]);
    expect(routed.map(({ prefixes }) => prefixes)).toEqual([['2001:db8:7::/64'], ['2001:db8:8::/64']]);
    expect(conflicts.map(formatConflict)).toEqual([
      `router ${SECOND} does not route 2001:db8:7::/64 to external networks: router ${FIRST} has 2001:db8:7::/64`,
    ]);
    expect(select([router(FIRST, ['wide']), router(SECOND, ['eight'])]).routed).toHaveLength(1);
  });

  it('do not overlap with networks of this computer', () => {
    const prefixesWith = (route: Parameters<typeof selectRoutedSubnets>[1][number]) =>
      select([router(FIRST, ['seven', 'eight'])], [route]).routed.flatMap(({ prefixes }) => prefixes);
    expect(prefixesWith({ dst: '2001:db8:7::5', dev: 'eth0' })).toEqual(['2001:db8:8::/64']);
    expect(prefixesWith({ dst: '2001:db8::/32' })).toEqual([]);
    const [routed] = select([router(FIRST, ['wide'])], [{ dst: '2001:db8:5::/64', dev: 'eth0' }]).conflicts;
    expect(formatConflict(routed!)).toContain('this computer has a route to 2001:db8:5::/64');
  });

  it.each([
    ['default routes', { dst: 'default', dev: 'eth0' }],
    ['default routes of the global addresses', { dst: '2000::/3', dev: 'eth0' }],
    ['a delegated prefix that is not routed further', { dst: '2001:db8::/32', type: 'unreachable', dev: 'lo' }],
    ['routes to routers', { dst: '2001:db8:7::1', dev: UPLINK }],
    ['other tables', { dst: '2001:db8::/32', dev: 'eth0', table: 'local' }],
  ] as const)('are not affected by %s', (_what, route) => {
    expect(select([router(FIRST, ['seven'])], [route]).routed).toHaveLength(1);
  });

  const { routed } = select([router(FIRST, ['seven', 'one']), router(SECOND, ['eight'])]);

  it('are in a table that applies to marked packets only, and external addresses in the main table', () => {
    expect(routeCommands(routed, [], [0, 32_766], names)).toEqual([
      `address replace fe80::1/64 dev ${UPLINK} nodad`,
      `address replace fe80::1/64 dev ${OTHER_UPLINK} nodad`,
      `route replace 2001:db8:ee::1 dev ${UPLINK} proto static`,
      `route replace 2001:db8:7::/64 via fe80::2 dev ${UPLINK} table ${TABLE} proto static`,
      `route replace 2001:db8:9::1 via fe80::2 dev ${UPLINK} table ${TABLE} proto static`,
      `route replace 2001:db8:ee::2 dev ${OTHER_UPLINK} proto static`,
      `route replace 2001:db8:8::/64 via fe80::2 dev ${OTHER_UPLINK} table ${TABLE} proto static`,
      expect.stringMatching(new RegExp(`^rule add priority 30\\d{3} fwmark 0x20000000/0x20000000 table ${TABLE}$`)),
    ]);
  });

  it('are removed when they are no longer routed; routes of other programs stay', () => {
    const priority = 30_000 + Number.parseInt('h7', 36);
    const existing = [
      { dst: '2001:db8:7::/64', dev: UPLINK, table: `${TABLE}` },
      { dst: 'default', dev: UPLINK, table: `${TABLE}` },
      { dst: '2001:db8:ee::1', dev: UPLINK },
      { dst: '2001:db8:8::/64', dev: 'eth0' },
      { dst: '2001:db8:8::/64', dev: 'aquh82222222222', table: '5' },
    ];
    expect(routeCommands([], existing, [priority], names)).toEqual([
      `route delete 2001:db8:7::/64 dev ${UPLINK} table ${TABLE}`,
      `route delete ::/0 dev ${UPLINK} table ${TABLE}`,
      `route delete 2001:db8:ee::1 dev ${UPLINK}`,
      expect.stringContaining(`rule delete priority ${priority} `),
    ]);
    expect(routeCommands(routed, existing, [priority], names).filter((one) => /delete|rule/.test(one))).toEqual([
      `route delete ::/0 dev ${UPLINK} table ${TABLE}`,
    ]);
    expect(routeCommands([], [], [], names)).toEqual([]);
    expect(routedRules([], names)).toBe('table ip6 apistrata_h7_routed\ndelete table ip6 apistrata_h7_routed\n');
  });
});
