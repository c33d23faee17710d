import type { Resource } from '../reference/resource.js';

export const availabilityZoneDocs: Resource = {
  tag: 'availability-zones',
  about:
    'Availability zones: logical groups of hosts that users can select. Aggregates define them; other hosts belong to the default zone.',
  operations: {
    'GET /os-availability-zone': [
      'listAvailabilityZones',
      'Lists the availability zones for servers. A zone is available if at least one of its hosts is up and enabled.',
    ],
    'GET /os-availability-zone/detail': [
      'listAvailabilityZonesDetail',
      'Lists all availability zones, including the internal zone, with their hosts and services.',
    ],
  },
  fields: {
    availabilityZoneInfo: 'The list of availability zones.',
    zoneName: 'Name of the availability zone.',
    zoneState: 'State of the availability zone.',
    'zoneState.available': 'Whether at least one host of the zone is up and enabled.',
    hosts: 'Services by host name and binary. Null in the list without details, and for unavailable zones.',
    'hosts.*.*.available': 'Whether the service is up.',
    'hosts.*.*.active': 'Whether the service is enabled.',
    'hosts.*.*.updated_at':
      'Time of the last heartbeat of the service, in UTC with microseconds. Null before the first heartbeat.',
  },
};
