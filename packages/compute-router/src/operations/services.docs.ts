import type { Resource } from '../reference/resource.js';

export const serviceDocs: Resource = {
  tag: 'services',
  about: 'Services: the processes of the cloud, with their state and whether the scheduler can select their hosts.',
  parameters: {
    id: 'ID of the service: an integer until 2.52, a UUID since 2.53. For updates until 2.52, the action: `enable`, `disable`, `disable-log-reason`, or since 2.11 `force-down`.',
  },
  operations: {
    'GET /os-services': [
      'listServices',
      'Lists services by host and binary. Since 2.69, services in an unreachable cell are listed with partial data.',
    ],
    'PUT /os-services/{id}': [
      'updateService',
      'Enables or disables a service for the scheduler, or marks its host as down so that its servers can be evacuated. Until 2.52, the path contains the action and the body the service; since 2.53, the path contains the ID of the service.',
    ],
    'DELETE /os-services/{id}': [
      'deleteService',
      'Deletes the record of a decommissioned service. The host must not have servers.',
      { 409: 'The host of the service has servers or migrations in progress.' },
    ],
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
};
