import { resource } from '../reference/resource.js';

export const availabilityZoneDocs = resource({
  tag: 'availability-zones',
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
});
