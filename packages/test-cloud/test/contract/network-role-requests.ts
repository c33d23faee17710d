import { IMAGE } from '../clouds.js';
import { PUBLIC, SAMPLES } from './network-samples.js';
import { operationsOf } from './operation-facts.js';
import type { RequestTemplate, ServiceRequests } from './role-requests.js';

const ROUTER = '/v2.0/routers/{router_id}';
const TRUNK = '/v2.0/trunks/{trunk_id}';
const GROUP = '/v2.0/address-groups/{address_group_id}';
const POOL = '/v2.0/subnetpools/{subnetpool_id}';
const SPEAKER = '/v2.0/bgp-speakers/{bgp_speaker_id}';
const QUOTA = '/v2.0/quotas/{project_id}';
const PROFILES = '/v2.0/flavors/{flavor_id}/service_profiles';

const subnet = { subnet_id: '</v2.0/subnets/{subnet_id}>' };
const routes = { router: { routes: [{ destination: '192.0.2.0/24', nexthop: '10.0.0.9' }] } };
const subPorts = {
  sub_ports: [{ port_id: '</v2.0/ports/{port_id}>', segmentation_type: 'vlan', segmentation_id: 5 }],
};
const prefixes = { prefixes: ['192.0.2.0/24'] };
const profile = { service_profile: { id: '</v2.0/service_profiles/{service_profile_id}>' } };
const peer = { bgp_peer_id: '</v2.0/bgp-peers/{bgp_peer_id}>' };
const gateway = { network_id: PUBLIC };
const quota = { quota: { network: 5 } };

const addInterface: RequestTemplate = [`PUT ${ROUTER}/add_router_interface`, subnet];

/** The requests that add the tags that other requests remove. */
const addTags = Object.fromEntries(
  operationsOf('network')
    .filter(({ method, path }) => method === 'DELETE' && path.endsWith('/tags/{tag}'))
    .map(({ path }): [string, readonly RequestTemplate[]] => [`DELETE ${path}`, [[`PUT ${path}`]]]),
);

/** The requests of the network service. */
export const networkRequests: ServiceRequests = {
  samples: { ...SAMPLES, rbac_policy: { ...SAMPLES.rbac_policy, change: { target_tenant: IMAGE } } },
  bodies: {
    [`PUT ${ROUTER}/add_router_interface`]: subnet,
    [`PUT ${ROUTER}/remove_router_interface`]: subnet,
    [`PUT ${ROUTER}/add_extraroutes`]: routes,
    [`PUT ${ROUTER}/remove_extraroutes`]: routes,
    [`PUT ${TRUNK}/add_subports`]: subPorts,
    [`PUT ${TRUNK}/remove_subports`]: subPorts,
    [`PUT ${GROUP}/add_addresses`]: { addresses: ['192.0.2.0/24'] },
    [`PUT ${GROUP}/remove_addresses`]: { addresses: ['10.0.0.0/8'] },
    [`PUT ${POOL}/add_prefixes`]: prefixes,
    [`PUT ${POOL}/remove_prefixes`]: prefixes,
    [`POST ${PROFILES}`]: profile,
    [`PUT ${SPEAKER}/add_bgp_peer`]: peer,
    [`PUT ${SPEAKER}/remove_bgp_peer`]: peer,
    [`PUT ${SPEAKER}/add_gateway_network`]: gateway,
    [`PUT ${SPEAKER}/remove_gateway_network`]: gateway,
    'PUT /v2.0/agents/{agent_id}': { agent: { description: 'd' } },
    [`PUT ${QUOTA}`]: quota,
  },
  before: {
    ...addTags,
    [`PUT ${ROUTER}/remove_router_interface`]: [addInterface],
    [`PUT ${ROUTER}/add_extraroutes`]: [addInterface],
    [`PUT ${TRUNK}/remove_subports`]: [[`PUT ${TRUNK}/add_subports`, subPorts]],
    [`PUT ${POOL}/remove_prefixes`]: [[`PUT ${POOL}/add_prefixes`, prefixes]],
    [`DELETE ${PROFILES}/{service_profile_id}`]: [[`POST ${PROFILES}`, profile]],
    [`DELETE ${QUOTA}`]: [[`PUT ${QUOTA}`, quota]],
  },
  values: {
    tag: () => 'blue',
    policy_id: (project) => project.id('/v2.0/qos/policies/{policy_id}'),
    service_profile_id: (project) => project.id('/v2.0/service_profiles/{service_profile_id}'),
    project_id: async ({ admin }) => (await admin('GET', '/v2.0/quotas/project')).body.project.project_id,
    agent_id: async ({ admin }) => (await admin('GET', '/v2.0/agents')).body.agents[0].id,
  },
};
