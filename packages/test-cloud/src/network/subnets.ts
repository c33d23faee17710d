import type { NewSubnet, SubnetChange, SubnetRecord } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import { derived, fixed, required, settable } from '../service/field.js';
import { onlyValue } from '../service/filter.js';
import type { ResourceSpec } from '../service/resource.js';
import { anyId, count, flag, text } from '../service/wire-types.js';
import { subnetView } from './network-views.js';
import { standardFields } from './standard-fields.js';
import { prefixFromPool, requireSamePool } from './subnet-pools.js';
import { toCamelCase } from './to-camel-case.js';

const unlisted = { filter: false } as const;
const ranges = z.array(z.object({ start: z.string(), end: z.string() }));
const ipv6Mode = z.enum(['dhcpv6-stateful', 'dhcpv6-stateless', 'slaac']).nullable();

/** Returns the IP version of a prefix. A subnet without a prefix has the IP version of its pool, 4 by default. */
const ipVersionOf = (cidr: unknown) => (String(cidr).includes(':') ? 6 : 4);

/** Selects subnets by `shared=`: whether their network is shared. */
async function withSharedNetwork(call: Call, subnets: readonly SubnetRecord[]): Promise<readonly SubnetRecord[]> {
  const shared = call.flag('shared');
  if (shared === undefined) return subnets;
  const networks = await call.cloud.catalogs.networks.listNetworks(call.caller, { shared });
  const ids = new Set(networks.map(({ id }) => id));
  return subnets.filter(({ networkId }) => ids.has(networkId));
}

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
    service_types: settable(z.array(text), () => [], unlisted),
    segment_id: settable(anyId.nullable(), null, { inDocuments: true }),
    dns_publish_fixed_ip: settable(flag, false, { inDocuments: true }),
    shared: derived(undefined, { hidden: true, filter: 'storage' }),
  }),
  async creating(call, { network_id, ip_version, cidr, subnetpool_id, prefixlen }) {
    await requireSamePool(call, String(network_id), ip_version ?? ipVersionOf(cidr), subnetpool_id);
    return cidr ? undefined : { cidr: await prefixFromPool(call, subnetpool_id, prefixlen) };
  },
  storage: {
    list: async (call) => {
      const { cloud, caller, query } = call;
      const networkId = onlyValue(query, 'network_id');
      const subnets = await cloud.catalogs.networks.listSubnets(caller, { networkId });
      return (await withSharedNetwork(call, subnets)).map(subnetView);
    },
    get: async ({ cloud, caller }, id) => subnetView(await cloud.catalogs.networks.getSubnet(caller, id)),
    create: async ({ cloud, caller }, { prefixlen: _, ...body }) =>
      subnetView(await cloud.catalogs.networks.createSubnet(caller, toCamelCase<NewSubnet>(body))),
    update: async ({ cloud, caller }, { id }, change) =>
      subnetView(await cloud.catalogs.networks.updateSubnet(caller, id, toCamelCase<SubnetChange>(change))),
    remove: ({ cloud, caller }, { id }) => cloud.catalogs.networks.deleteSubnet(caller, id),
  },
};
