import type { NetworkFields } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import { derived, fixed, settable } from '../service/field.js';
import { onlyValue } from '../service/filter.js';
import type { ResourceSpec } from '../service/resource.js';
import { anyId, flag, text, wholeBetween } from '../service/wire-types.js';
import { networkView } from './network-views.js';
import { renamed } from './renamed.js';
import { standardFields } from './standard-fields.js';

const admin = { admin: 'sets' } as const;
/** How a network is made outside: kept for administrators, and of no consequence here. */
const provider = { admin: 'sees', aside: true } as const;

export const networks: ResourceSpec = {
  path: 'networks',
  one: 'network',
  many: 'networks',
  tags: true,
  fields: () => ({
    ...standardFields,
    name: settable(text, ''),
    admin_state_up: settable(flag, true),
    status: derived(),
    subnets: derived(undefined, { filter: false }),
    shared: settable(flag, false, admin),
    'router:external': settable(flag, false, admin),
    is_default: settable(flag, false, admin),
    mtu: settable(z.union([z.null().transform(() => undefined), wholeBetween(0, 65_535)])),
    port_security_enabled: settable(flag, true),
    dns_domain: settable(text, '', { aside: true, filter: false }),
    qos_policy_id: settable(anyId.nullable(), null, { aside: true, filter: false }),
    vlan_transparent: fixed(flag.nullable(), null, { aside: true }),
    availability_zone_hints: fixed(z.array(text), () => [], { aside: true, filter: false }),
    availability_zones: derived(undefined, { filter: false }),
    ipv4_address_scope: derived(undefined, { filter: false }),
    ipv6_address_scope: derived(undefined, { filter: false }),
    l2_adjacency: derived(undefined, { filter: false }),
    'provider:network_type': settable(text, undefined, provider),
    'provider:physical_network': settable(text.nullable(), undefined, provider),
    'provider:segmentation_id': settable(wholeBetween(1, 2 ** 24).nullable(), undefined, provider),
  }),
  storage: {
    list: async ({ cloud, caller, query }) => {
      const ids = query.getAll('id');
      const name = onlyValue(query, 'name');
      const networks = await cloud.catalogs.networks.listNetworks(caller, {
        name,
        ids: ids.length > 0 ? ids : undefined,
      });
      return networks.map(networkView);
    },
    get: async ({ cloud, caller }, id) => networkView(await cloud.catalogs.networks.getNetwork(caller, id)),
    create: async ({ cloud, caller }, body) =>
      networkView(await cloud.catalogs.networks.createNetwork(caller, renamed<NetworkFields>(body))),
    update: async ({ cloud, caller }, { id }, change) =>
      networkView(await cloud.catalogs.networks.updateNetwork(caller, id, renamed<NetworkFields>(change))),
    remove: ({ cloud, caller }, { id }) => cloud.catalogs.networks.deleteNetwork(caller, id),
  },
};
