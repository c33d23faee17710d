import type { ServiceState } from '@apistrata/compute-engine/api';
import { since, until } from '@apistrata/microversion';
import { field, type ViewShape, view } from '@apistrata/microversion/router';
import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';

/** Descriptions of fields that occur in several places. */
export const serviceTexts = {
  host: 'Name of the host that runs the service.',
  binary: 'Binary of the service, such as that of the compute service or the scheduler.',
  status:
    'Status of the service: `enabled` if the scheduler can select its host, `disabled` if an administrator disabled it. Since 2.69, `UNKNOWN` in lists if the cell is unreachable.',
  disabledReason: 'Reason why the service is disabled, or null.',
  forcedDown: 'Whether an administrator or a monitor marked the host as down, independent of heartbeats.',
  service: 'The service.',
  id: 'ID of the service: an integer until 2.52, a UUID since 2.53.',
} as const;

const text = (get: (state: ServiceState) => string) => field<ServiceState, ComputeCall, z.ZodString>(z.string(), get);

/** The known fields of a service whose host does not respond. */
const partial = view<ServiceState, ComputeCall>({
  binary: described(
    serviceTexts.binary,
    text(({ service }) => service.binary),
  ),
  host: described(
    serviceTexts.host,
    text(({ service }) => service.host),
  ),
  status: described(
    serviceTexts.status,
    field(z.literal('UNKNOWN'), () => 'UNKNOWN' as const),
  ),
});

const full: ViewShape<ServiceState, ComputeCall> = {
  id: [
    until(
      '2.52',
      described(
        serviceTexts.id,
        field(z.int(), ({ service: { seq } }) => seq),
      ),
    ),
    since(
      '2.53',
      described(
        serviceTexts.id,
        text(({ service: { id } }) => id),
      ),
    ),
  ],
  binary: described(
    serviceTexts.binary,
    text(({ service: { binary } }) => binary),
  ),
  host: described(
    serviceTexts.host,
    text(({ service: { host } }) => host),
  ),
  zone: described(
    'Availability zone of the host. `internal` for services that do not run servers.',
    text(({ zone }) => zone),
  ),
  status: described(
    serviceTexts.status,
    field(z.enum(['enabled', 'disabled']), ({ service: { disabled } }) => (disabled ? 'disabled' : 'enabled')),
  ),
  state: described(
    'State of the service: `up` if it sends heartbeats and is not forced down, otherwise `down`.',
    field(z.enum(['up', 'down']), ({ up }) => (up ? 'up' : 'down')),
  ),
  updated_at: described(
    'Time of the last heartbeat, in UTC with microseconds. Null before the first heartbeat.',
    field(type.nullableTime, ({ lastSeenAt }) => type.showNullableTime(lastSeenAt)),
  ),
  disabled_reason: described(
    serviceTexts.disabledReason,
    field(type.nullableText, ({ service: { disabledReason } }) => disabledReason),
  ),
  forced_down: since(
    '2.11',
    described(
      serviceTexts.forcedDown,
      field(z.boolean(), ({ service: { forcedDown } }) => forcedDown),
    ),
  ),
};

export const service = view<ServiceState, ComputeCall>(full);

/** In lists: all fields, or the known ones. */
export const listedService = view<ServiceState, ComputeCall>(full, {
  instead: since('2.69', { when: ({ reachable }) => !reachable, view: partial }),
});
