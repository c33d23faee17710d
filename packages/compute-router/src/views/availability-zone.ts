import type { ServiceState, Zone } from '@apistrata/compute-engine/api';
import { field, type ViewShape, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';

const named: ViewShape<Zone, ComputeCall> = {
  zoneName: field(z.string(), ({ name }) => name),
  zoneState: field(z.strictObject({ available: z.boolean() }), ({ available }) => ({ available })),
};

const serviceState = z.strictObject({
  available: z.boolean(),
  active: z.boolean(),
  updated_at: type.nullableTime,
});

/** By host, then by binary. */
const hosts = z.record(z.string(), z.record(z.string(), serviceState)).nullable();

function stateOf({ up, service, lastSeenAt }: ServiceState): z.infer<typeof serviceState> {
  return { available: up, active: !service.disabled, updated_at: type.showNullableTime(lastSeenAt) };
}

function hostsOf({ available, services }: Zone): z.infer<typeof hosts> {
  if (!available) return null;
  const shown: Record<string, Record<string, z.infer<typeof serviceState>>> = {};
  for (const state of services) {
    const { host, binary } = state.service;
    shown[host] = { ...shown[host], [binary]: stateOf(state) };
  }
  return shown;
}

export const availabilityZone = view<Zone, ComputeCall>({ ...named, hosts: field(z.null(), () => null) });

export const availabilityZoneDetail = view<Zone, ComputeCall>({ ...named, hosts: field(hosts, hostsOf) });
