import { operation } from '../operation.js';
import { availabilityZone, availabilityZoneDetail } from '../views/availability-zone.js';

export const availabilityZoneOperations = [
  operation({
    method: 'GET',
    path: '/os-availability-zone',
    summary: 'List availability zones',
    policy: 'os_compute_api:os-availability-zone:list',
    status: 200,
    reply: { availabilityZoneInfo: [availabilityZone] },
    run: async ({ engine }) => ({ availabilityZoneInfo: await engine.zones.list() }),
  }),
  operation({
    method: 'GET',
    path: '/os-availability-zone/detail',
    summary: 'List availability zones with details',
    policy: 'os_compute_api:os-availability-zone:detail',
    status: 200,
    reply: { availabilityZoneInfo: [availabilityZoneDetail] },
    run: async ({ engine }) => ({ availabilityZoneInfo: await engine.zones.list({ internal: true }) }),
  }),
];
