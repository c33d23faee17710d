import { describe, expect, it } from 'vitest';
import { deriveAddress } from './auto-address.js';
import type { SubnetRecord } from './network-tables.js';

const MAC = 'fa:16:3e:01:02:03';

function subnet(fields: Partial<SubnetRecord>): SubnetRecord {
  return { cidr: 'fd00:1::/64', ipVersion: 6, ipv6AddressMode: null, ipv6RaMode: null, ...fields } as SubnetRecord;
}

describe('the address that a guest derives', () => {
  it.each([{ ipv6AddressMode: 'slaac' }, { ipv6AddressMode: 'dhcpv6-stateless' }, { ipv6RaMode: 'slaac' }] as const)(
    'is based on its MAC address: %j',
    (mode) => {
      expect(deriveAddress(subnet(mode), MAC)).toBe('fd00:1::f816:3eff:fe01:203');
    },
  );

  // Results of `oslo_utils.netutils.get_ipv6_addr_by_EUI64`, the function that Neutron uses.
  it.each([
    ['2001:db8::/64', '00:16:3e:33:44:55', '2001:db8::216:3eff:fe33:4455'],
    ['fda7:a5cc:3460:1::/64', 'fa:16:3e:94:31:61', 'fda7:a5cc:3460:1:f816:3eff:fe94:3161'],
    ['2001:db8:a::/64', '02:00:00:00:00:01', '2001:db8:a::ff:fe00:1'],
    ['2001:db8:1:2::/64', 'ff:ff:ff:ff:ff:ff', '2001:db8:1:2:fdff:ffff:feff:ffff'],
  ])('equals the address that Neutron derives in subnet %s for MAC address %s', (cidr, mac, address) => {
    expect(deriveAddress(subnet({ cidr, ipv6AddressMode: 'slaac', ipv6RaMode: 'slaac' }), mac)).toBe(address);
  });

  it.each([
    {},
    { ipv6AddressMode: 'dhcpv6-stateful' },
    { ipv6AddressMode: 'slaac', cidr: 'fd00:1::/72' },
    { ipv6AddressMode: 'slaac', cidr: '10.0.0.0/24', ipVersion: 4 },
  ] as const)('is undefined if the guest does not derive an address: %j', (fields) => {
    expect(deriveAddress(subnet(fields), MAC)).toBeUndefined();
    expect(deriveAddress(subnet({ ipv6AddressMode: 'slaac' }), undefined)).toBeUndefined();
  });
});
