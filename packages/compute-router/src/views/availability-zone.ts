import type { ServiceState, Zone } from '@apistrata/compute-engine/api';
import { type ViewShape, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';
import { alwaysNull, field, text } from './fields.js';

/** OpenAPI descriptions that several fields share. */
export const availabilityZoneTexts = {
  availabilityZoneInfo: 'The list of availability zones.',
  hosts:
    'States of the services in the zone, by host name and binary. Null in the list without details, and for unavailable zones.',
} as const;

const nameFields: ViewShape<Zone, ComputeCall> = {
  zoneName: text('Name of the availability zone.', ({ name }) => name),
  zoneState: field(
    'State of the availability zone.',
    z.strictObject({ available: z.boolean().describe('Whether at least one host in the zone is up and enabled.') }),
    ({ available }) => ({ available }),
  ),
};

const serviceState = z.strictObject({
  available: z.boolean().describe('Whether the service is up.'),
  active: z.boolean().describe('Whether the service is enabled.'),
  updated_at: type.nullableTime.describe(
    'Time of the last heartbeat of the service, in UTC with microsecond precision. Null before the first heartbeat.',
  ),
});

/** Schema for the states of services, by host name and binary. */
const hosts = z.record(z.string(), z.record(z.string(), serviceState)).nullable();

function stateOf({ up, service, lastSeenAt }: ServiceState): z.infer<typeof serviceState> {
  return { available: up, active: !service.disabled, updated_at: type.formatNullableTime(lastSeenAt) };
}

function hostsOf({ available, services }: Zone): z.infer<typeof hosts> {
  if (!available) return null;
  const shownHosts: Record<string, Record<string, z.infer<typeof serviceState>>> = {};
  for (const state of services) {
    const { host, binary } = state.service;
    shownHosts[host] = { ...shownHosts[host], [binary]: stateOf(state) };
  }
  return shownHosts;
}

export const availabilityZone = view<Zone, ComputeCall>({
  ...nameFields,
  hosts: alwaysNull(availabilityZoneTexts.hosts),
});

export const availabilityZoneDetail = view<Zone, ComputeCall>({
  ...nameFields,
  hosts: field(availabilityZoneTexts.hosts, hosts, hostsOf),
});
