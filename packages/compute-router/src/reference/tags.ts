/** The description of each OpenAPI tag. */
export const tagDescriptions = {
  flavors:
    'Flavors: named combinations of virtual CPUs, memory and disk for servers, with extra specs for the scheduler and the driver.',
  keypairs: 'Key pairs: named public keys of a user. The public key is injected into servers for login.',
  'server-groups': 'Server groups: the scheduler places the servers in a group on the same host or on different hosts.',
  aggregates:
    'Host aggregates: groups of hosts with metadata for the scheduler. If an aggregate has an availability zone, its hosts belong to this zone.',
  services: 'Services: the processes of the cloud, with their state and whether the scheduler can select their hosts.',
  hypervisors: 'Hypervisors that run servers, with their capacity and usage.',
  hosts: 'Hosts by name. The services and hypervisors resources replace this resource.',
  'availability-zones':
    'Availability zones: logical groups of hosts that users can select. Aggregates define zones; hosts without a zone belong to the default zone.',
  servers: 'Servers: virtual machines and the actions on them.',
  'instance-actions':
    'Records of the actions on a server: which user requested each action, when, and with what result.',
  migrations:
    "Migrations of servers between hosts: a list of all migrations, and operations on a server's ongoing live migrations.",
  'server-metadata': 'Server metadata: key-value pairs that users set.',
  'server-tags': 'Server tags, by which server lists can be filtered.',
  'server-addresses': 'IP addresses of servers, by network.',
  'server-passwords':
    'Passwords that guests generate, encrypt with the public key of the server, and post to the metadata service.',
  'server-security-groups': 'Security groups that are assigned to the ports of a server.',
  consoles: 'Graphical and serial consoles of servers, and the connection data that console proxies need.',
  diagnostics: 'Diagnostic data and NUMA topology of servers.',
  interfaces: 'Network interfaces of servers. Each interface has a port in the networking service.',
  'volume-attachments': 'Volumes that are attached to servers.',
  shares: 'Shared file systems that are attached to servers.',
  'external-events': 'Events about servers that other services report, such as a plugged port or an extended volume.',
  'assisted-volume-snapshots': 'Volume snapshots that the hypervisor must create at the request of the volume service.',
  usage: 'Resource usage of projects in a period, for billing.',
  'usage-audit-log': 'Progress and results of the usage audits that hosts run at the end of each audit period.',
  limits: 'Limits of a project and their current usage.',
  'quota-sets': 'Quotas of projects, and of users in a project.',
  'quota-classes': 'Quotas by quota class. The class `default` contains the default quotas for all projects.',
  versions: 'Versions of the API.',
  extensions: 'Extensions from the time before microversions. All extensions are enabled.',
  proxies:
    'Operations that forward requests to the image, networking and volume services. Removed in 2.36, except for image metadata, which was removed in 2.39. Use the APIs of those services.',
  'volumes-boot':
    'Alias of the servers API, which dates from the time when booting from a volume was an extension. Removed in 2.103.',
  removed: 'Operations that were removed from all versions. They always return 410.',
} as const;

/** The name of an OpenAPI tag. */
export type Tag = keyof typeof tagDescriptions;
