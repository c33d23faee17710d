/**
 * The most expensive requests of an administrator for each read operation, by `METHOD path`. A string instead of
 * requests is the reason why the operation is not measured. `params` and words in braces in `query` are names of values
 * that `operation-cloud.mjs` returns; `version` replaces the newest version at which the operation exists; `subject`
 * distinguishes requests to the same path. `reason` says why the request may miss its budget, and `database` why the
 * CPU time of the database may grow.
 */

const CHANGES = 'it changes the host';
const REMOVED = 'it always returns 410';
const PAGE = 'the response is a page of 1,000';
const UNPAGED = 'the list has no pages before 2.59, and contains ten times as many migrations';
const HOSTED = 'the response contains all servers of the listed hosts, which have ten times as many';
const SUMMED = 'sums the records of all servers of a host by project; the host has ten times as many';
const TAGGED = 'tags are only in the JSON text of records, so the texts of all records are searched';
const CHANGED = 'reads and sorts all servers that match, because no index has both their changes and their order';

const anyServer = [{ params: { server_id: 'anyServer' } }];
const part = (id) => [{ params: { server_id: 'connected', id } }];
const plain = [{}];

const lists = [
  { query: 'all_tenants=1&limit=1000', reason: PAGE },
  { query: 'all_tenants=1&limit=1000&marker={anyServer}', reason: PAGE },
  { query: 'all_tenants=1&limit=1000&host={host}', reason: PAGE },
  { query: 'all_tenants=1&limit=1000&project_id={project}', reason: PAGE },
  { query: 'all_tenants=1&limit=1000&deleted=1' },
  { query: 'all_tenants=1&limit=100&status=ACTIVE' },
  { query: 'all_tenants=1&limit=100&sort_key=display_name' },
  { query: 'all_tenants=1&limit=20&name=r-0000' },
  { query: 'all_tenants=1&limit=20&name=absent' },
  { query: 'all_tenants=1&limit=20&ip=203.0.113.99' },
  { query: 'all_tenants=1&limit=20&tags=absent', database: TAGGED },
  { query: 'all_tenants=1&limit=20&changes-since=2001-01-01T00:00:00Z', reason: CHANGED },
];

export const requests = {
  'GET /flavors': [{ query: 'is_public=None&limit=1000', reason: PAGE }],
  'GET /flavors/detail': [{ query: 'is_public=None&limit=1000', reason: PAGE }],
  'GET /flavors/{id}': [{ params: { id: 'flavor' } }],
  'GET /flavors/{flavor_id}/os-flavor-access': [{ params: { flavor_id: 'flavor' } }],
  'GET /flavors/{flavor_id}/os-extra_specs': [{ params: { flavor_id: 'flavor' } }],
  'GET /flavors/{flavor_id}/os-extra_specs/{id}': [{ params: { flavor_id: 'flavor', id: 'colour' } }],
  'GET /os-keypairs': [{ query: 'limit=1000', reason: PAGE }, { query: 'user_id={user}' }],
  'GET /os-keypairs/{id}': [{ params: { id: 'keypair' } }],
  'GET /os-server-groups': [{ query: 'all_projects=1&limit=100' }, { query: 'all_projects=1', reason: PAGE }, {}],
  'GET /os-server-groups/{id}': [{ params: { id: 'group' } }],
  'GET /os-aggregates': plain,
  'GET /os-aggregates/{id}': [{ params: { id: 'aggregate' } }],
  'GET /os-services': plain,
  'GET /os-hypervisors': [{}, { query: 'with_servers=true&limit=10', reason: HOSTED }],
  'GET /os-hypervisors/detail': [{}, { version: '2.87' }, { query: 'with_servers=true&limit=10', reason: HOSTED }],
  'GET /os-hypervisors/statistics': plain,
  'GET /os-hypervisors/{id}': [
    { params: { id: 'hypervisor' } },
    { params: { id: 'hypervisor' }, query: 'with_servers=1', reason: HOSTED },
  ],
  'GET /os-hypervisors/{id}/search': [{ params: { id: 'anyPart' } }],
  'GET /os-hypervisors/{id}/servers': [{ params: { id: 'host' }, reason: HOSTED }],
  'GET /os-hypervisors/{id}/uptime': [{ params: { id: 'hypervisor' } }],
  'GET /os-hosts': plain,
  'GET /os-hosts/{id}': [{ params: { id: 'host' }, reason: SUMMED }],
  'GET /os-hosts/{id}/reboot': CHANGES,
  'GET /os-hosts/{id}/shutdown': CHANGES,
  'GET /os-hosts/{id}/startup': CHANGES,
  'GET /os-availability-zone': plain,
  'GET /os-availability-zone/detail': plain,
  'GET /servers': lists,
  'GET /servers/detail': lists,
  'GET /servers/{id}': [{ params: { id: 'anyServer' } }],
  'GET /servers/{server_id}/os-instance-actions': [
    { params: { server_id: 'connected' }, query: 'limit=1000', reason: PAGE },
    { params: { server_id: 'connected' }, subject: 'a server with 1,000 actions' },
    ...anyServer,
  ],
  'GET /servers/{server_id}/os-instance-actions/{id}': part('action'),
  'GET /os-migrations': [
    { version: '2.58', reason: UNPAGED, database: UNPAGED },
    { query: 'limit=1000', reason: PAGE },
    {},
    { query: 'host={host}&limit=100' },
    { query: 'status=nothing' },
    { query: 'status=error&limit=100&changes-since=2001-01-01T00:00:00Z' },
    { query: 'instance_uuid={anyServer}' },
    { query: 'project_id={project}&limit=100' },
  ],
  'GET /servers/{server_id}/migrations': anyServer,
  'GET /servers/{server_id}/migrations/{id}': 'a look-up by key; only while a live migration is in progress',
  'GET /servers/{server_id}/metadata': anyServer,
  'GET /servers/{server_id}/metadata/{id}': part('colour'),
  'GET /servers/{server_id}/tags': anyServer,
  'GET /servers/{server_id}/tags/{id}': part('tag'),
  'GET /servers/{server_id}/ips': [{ params: { server_id: 'connected' } }],
  'GET /servers/{server_id}/ips/{id}': part('networkLabel'),
  'GET /servers/{server_id}/os-server-password': anyServer,
  'GET /servers/{server_id}/os-security-groups': [{ params: { server_id: 'connected' } }],
  'GET /servers/{server_id}/diagnostics': anyServer,
  'GET /servers/{server_id}/topology': anyServer,
  'GET /servers/{server_id}/os-interface': [{ params: { server_id: 'connected' } }],
  'GET /servers/{server_id}/os-interface/{id}': part('port'),
  'GET /servers/{server_id}/os-virtual-interfaces': [{ params: { server_id: 'connected' } }],
  'GET /servers/{server_id}/os-volume_attachments': [{ params: { server_id: 'connected' } }],
  'GET /servers/{server_id}/os-volume_attachments/{id}': part('volume'),
  'GET /servers/{server_id}/shares': anyServer,
  'GET /servers/{server_id}/shares/{id}': 'it reads the record of the server, like the list of shares',
  'GET /os-console-auth-tokens/{id}': [{ params: { id: 'token' } }],
  'GET /os-instance_usage_audit_log': plain,
  'GET /os-instance_usage_audit_log/{id}': [{ params: { id: 'auditTime' } }],
  'GET /versions/{id}': [{ params: { id: 'apiVersion' } }],
  'GET /extensions': plain,
  'GET /extensions/{id}': [{ params: { id: 'extension' } }],
  'GET /limits': [{}, { query: 'tenant_id={project}' }],
  'GET /os-quota-class-sets/{id}': [{ params: { id: 'quotaClass' } }],
  'GET /os-quota-sets/{id}': [{ params: { id: 'project' } }],
  'GET /os-quota-sets/{id}/detail': [
    { params: { id: 'project' } },
    { params: { id: 'project' }, query: 'user_id={user}' },
  ],
  'GET /os-quota-sets/{id}/defaults': [{ params: { id: 'project' } }],
  'GET /os-simple-tenant-usage': [
    { query: 'detailed=1&limit=1000&start=2001-01-01T00:00:00', reason: PAGE },
    { query: 'start=2001-01-01T00:00:00&limit=1000&marker={anyServer}', reason: PAGE },
    { query: 'detailed=1&start=2001-01-01T00:00:00', version: '2.39', reason: PAGE },
  ],
  'GET /os-simple-tenant-usage/{id}': [{ params: { id: 'project' }, query: 'start=2001-01-01T00:00:00' }],
  'GET /images': plain,
  'GET /images/detail': plain,
  'GET /images/{id}': [{ params: { id: 'image' } }],
  'GET /images/{image_id}/metadata': [{ params: { image_id: 'image' } }],
  'GET /images/{image_id}/metadata/{id}': [{ params: { image_id: 'image', id: 'colour' } }],
  'GET /os-networks': plain,
  'GET /os-networks/{id}': [{ params: { id: 'network' } }],
  'GET /os-tenant-networks': plain,
  'GET /os-tenant-networks/{id}': [{ params: { id: 'network' } }],
  'GET /os-floating-ip-pools': plain,
  'GET /os-floating-ips': plain,
  'GET /os-floating-ips/{id}': [{ params: { id: 'floating' } }],
  'GET /os-floating-ips-bulk': plain,
  'GET /os-floating-ips-bulk/{id}': [{ params: { id: 'hostOfAddress' } }],
  'GET /os-floating-ip-dns': plain,
  'GET /os-floating-ip-dns/{domain_id}/entries/{id}': 'no domain has entries',
  'GET /os-fixed-ips/{id}': [{ params: { id: 'address' } }],
  'GET /os-security-groups': [{}, { query: 'all_tenants=1&limit=1000', reason: PAGE }],
  'GET /os-security-groups/{id}': [{ params: { id: 'security' } }],
  'GET /os-volumes': [{ query: 'limit=1000' }],
  'GET /os-volumes/detail': [{ query: 'limit=1000' }],
  'GET /os-volumes/{id}': [{ params: { id: 'volume' } }],
  'GET /os-snapshots': [{ query: 'limit=1000' }],
  'GET /os-snapshots/detail': [{ query: 'limit=1000' }],
  'GET /os-snapshots/{id}': [{ params: { id: 'snapshot' } }],
  'GET /os-baremetal-nodes': plain,
  'GET /os-baremetal-nodes/{id}': 'no bare metal node exists',
};

const removed = [
  ...['/os-agents', '/os-cells', '/os-cells/capacities', '/os-cells/detail', '/os-cells/info', '/os-cells/{id}'],
  ...['/os-cells/{id}/capacities', '/os-certificates/{id}', '/os-cloudpipe', '/os-fping', '/os-fping/{id}'],
  ...['/os-security-group-default-rules', '/os-security-group-default-rules/{id}'],
  ...['/servers/{server_id}/consoles', '/servers/{server_id}/consoles/{id}'],
];
for (const path of removed) requests[`GET ${path}`] = REMOVED;
for (const path of ['', '/detail', '/{id}']) requests[`GET /os-volumes_boot${path}`] = 'another path of /servers';
