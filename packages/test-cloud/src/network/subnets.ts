import type { NewSubnet, SubnetChange } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import { fixed, required, settable } from '../service/field.js';
import { onlyValue } from '../service/filter.js';
import type { ResourceSpec } from '../service/resource.js';
import { anyId, count, flag, text } from '../service/wire-types.js';
import { subnetView } from './network-views.js';
import { standardFields } from './standard-fields.js';
import { prefixFromPool } from './subnet-pools.js';
import { toCamelCase } from './to-camel-case.js';

const unlisted = { filter: false } as const;
const ranges = z.array(z.object({ start: z.string(), end: z.string() }));
const ipv6Mode = z.enum(['dhcpv6-stateful', 'dhcpv6-stateless', 'slaac']).nullable();

export const subnets: ResourceSpec = {
  path: 'subnets',
  one: 'subnet',
  many: 'subnets',
  tags: true,
  fields: () => ({
    ...standardFields,
    name: settable(text, ''),
    network_id: required(fixed(anyId)),
    ip_version: fixed(
      z.union([z.literal(4), z.literal(6), z.literal('4').transform(() => 4), z.literal('6').transform(() => 6)]),
    ),
    cidr: fixed(text.nullable()),
    prefixlen: fixed(count, undefined, { hidden: true, filter: false }),
    subnetpool_id: fixed(anyId.nullable(), null, { inDocuments: true }),
    gateway_ip: settable(z.string().nullable()),
    allocation_pools: settable(ranges, undefined, unlisted),
    dns_nameservers: settable(z.array(z.string()), undefined, unlisted),
    host_routes: settable(z.array(z.object({ destination: z.string(), nexthop: z.string() })), undefined, unlisted),
    enable_dhcp: settable(flag, true),
    ipv6_address_mode: fixed(ipv6Mode),
    ipv6_ra_mode: fixed(ipv6Mode),
    service_types: settable(z.array(text), () => [], { inDocuments: true, filter: false }),
    segment_id: settable(anyId.nullable(), null, { inDocuments: true }),
    dns_publish_fixed_ip: settable(flag, false, { inDocuments: true }),
  }),
  async creating(call, { cidr, subnetpool_id, prefixlen }) {
    return cidr ? undefined : { cidr: await prefixFromPool(call, subnetpool_id, prefixlen) };
  },
  storage: {
    list: async ({ cloud, caller, query }) => {
      const networkId = onlyValue(query, 'network_id');
      return (await cloud.catalogs.networks.listSubnets(caller, { networkId })).map(subnetView);
    },
    get: async ({ cloud, caller }, id) => subnetView(await cloud.catalogs.networks.getSubnet(caller, id)),
    create: async ({ cloud, caller }, { prefixlen: _, ...body }) =>
      subnetView(await cloud.catalogs.networks.createSubnet(caller, toCamelCase<NewSubnet>(body))),
    update: async ({ cloud, caller }, { id }, change) =>
      subnetView(await cloud.catalogs.networks.updateSubnet(caller, id, toCamelCase<SubnetChange>(change))),
    remove: ({ cloud, caller }, { id }) => cloud.catalogs.networks.deleteSubnet(caller, id),
  },
};
