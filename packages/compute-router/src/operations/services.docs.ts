import { resource } from '../reference/resource.js';

export const serviceDocs = resource({
  tag: 'services',
  parameters: {
    id: 'ID of the service: an integer until 2.52, a UUID since 2.53. For updates until 2.52, the action: `enable`, `disable`, `disable-log-reason`, or since 2.11 `force-down`.',
  },
  fields: {
    'query.host': 'Filters services by host.',
    'query.binary': 'Filters services by binary.',
    services: 'The list of services.',
    service: 'The service.',
    id: 'ID of the service: an integer until 2.52, a UUID since 2.53.',
    binary: 'Binary of the service, such as that of the compute service or the scheduler.',
    host: 'Name of the host that runs the service.',
    zone: 'Availability zone of the host. `internal` for services that do not run servers.',
    status:
      'Status of the service: `enabled` if the scheduler can select its host, `disabled` if an administrator disabled it. Since 2.69, `UNKNOWN` in lists if the cell is unreachable.',
    state: 'State of the service: `up` if it sends heartbeats and is not forced down, otherwise `down`.',
    updated_at: 'Time of the last heartbeat, in UTC with microseconds. Null before the first heartbeat.',
    disabled_reason: 'Reason why the service is disabled, or null.',
    forced_down: 'Whether an administrator or a monitor marked the host as down, independent of heartbeats.',
  },
});
