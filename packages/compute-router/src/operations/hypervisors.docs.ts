import type { Resource } from '../description/resource.js';

export const hypervisorDocs: Resource = {
  tag: 'hypervisors',
  about: 'The machines that run servers, with what they have and what is taken of it.',
  parameters: {
    id: 'Id of the hypervisor: a number up to 2.52, a UUID from 2.53 on; for search and servers a part of its name',
  },
  when: { 501: 'The driver of the host does not tell' },
  operations: {
    'GET /os-hypervisors': [
      'listHypervisors',
      'Ids, names and states of all hypervisors. From 2.53 on a part of the name can be searched for and servers be shown with them, which took operations of their own before.',
    ],
    'GET /os-hypervisors/detail': [
      'listHypervisorsDetail',
      'All hypervisors with their figures. From 2.88 on figures that the placement service knows better are gone.',
    ],
    'GET /os-hypervisors/statistics': [
      'showHypervisorStatistics',
      'Sums over all hypervisors whose service is enabled. Gone in 2.88: the sums misled where resources are shared or overcommitted, and placement knows them better.',
    ],
    'GET /os-hypervisors/{id}': [
      'showHypervisor',
      'One hypervisor with its figures. From 2.88 on with its uptime, which was an operation of its own before.',
    ],
    'GET /os-hypervisors/{id}/search': [
      'searchHypervisors',
      'Hypervisors whose name contains a text. From 2.53 on a query parameter of the list does it.',
    ],
    'GET /os-hypervisors/{id}/servers': [
      'listHypervisorServers',
      'Hypervisors whose name contains a text, with their servers. From 2.53 on query parameters of the list do it.',
    ],
    'GET /os-hypervisors/{id}/uptime': [
      'showHypervisorUptime',
      'How long a hypervisor has run. From 2.88 on the hypervisor itself shows it.',
      { 400: 'The host is down, or its driver does not tell' },
    ],
  },
  fields: {
    'query.with_servers': 'Whether servers are shown with their hypervisors. New in 2.53',
    'query.hypervisor_hostname_pattern':
      'Only hypervisors whose name contains this text; not together with paging. New in 2.53',
    hypervisors: 'The hypervisors of this page',
    hypervisors_links: 'Link to the next page; absent on the last one. New in 2.33',
    hypervisor: 'A hypervisor',
    hypervisor_statistics: 'Sums over all hypervisors',
    count: 'Number of hypervisors',
    id: 'Id of the hypervisor: a number up to 2.52, a UUID from 2.53 on, since numbers repeat across cells',
    hypervisor_hostname: 'Name by which the hypervisor calls its machine',
    state: '`up` if its service reports, else `down`',
    status: '`enabled` if the scheduler may use it, else `disabled`',
    hypervisor_type: 'Kind of hypervisor, such as `QEMU`',
    hypervisor_version: 'Version of the hypervisor as one number',
    host_ip: 'Address of the machine',
    service: 'The compute service that drives it',
    'service.id': 'Id of the service: a number up to 2.52, a UUID from 2.53 on',
    'service.host': 'Name of the host that the service runs on',
    'service.disabled_reason': 'Why the service was disabled, or null',
    servers: 'Servers on it. From 2.53 on only where they are asked for, from 2.75 on an empty list for none',
    'servers.uuid': 'Id of a server, a UUID',
    'servers.name': 'Name by which the hypervisor knows the server, not the one that its owner gave it',
    cpu_info:
      'Model, topology and features of the processors: a text of JSON up to 2.27, an object from 2.28 on. Gone in 2.88',
    vcpus: 'Processors there are. Gone in 2.88, as placement knows better',
    vcpus_used: 'Virtual processors of all servers together; may be more than there are. Gone in 2.88',
    memory_mb: 'Memory there is, in MiB. Gone in 2.88',
    memory_mb_used: 'Memory taken by servers and by the machine itself, in MiB. Gone in 2.88',
    free_ram_mb: 'Memory left, in MiB; negative where more is promised than there is. Gone in 2.88',
    local_gb: 'Disk there is, in GiB. Gone in 2.88',
    local_gb_used: 'Disk promised to servers, in GiB. Gone in 2.88',
    free_disk_gb: 'Disk not promised, in GiB; may be negative. Gone in 2.88',
    disk_available_least:
      'Disk that is free even if all images grow to their full size, in GiB; null if unknown. Gone in 2.88',
    current_workload: 'Tasks under way, such as builds and migrations. Gone in 2.88',
    running_vms: 'Servers on it, running or not. Gone in 2.88',
    uptime: 'What the machine says about how long it has run and how busy it is, for people; null where it is unknown',
  },
};
