import type { ServiceState } from '@apistrata/compute-engine/api';
import { since, until } from '@apistrata/microversion';
import { field, type ViewShape, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import * as type from '../schemas/reply-types.js';

const text = (get: (state: ServiceState) => string) => field<ServiceState, ComputeCall, z.ZodString>(z.string(), get);

/** The known fields of a service whose host does not respond. */
const partial = view<ServiceState, ComputeCall>({
  binary: text(({ service }) => service.binary),
  host: text(({ service }) => service.host),
  status: field(z.literal('UNKNOWN'), () => 'UNKNOWN' as const),
});

const full: ViewShape<ServiceState, ComputeCall> = {
  id: [
    until(
      '2.52',
      field(z.int(), ({ service: { seq } }) => seq),
    ),
    since(
      '2.53',
      text(({ service: { id } }) => id),
    ),
  ],
  binary: text(({ service: { binary } }) => binary),
  host: text(({ service: { host } }) => host),
  zone: text(({ zone }) => zone),
  status: field(z.enum(['enabled', 'disabled']), ({ service: { disabled } }) => (disabled ? 'disabled' : 'enabled')),
  state: field(z.enum(['up', 'down']), ({ up }) => (up ? 'up' : 'down')),
  updated_at: field(type.nullableTime, ({ lastSeenAt }) => type.showNullableTime(lastSeenAt)),
  disabled_reason: field(type.nullableText, ({ service: { disabledReason } }) => disabledReason),
  forced_down: since(
    '2.11',
    field(z.boolean(), ({ service: { forcedDown } }) => forcedDown),
  ),
};

export const service = view<ServiceState, ComputeCall>(full);

/** In lists: all fields, or the known ones. */
export const listedService = view<ServiceState, ComputeCall>(full, {
  instead: since('2.69', { when: ({ reachable }) => !reachable, view: partial }),
});
