import type { NewSubnet, SubnetChange, SubnetRecord } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import { onlyValue } from '../service/filter.js';
import type { ResourceSpec } from '../service/resource.js';
import { count, flag, text } from '../service/wire-types.js';
import { networkError } from './network-errors.js';
import { rejectSmallMtu } from './network-mtu.js';
import { subnetView } from './network-views.js';
import { resourceNames, standardFields } from './standard-fields.js';
import { findFreePrefix, requireSamePool, resolvePoolId } from './subnet-pools.js';
import { toCamelCase } from './to-camel-case.js';
import { address, ipVersion, nullableList, prefix, route, uuid } from './value-types.js';

const noFilter = { filter: false } as const;
const addressRanges = z.array(z.strictObject({ start: address, end: address }));
/** A device owner prefix. As in Neutron, any value that begins with a character of `compute:` is also accepted. */
const serviceType = z.string().regex(/^([compute:]|network:|neutron:)/, 'does not correspond to a valid device owner');
const ipv6Mode = z.enum(['dhcpv6-stateful', 'dhcpv6-stateless', 'slaac']);

/** Filters subnets by the query parameter `shared`, which states whether their network is shared. */
async function filterByShared(call: Call, subnets: readonly SubnetRecord[]): Promise<readonly SubnetRecord[]> {
  const shared = call.flag('shared');
  if (shared === undefined) return subnets;
  const networks = await call.cloud.catalogs.networks.listNetworks(call.caller, { shared });
  const sharedNetworkIds = new Set(networks.map(({ id }) => id));
  return subnets.filter(({ networkId }) => sharedNetworkIds.has(networkId));
}

/** Rejects a change to a subnet whose gateway address is the address of a router's port. */
async function rejectUsedGateway(call: Call, { id, network_id, gateway_ip }: Doc): Promise<void> {
  const ports = await call.cloud.catalogs.networks.listPorts(call.elevatedCaller, { networkId: String(network_id) });
  const routerPort = ports.find(
    ({ deviceOwner, fixedIps }) =>
      deviceOwner.startsWith('network:router_interface') &&
      fixedIps.some(({ subnetId, address }) => subnetId === id && address === gateway_ip),
  );
  if (routerPort)
    throw networkError(
      'GatewayIpInUse',
      `Current gateway ip ${gateway_ip} already in use by port ${routerPort.id}. Unable to update.`,
    );
}

export const subnets: ResourceSpec = {
  ...resourceNames('subnet'),
  tags: true,
  fields: () => ({
    ...standardFields,
    name: settable(text, ''),
    network_id: required(fixed(uuid)),
    ip_version: required(fixed(ipVersion)),
    cidr: fixed(prefix.nullable()),
    prefixlen: fixed(count, undefined, { hidden: true, filter: false }),
    subnetpool_id: fixed(uuid.nullable(), null, { inDocuments: true }),
    use_default_subnetpool: fixed(flag, undefined, { hidden: true, filter: false }),
    gateway_ip: settable(address.nullable()),
    allocation_pools: settable(addressRanges, undefined, noFilter),
    dns_nameservers: settable(nullableList(address), undefined, noFilter),
    host_routes: settable(nullableList(route), undefined, noFilter),
    enable_dhcp: settable(flag, true),
    ipv6_address_mode: fixed(ipv6Mode),
    ipv6_ra_mode: fixed(ipv6Mode),
    service_types: settable(nullableList(serviceType), () => [], noFilter),
    segment_id: settable(uuid.nullable(), null, { admin: 'read', inDocuments: true }),
    dns_publish_fixed_ip: settable(flag, false, { inDocuments: true, filter: false }),
    shared: derived(undefined, { hidden: true, filter: 'storage' }),
  }),
  async creating(call, subnet) {
    const { network_id, ip_version, cidr, prefixlen } = subnet;
    const subnetpool_id = resolvePoolId(call, subnet);
    await requireSamePool(call, String(network_id), ip_version, subnetpool_id);
    const network = await call.cloud.catalogs.networks.getNetwork(call.caller, String(network_id));
    rejectSmallMtu(network, [{ ipVersion: ip_version as 4 | 6 }]);
    return { subnetpool_id, ...(!cidr && { cidr: await findFreePrefix(call, subnetpool_id, prefixlen) }) };
  },
  async changing(call, before, { gateway_ip }) {
    if (gateway_ip !== undefined && gateway_ip !== before.gateway_ip) await rejectUsedGateway(call, before);
    return undefined;
  },
  storage: {
    list: async (call) => {
      const { cloud, caller, query } = call;
      const networkId = onlyValue(query, 'network_id');
      const subnets = await cloud.catalogs.networks.listSubnets(caller, { networkId });
      return (await filterByShared(call, subnets)).map(subnetView);
    },
    get: async ({ cloud, caller }, id) => subnetView(await cloud.catalogs.networks.getSubnet(caller, id)),
    create: async ({ cloud, caller }, { prefixlen: _, use_default_subnetpool: __, ...body }) =>
      subnetView(await cloud.catalogs.networks.createSubnet(caller, toCamelCase<NewSubnet>(body))),
    update: async ({ cloud, caller }, { id }, change) =>
      subnetView(await cloud.catalogs.networks.updateSubnet(caller, id, toCamelCase<SubnetChange>(change))),
    remove: ({ cloud, caller }, { id }) => cloud.catalogs.networks.deleteSubnet(caller, id),
  },
};
