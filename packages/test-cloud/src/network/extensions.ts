import { get, openGet, type Route } from '../service/route.js';
import { notFound } from '../service/service-error.js';

/** Extensions by alias, as far as this service has what they name. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  agent: 'agent',
  'allowed-address-pairs': 'Allowed Address Pairs',
  availability_zone: 'Availability Zone',
  binding: 'Port Binding',
  'default-subnetpools': 'Default Subnetpools',
  'dns-integration': 'DNS Integration',
  'external-net': 'Neutron external network',
  'ext-gw-mode': 'Neutron L3 Configurable external gateway mode',
  'net-mtu': 'Network MTU',
  'net-mtu-writable': 'Network MTU (writable)',
  network_availability_zone: 'Network Availability Zone',
  pagination: 'Pagination support',
  'port-security': 'Port Security',
  'project-id': 'project_id field enabled',
  provider: 'Provider Network',
  quotas: 'Quota management support',
  quota_details: 'Quota details management support',
  router: 'Neutron L3 Router',
  'security-group': 'security-group',
  sorting: 'Sorting support',
  'standard-attr-description': 'standard-attr-description',
  'standard-attr-revisions': 'Resource revision numbers',
  'standard-attr-tag': 'Tag support for resources with standard attribute',
  'standard-attr-timestamp': 'Resource timestamps',
};

const extensions = Object.entries(EXTENSIONS).map(([alias, name]) => ({
  alias,
  name,
  description: name,
  updated: '2016-01-01T00:00:00-00:00',
  links: [],
}));

const COLLECTIONS = ['network', 'subnet', 'port', 'router', 'floatingip', 'security-group', 'security-group-rule'];

/** Versions, extensions, zones and agents: what clients look at before they use the service. */
export function discoveryRoutes(): readonly Route[] {
  return [
    openGet('/', ({ base }) => ({
      versions: [{ id: 'v2.0', status: 'CURRENT', links: [{ rel: 'self', href: `${base}/v2.0/` }] }],
    })),
    openGet('/v2.0', ({ base }) => ({
      resources: COLLECTIONS.map((name) => ({
        name,
        collection: `${name}s`,
        links: [{ rel: 'self', href: `${base}/v2.0/${name}s` }],
      })),
    })),
    get('/v2.0/extensions', () => ({ extensions })),
    get('/v2.0/extensions/:alias', (call) => {
      const extension = extensions.find(({ alias }) => alias === call.param('alias'));
      if (!extension) throw notFound('Extension with the alias could not be found.', 'ExtensionNotFound');
      return { extension };
    }),
    get('/v2.0/availability_zones', () => ({
      availability_zones: ['network', 'router'].map((resource) => ({ name: 'nova', resource, state: 'available' })),
    })),
    get('/v2.0/agents', (call) => {
      call.requireAdmin();
      return { agents: [] };
    }),
    get('/v2.0/subnetpools', () => ({ subnetpools: [] })),
    get('/v2.0/address-scopes', () => ({ address_scopes: [] })),
    get('/v2.0/rbac-policies', () => ({ rbac_policies: [] })),
  ];
}
