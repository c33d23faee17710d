import { get, openGet, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';

/** The names of the supported extensions, by alias. */
const EXTENSION_NAMES: Readonly<Record<string, string>> = {
  'address-group': 'Address group',
  'address-scope': 'Address scope',
  agent: 'agent',
  'allowed-address-pairs': 'Allowed Address Pairs',
  'auto-allocated-topology': 'Auto Allocated Topology Services',
  availability_zone: 'Availability Zone',
  binding: 'Port Binding',
  'default-subnetpools': 'Default Subnetpools',
  'dns-integration': 'DNS Integration',
  'dns-domain-ports': 'dns_domain for ports',
  'empty-string-filtering': 'Empty String Filtering Extension',
  'expose-port-forwarding-in-fip': 'Expose Port Forwarding In Fip',
  'external-net': 'Neutron external network',
  extra_dhcp_opt: 'Neutron Extra DHCP options',
  extraroute: 'Neutron Extra Route',
  'extraroute-atomic': 'Atomically add/remove extra routes',
  'ext-gw-mode': 'Neutron L3 Configurable external gateway mode',
  'filter-validation': 'Filter parameters validation',
  'fip-port-details': 'Floating IP Port Details Extension',
  flavors: 'Neutron Service Flavors',
  'floating-ip-port-forwarding': 'Floating IP Port Forwarding',
  'floating-ip-port-forwarding-detail': 'Floating IP Port Forwarding Detail',
  'ip-substring-filtering': 'IP address substring filtering',
  metering: 'Neutron Metering',
  'multi-provider': 'Multi Provider Network',
  'net-mtu': 'Network MTU',
  'net-mtu-writable': 'Network MTU (writable)',
  'network-ip-availability': 'Network IP Availability',
  'network-segment-range': 'Neutron Network Segment Range',
  network_availability_zone: 'Network Availability Zone',
  pagination: 'Pagination support',
  'port-security': 'Port Security',
  'port-trusted-vif': 'Port trusted vif',
  'project-id': 'project_id field enabled',
  provider: 'Provider Network',
  qos: 'Quality of Service',
  'qos-default': 'QoS default policy',
  quotas: 'Quota management support',
  quota_details: 'Quota details management support',
  'rbac-address-group': 'Add address_group type to RBAC',
  'rbac-address-scope': 'Add address_scope type to RBAC',
  'rbac-policies': 'RBAC Policies',
  'rbac-subnetpool': 'Add subnetpool type to RBAC',
  'revision-if-match': 'If-Match constraints based on revision_number',
  router: 'Neutron L3 Router',
  'security-group': 'security-group',
  'security-groups-normalized-cidr': 'Normalized CIDR field for security group rules',
  segment: 'Segment',
  'service-type': 'Neutron Service Type Management',
  'sort-key-validation': 'Sort keys validation',
  sorting: 'Sorting support',
  'standard-attr-description': 'standard-attr-description',
  'standard-attr-revisions': 'Resource revision numbers',
  'standard-attr-tag': 'Tag support for resources with standard attribute',
  'standard-attr-timestamp': 'Resource timestamps',
  'stateful-security-group': 'Stateful security group',
  'subnet-service-types': 'Subnet service types',
  subnet_allocation: 'Subnet Allocation',
  trunk: 'Trunk Extension',
  'trunk-details': 'Trunk port details',
  'vlan-transparent': 'Vlantransparent',
};

const extensions = Object.entries(EXTENSION_NAMES).map(([alias, name]) => ({
  alias,
  name,
  description: name,
  updated: '2016-01-01T00:00:00-00:00',
  links: [],
}));

/** Returns the routes for versions, extensions and availability zones, which clients read first. */
export function discoveryRoutes(): readonly Route[] {
  return [
    openGet('/', ({ base }) => ({
      versions: [{ id: 'v2.0', status: 'CURRENT', links: [{ rel: 'self', href: `${base}/v2.0/` }] }],
    })),
    get('/v2.0', ({ base }) => ({
      resources: ['network', 'subnet', 'subnetpool', 'port'].map((name) => ({
        name,
        collection: `${name}s`,
        links: [{ rel: 'self', href: `${base}/v2.0/${name}s` }],
      })),
    })),
    get('/v2.0/extensions', () => ({ extensions })),
    get('/v2.0/extensions/:alias', (call) => {
      const extension = extensions.find(({ alias }) => alias === call.param('alias'));
      if (!extension) throw notFound(`Extension with alias ${call.param('alias')} does not exist`, 'HTTPNotFound');
      return { extension };
    }),
    get('/v2.0/availability_zones', () => ({
      availability_zones: ['network', 'router'].map((resource) => ({ name: 'nova', resource, state: 'available' })),
    })),
    get('/v2.0/service-providers', () => ({ service_providers: [] })),
  ];
}
