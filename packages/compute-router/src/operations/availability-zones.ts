import { described } from '@apistrata/microversion/schema';
import { operation } from '../operation.js';
import { resource } from '../reference/resource.js';
import { availabilityZone, availabilityZoneDetail, availabilityZoneTexts } from '../views/availability-zone.js';

const availabilityZoneDocs = resource({
  tag: 'availability-zones',
});

export const availabilityZoneOperations = [
  operation({
    ...availabilityZoneDocs,
    name: 'listAvailabilityZones',
    method: 'GET',
    path: '/os-availability-zone',
    summary: 'List availability zones',
    description:
      'Lists the availability zones in which servers can be created. A zone is available if at least one of its hosts is up and enabled.',
    policy: 'os_compute_api:os-availability-zone:list',
    status: 200,
    reply: { availabilityZoneInfo: described(availabilityZoneTexts.availabilityZoneInfo, [availabilityZone]) },
    run: async ({ engine }) => ({ availabilityZoneInfo: await engine.zones.list() }),
  }),
  operation({
    ...availabilityZoneDocs,
    name: 'listAvailabilityZonesDetail',
    method: 'GET',
    path: '/os-availability-zone/detail',
    summary: 'List availability zones with details',
    description:
      'Lists all availability zones with their hosts and services, including the internal zone, in which servers cannot be created.',
    policy: 'os_compute_api:os-availability-zone:detail',
    status: 200,
    reply: { availabilityZoneInfo: described(availabilityZoneTexts.availabilityZoneInfo, [availabilityZoneDetail]) },
    run: async ({ engine }) => ({ availabilityZoneInfo: await engine.zones.list({ internal: true }) }),
  }),
];
