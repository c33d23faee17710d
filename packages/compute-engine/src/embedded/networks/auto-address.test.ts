import { describe, expect, it } from 'vitest';
import { autoAddress } from './auto-address.js';
import type { SubnetRecord } from './network-tables.js';

const MAC = 'fa:16:3e:01:02:03';

function subnet(fields: Partial<SubnetRecord>): SubnetRecord {
  return { cidr: 'fd00:1::/64', ipVersion: 6, ipv6AddressMode: null, ipv6RaMode: null, ...fields } as SubnetRecord;
}

describe('the address that a guest makes itself', () => {
  it.each([{ ipv6AddressMode: 'slaac' }, { ipv6AddressMode: 'dhcpv6-stateless' }, { ipv6RaMode: 'slaac' }] as const)(
    'is made of its MAC address: %j',
    (mode) => {
      expect(autoAddress(subnet(mode), MAC)).toBe('fd00:1::f816:3eff:fe01:203');
    },
  );

  it.each([
    {},
    { ipv6AddressMode: 'dhcpv6-stateful' },
    { ipv6AddressMode: 'slaac', cidr: 'fd00:1::/72' },
    { ipv6AddressMode: 'slaac', cidr: '10.0.0.0/24', ipVersion: 4 },
  ] as const)('is none where it is told one: %j', (fields) => {
    expect(autoAddress(subnet(fields), MAC)).toBeUndefined();
    expect(autoAddress(subnet({ ipv6AddressMode: 'slaac' }), undefined)).toBeUndefined();
  });
});
