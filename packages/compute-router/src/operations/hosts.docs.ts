import { resource } from '../reference/resource.js';

export const hostDocs = resource({
  tag: 'hosts',
  parameters: { id: 'Name of the host.' },
  when: { 501: 'The driver of the host does not support the operation.' },
  fields: {
    'query.zone': 'Filters hosts by availability zone.',
    hosts: 'The list of hosts, with one item per service.',
    host_name: 'Name of the host.',
    service: 'Service on the host, such as `compute`, `scheduler` or `conductor`.',
    zone: 'Availability zone of the host. `internal` for hosts without servers.',
    host: 'Name of the host. In the details of a host: the list of capacity and usage records.',
    'host.resource': 'A capacity or usage record.',
    'resource.host': 'Name of the host.',
    'resource.project': 'Subject of the record: `(total)`, `(used_now)`, `(used_max)`, or the ID of a project.',
    'resource.cpu': 'Number of CPUs.',
    'resource.memory_mb': 'Memory, in MiB.',
    'resource.disk_gb': 'Disk, in GiB.',
    'body.status': '`enable` or `disable`. The scheduler does not select disabled hosts.',
    status: 'Status of the host: `enabled` or `disabled`.',
    'body.maintenance_mode': '`enable` starts maintenance mode, `disable` ends it.',
    maintenance_mode: 'Maintenance mode of the host: `on_maintenance` or `off_maintenance`.',
    power_action: 'Executed power action: `reboot`, `shutdown` or `startup`.',
  },
});
