import type { Resource } from '../description/resource.js';

export const hostDocs: Resource = {
  tag: 'hosts',
  about: 'Hosts by name, up to 2.42; services and hypervisors tell and do the same.',
  parameters: { id: 'Name of the host' },
  when: { 501: 'The driver of the host cannot do it' },
  operations: {
    'GET /os-hosts': [
      'listHosts',
      'Hosts with the services that run there. Gone in 2.43, like all of this resource, since services and hypervisors overlap with it.',
    ],
    'GET /os-hosts/{id}': [
      'showHost',
      'What a host has, what is taken of it, and what of that by each project. Gone in 2.43.',
    ],
    'PUT /os-hosts/{id}': [
      'updateHost',
      'Enables or disables a host, or begins or ends its maintenance, where the driver can. Gone in 2.43.',
    ],
    'GET /os-hosts/{id}/reboot': [
      'rebootHost',
      'Reboots the machine of a host, where the driver can. A GET that acts, which is one reason why it is gone in 2.43.',
    ],
    'GET /os-hosts/{id}/shutdown': [
      'shutdownHost',
      'Shuts the machine of a host down, where the driver can. Gone in 2.43.',
    ],
    'GET /os-hosts/{id}/startup': ['startHost', 'Starts the machine of a host, where the driver can. Gone in 2.43.'],
  },
  fields: {
    'query.zone': 'Only hosts of this availability zone',
    hosts: 'The hosts, each once for every service on it',
    host_name: 'Name of the host',
    service: 'What runs there: `compute`, `scheduler`, `conductor` and so on',
    zone: 'Availability zone of the host; `internal` for hosts without servers',
    host: 'Name of the host; in its description a list of what it has and what is taken of it',
    'host.resource': 'One line of the account',
    'resource.host': 'Name of the host',
    'resource.project': '`(total)`, `(used_now)`, `(used_max)`, or the id of a project',
    'resource.cpu': 'Processors',
    'resource.memory_mb': 'Memory in MiB',
    'resource.disk_gb': 'Disk in GiB',
    'body.status': '`enable` to let the scheduler use the host, `disable` to keep it away',
    status: '`enabled` or `disabled`',
    'body.maintenance_mode': '`enable` to begin maintenance, `disable` to end it',
    maintenance_mode: '`on_maintenance` or `off_maintenance`',
    power_action: 'What was done: `reboot`, `shutdown` or `startup`',
  },
};
