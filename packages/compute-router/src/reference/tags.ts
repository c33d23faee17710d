/** Descriptions of all tags. */
export const tagDescriptions = {
  flavors:
    'Flavors: named combinations of virtual CPUs, memory and disk for servers, with extra specs for the scheduler and the driver.',
  keypairs: 'Key pairs: named public keys of a user. The public key is injected into servers for login.',
  'server-groups': 'Server groups: the scheduler places their servers on the same host or on different hosts.',
  aggregates:
    'Host aggregates: groups of hosts with metadata for the scheduler. An aggregate with an availability zone assigns its hosts to that zone.',
  services: 'Services: the processes of the cloud, with their state and whether the scheduler can select their hosts.',
  hypervisors: 'Hypervisors that run servers, with their capacity and usage.',
  hosts: 'Hosts by name. Replaced by services and hypervisors.',
  'availability-zones':
    'Availability zones: logical groups of hosts that users can select. Aggregates define them; other hosts belong to the default zone.',
  servers: 'Servers: virtual machines and the actions on them.',
  'instance-actions': 'Actions on a server: which user requested them, when, and with what result.',
  migrations:
    'Migrations of servers between hosts: the list of all migrations, and the live migrations in progress of a server.',
  'server-metadata': 'Metadata of servers: key-value pairs set by users.',
  'server-tags': 'Tags of servers, for filtering lists.',
  'server-addresses': 'IP addresses of servers by network.',
  'server-passwords': 'Passwords that guests generated and posted, encrypted with the public key of the server.',
  'server-security-groups': 'Security groups of the ports of a server.',
  consoles: 'Graphical and serial consoles of servers, and the connection data that console proxies need.',
  diagnostics: 'Diagnostics and NUMA topology of servers.',
  interfaces: 'Network interfaces of servers, each with a port.',
  'volume-attachments': 'Volumes that are attached to servers.',
  shares: 'Shared file systems that are attached to servers.',
  'external-events': 'Events that other services report for servers, such as a plugged port or an extended volume.',
  'assisted-volume-snapshots':
    'Volume snapshots that require the hypervisor. The volume service calls these operations.',
  usage: 'Usage of projects in a period, for billing.',
  'usage-audit-log': 'Progress of the usage audits that hosts run at the end of each audit period.',
  limits: 'Limits of a project and their current usage.',
  'quota-sets': 'Quotas of projects, and of users in a project.',
  'quota-classes': 'Quotas by class. The class `default` holds the default quotas of all projects.',
  versions: 'Versions of the API.',
  extensions: 'Extensions of the API before microversions. All extensions are enabled.',
  proxies:
    'Proxies for the image, networking and volume services. Removed in 2.36, and in 2.39 for image metadata. Use the APIs of those services.',
  'volumes-boot':
    'Alias of the servers API, from the time when booting from a volume was an extension. Removed in 2.103.',
  removed: 'Operations that were removed permanently. They return 410 at every version.',
} as const;

/** The name of a tag. */
export type Tag = keyof typeof tagDescriptions;
