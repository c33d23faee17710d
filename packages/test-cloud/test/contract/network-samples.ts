// Valid requests for the resources of the network service, and their facts.
import { expect } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';
import { readFacts } from './operation-facts.js';
import type { Sample, SendRequest } from './resource-contract.js';
import type { ResourceFact } from './resource-facts.js';

/** The external network of the presets. */
export const PUBLIC = '5f3c0c1e-8a5c-4c0a-bd52-6c2a1d3a9b31';

let count = 0;

/** Creates a resource and returns it. */
export async function make(request: SendRequest, path: string, one: string, fields: object) {
  const { status, body } = await request('POST', `/v2.0/${path}`, { [one]: fields });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body[one];
}

export const networkId = async (request: SendRequest): Promise<string> =>
  (await make(request, 'networks', 'network', {})).id;

const policyId = async (request: SendRequest): Promise<string> =>
  (await make(request, 'qos/policies', 'policy', {})).id;

/** Creates a port with an IPv4 address in a network that a router connects to the external network. */
async function routedPort(request: SendRequest) {
  const network_id = await networkId(request);
  const subnet = { network_id, cidr: `10.${++count % 200}.0.0/24`, ip_version: 4 };
  const { id: subnet_id } = await make(request, 'subnets', 'subnet', subnet);
  const { id } = await make(request, 'routers', 'router', { external_gateway_info: { network_id: PUBLIC } });
  await request('PUT', `/v2.0/routers/${id}/add_router_interface`, { subnet_id });
  return make(request, 'ports', 'port', { network_id });
}

const ofPolicy = (create: object, change: object): Sample => ({
  create: () => create,
  change,
  parameters: async (request) => ({ policy_id: await policyId(request) }),
});

const ingress = { direction: 'ingress' };
const renamed = { name: 'renamed' };
const IPV6 = { cidr: '2001:db8::/64', ip_version: 6 };

export const SAMPLES: Readonly<Record<string, Sample>> = {
  network: { create: () => ({ name: 'n' }), change: renamed },
  subnet: {
    create: async (request) => ({ network_id: await networkId(request), cidr: '10.0.0.0/24', ip_version: 4 }),
    withField: { ipv6_address_mode: IPV6, ipv6_ra_mode: IPV6 },
    change: renamed,
  },
  port: { create: async (request) => ({ network_id: await networkId(request) }), change: renamed },
  subnetpool: { create: () => ({ name: 'p', prefixes: ['10.10.0.0/16'] }), change: renamed },
  address_scope: { create: () => ({ ip_version: 4 }), change: renamed },
  address_group: { create: () => ({ addresses: ['10.0.0.0/8'] }), change: renamed },
  router: { create: () => ({ name: 'r' }), change: { routes: [] } },
  conntrack_helper: {
    create: () => ({ helper: 'tftp', protocol: 'udp', port: 69 + (count += 1) }),
    change: { port: 6900 },
    parameters: async (request) => ({ router_id: (await make(request, 'routers', 'router', {})).id }),
  },
  floatingip: { create: () => ({ floating_network_id: PUBLIC }), change: { description: 'changed' } },
  port_forwarding: {
    async create(request) {
      const port = await routedPort(request);
      count += 1;
      return {
        internal_port_id: port.id,
        internal_ip_address: port.fixed_ips[0].ip_address,
        internal_port: 80,
        external_port: 8000 + count,
        protocol: 'tcp',
      };
    },
    change: { description: 'changed' },
    parameters: async (request) => ({
      floatingip_id: (await make(request, 'floatingips', 'floatingip', { floating_network_id: PUBLIC })).id,
    }),
  },
  security_group: { create: () => ({ name: 'g' }), change: renamed },
  security_group_rule: {
    create: async (request) => ({
      security_group_id: (await make(request, 'security-groups', 'security_group', {})).id,
      ...ingress,
    }),
  },
  default_security_group_rule: {
    create: () => ({ ...ingress, used_in_default_sg: false, used_in_non_default_sg: true }),
  },
  rbac_policy: {
    create: async (request) => ({
      object_type: 'network',
      object_id: await networkId(request),
      action: 'access_as_shared',
      target_tenant: PUBLIC,
    }),
    change: { target_tenant: '*' },
  },
  trunk: {
    create: async (request) => ({
      port_id: (await make(request, 'ports', 'port', { network_id: await networkId(request) })).id,
    }),
    change: renamed,
  },
  policy: { create: () => ({ name: 'q' }), change: renamed },
  bandwidth_limit_rule: ofPolicy({ max_kbps: 1 }, { max_kbps: 2 }),
  dscp_marking_rule: ofPolicy({ dscp_mark: 8 }, { dscp_mark: 10 }),
  minimum_bandwidth_rule: ofPolicy({ min_kbps: 1 }, { min_kbps: 2 }),
  packet_rate_limit_rule: ofPolicy({ max_kpps: 1 }, { max_kpps: 2 }),
  minimum_packet_rate_rule: ofPolicy({ min_kpps: 1 }, { min_kpps: 2 }),
  segment: {
    create: async (request) => ({ network_id: await networkId(request), network_type: 'geneve' }),
    change: renamed,
  },
  network_segment_range: { create: () => ({ network_type: 'vxlan', minimum: 1, maximum: 9 }), change: renamed },
  metering_label: { create: () => ({ name: 'm' }) },
  metering_label_rule: {
    create: async (request) => ({
      metering_label_id: (await make(request, 'metering/metering-labels', 'metering_label', {})).id,
      ...ingress,
      remote_ip_prefix: `10.${++count % 200}.0.0/24`,
    }),
  },
  flavor: { create: () => ({ service_type: 'L3_ROUTER_NAT' }), change: renamed },
  service_profile: { create: () => ({ metainfo: '{}' }), change: { description: 'changed' } },
  bgp_speaker: { create: () => ({ local_as: 64512, ip_version: 4 }), change: renamed },
  bgp_peer: { create: () => ({ peer_ip: '192.0.2.1', remote_as: 64512, auth_type: 'none' }), change: renamed },
  tap_mirror: {
    create: async (request) => ({
      port_id: (await make(request, 'ports', 'port', { network_id: await networkId(request) })).id,
      directions: { IN: 101 },
      remote_ip: '192.0.2.1',
      mirror_type: 'gre',
    }),
    change: renamed,
  },
};

export interface NetworkFact extends ResourceFact {
  /** The parameters that filter lists. */
  readonly filters?: readonly string[];
  /** The fields by which lists can be sorted. */
  readonly sortKeys?: readonly string[];
  /** Fields that only administrators see. */
  readonly administrator?: readonly string[];
  /** Fields that a member cannot set, with an example value of each. */
  readonly restricted?: Readonly<Record<string, unknown>>;
}

export const facts: Readonly<Record<string, NetworkFact>> = readFacts('network').resources;

/** Starts a cloud, and returns a function that sends requests as a member. */
export async function asMember(): Promise<SendRequest> {
  const cloud = await cloudUnderTest();
  const send = clientOf(cloud, cloud.token('demo', 'demo'));
  return (method, path, body) => send(method, `/network${path}`, body);
}
