import type { Resource } from '../description/resource.js';

export const availabilityZoneDocs: Resource = {
  tag: 'availability-zones',
  about: 'Zones that users choose a place by. They come from aggregates; hosts in none are in the default zone.',
  operations: {
    'GET /os-availability-zone': [
      'listAvailabilityZones',
      'The zones that servers can be put into, and whether each has a host that is up.',
    ],
    'GET /os-availability-zone/detail': [
      'listAvailabilityZonesDetail',
      'The zones with their hosts and services, the internal zone included; for administrators.',
    ],
  },
  fields: {
    availabilityZoneInfo: 'The zones',
    zoneName: 'Name of the zone',
    zoneState: 'State of the zone',
    'zoneState.available': 'Whether a host of the zone is up and enabled',
    hosts: 'Services by host and program; null in the short list, and for zones that are not available',
    'hosts.*.*.available': 'Whether the service is up',
    'hosts.*.*.active': 'Whether the service is enabled',
    'hosts.*.*.updated_at': 'When the service last reported, UTC with microseconds; null if it never did',
  },
};
