import type { ServiceState } from '@apistrata/compute-engine/api';
import { since, until } from '@apistrata/microversion';
import { type ViewShape, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import { field, flag, integer, nullableText, nullableTime, text } from './fields.js';

/** OpenAPI descriptions that several fields share. */
export const serviceTexts = {
  host: 'Name of the host that runs the service.',
  binary:
    'Name of the service binary, which identifies the kind of service, such as `nova-compute` or `nova-scheduler`.',
  status:
    'Status of the service: `enabled` if the scheduler can select its host, `disabled` if an administrator disabled it. Since 2.69, `UNKNOWN` in lists if the cell is unreachable.',
  disabledReason: 'Reason why the service is disabled, or null.',
  forcedDown: 'Whether an administrator or a monitoring system marked the host as down, regardless of heartbeats.',
  service: 'The service.',
  id: 'ID of the service: an integer until 2.52, a UUID since 2.53.',
} as const;

/** The representation of a service whose host does not respond, which contains only the known fields. */
const partialService = view<ServiceState, ComputeCall>({
  binary: text(serviceTexts.binary, ({ service }) => service.binary),
  host: text(serviceTexts.host, ({ service }) => service.host),
  status: field(serviceTexts.status, z.literal('UNKNOWN'), () => 'UNKNOWN' as const),
});

const fullShape: ViewShape<ServiceState, ComputeCall> = {
  id: [
    until(
      '2.52',
      integer(serviceTexts.id, ({ service: { seq } }) => seq),
    ),
    since(
      '2.53',
      text(serviceTexts.id, ({ service: { id } }) => id),
    ),
  ],
  binary: text(serviceTexts.binary, ({ service: { binary } }) => binary),
  host: text(serviceTexts.host, ({ service: { host } }) => host),
  zone: text('Availability zone of the host, or `internal` for services that do not run servers.', ({ zone }) => zone),
  status: field(serviceTexts.status, z.enum(['enabled', 'disabled']), ({ service: { disabled } }) =>
    disabled ? 'disabled' : 'enabled',
  ),
  state: field(
    'State of the service: `up` if it sends heartbeats and is not forced down, otherwise `down`.',
    z.enum(['up', 'down']),
    ({ up }) => (up ? 'up' : 'down'),
  ),
  updated_at: nullableTime(
    'Time of the last heartbeat, in UTC with microsecond precision. Null before the first heartbeat.',
    ({ lastSeenAt }) => lastSeenAt,
  ),
  disabled_reason: nullableText(serviceTexts.disabledReason, ({ service: { disabledReason } }) => disabledReason),
  forced_down: since(
    '2.11',
    flag(serviceTexts.forcedDown, ({ service: { forcedDown } }) => forcedDown),
  ),
};

export const service = view<ServiceState, ComputeCall>(fullShape);

/** The representation of a service in a list. Contains only the known fields if the service's host does not respond. */
export const listedService = view<ServiceState, ComputeCall>(fullShape, {
  alternative: since('2.69', { when: ({ reachable }) => !reachable, view: partialService }),
});
