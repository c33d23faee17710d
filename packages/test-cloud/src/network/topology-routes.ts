import type { EmbeddedCatalogs, NetworkFields, NewSubnet, SubnetChange } from '@apistrata/compute-engine';
import type { Route } from '../service/route.js';
import { forbidden } from '../service/service-error.js';
import { envelope, NETWORK, NEW_SUBNET, SUBNET } from './network-bodies.js';
import { networkView, subnetView } from './network-views.js';
import { renamed } from './renamed.js';
import { resource } from './resource.js';

type Networks = () => EmbeddedCatalogs['networks'];

/** What only administrators say of a network. */
const ADMIN_ONLY = ['shared', 'router:external', 'is_default'] as const;

/** Networks and subnets. */
export function topologyRoutes(networks: Networks): readonly Route[] {
  return [
    ...resource({
      path: 'networks',
      many: 'networks',
      one: 'network',
      body: envelope('network', NETWORK),
      change: envelope('network', NETWORK),
      list: async ({ caller, isAdmin, query }) => {
        const ids = query.getAll('id');
        const found = await networks().listNetworks(caller, {
          name: query.get('name') ?? undefined,
          ids: ids.length > 0 ? ids : undefined,
        });
        return found.map((network) => networkView(network, isAdmin));
      },
      show: async ({ caller, isAdmin }, id) => networkView(await networks().getNetwork(caller, id), isAdmin),
      create: async ({ caller, isAdmin }, body) => {
        const reserved = ADMIN_ONLY.find((name) => body[name] === true);
        if (reserved && !isAdmin)
          throw forbidden(`(rule:create_network:${reserved}) is disallowed by policy`, 'PolicyNotAuthorized');
        return networkView(await networks().createNetwork(caller, renamed<NetworkFields>(body)), isAdmin);
      },
      update: async ({ caller, isAdmin }, id, body) =>
        networkView(await networks().updateNetwork(caller, id, renamed<NetworkFields>(body)), isAdmin),
      remove: ({ caller }, id) => networks().deleteNetwork(caller, id),
      setTags: ({ caller }, id, tags) => networks().updateNetwork(caller, id, { tags }),
    }),
    ...resource({
      path: 'subnets',
      many: 'subnets',
      one: 'subnet',
      body: envelope('subnet', NEW_SUBNET),
      change: envelope('subnet', SUBNET),
      list: async ({ caller, query }) => {
        const networkId = query.getAll('network_id').length === 1 ? query.get('network_id')! : undefined;
        return (await networks().listSubnets(caller, { networkId })).map(subnetView);
      },
      show: async ({ caller }, id) => subnetView(await networks().getSubnet(caller, id)),
      create: async ({ caller }, body) => subnetView(await networks().createSubnet(caller, renamed<NewSubnet>(body))),
      update: async ({ caller }, id, body) =>
        subnetView(await networks().updateSubnet(caller, id, renamed<SubnetChange>(body))),
      remove: ({ caller }, id) => networks().deleteSubnet(caller, id),
      setTags: ({ caller }, id, tags) => networks().updateSubnet(caller, id, { tags }),
    }),
  ];
}
