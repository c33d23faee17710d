import type { Resource } from '../description/resource.js';

export const serviceDocs: Resource = {
  tag: 'services',
  about: 'The processes that make up the cloud: whether each is alive, and whether the scheduler may use it.',
  parameters: {
    id: 'Id of the service: a number up to 2.52, a UUID from 2.53 on, since numbers repeat across cells. For changes up to 2.52 the verb stands here: `enable`, `disable`, `disable-log-reason`, and from 2.11 on `force-down`',
  },
  operations: {
    'GET /os-services': [
      'listServices',
      'Services by host and binary. From 2.69 on those of a part of the cloud that nobody can reach are in the list, with what is known of them.',
    ],
    'PUT /os-services/{id}': [
      'updateService',
      'Enables or disables a service for the scheduler, or states that its host is down so that its servers can be evacuated at once. Up to 2.52 the body names the service and the path the verb; from 2.53 on the path names the service.',
    ],
    'DELETE /os-services/{id}': [
      'deleteService',
      'Forgets a service that is taken away for good. One that still has servers is kept.',
      { 409: 'The host of the service has servers, or migrations under way' },
    ],
  },
  fields: {
    'query.host': 'Only services on this host',
    'query.binary': 'Only services of this program',
    services: 'The services',
    service: 'The service as it is now',
    id: 'Id of the service: a number up to 2.52, a UUID from 2.53 on',
    binary: 'Program of the service, such as the one that runs servers on a host or the scheduler',
    host: 'Name of the host it runs on',
    zone: 'Availability zone of the host; `internal` for services that run no servers',
    status:
      '`enabled` if the scheduler may use it, `disabled` if an operator said no; in lists from 2.69 on `UNKNOWN` for what nobody can reach',
    state: '`up` if it reported lately and nobody said that it is down, else `down`',
    updated_at: 'When it last reported, UTC with microseconds; null if it never did',
    disabled_reason: 'Why it was disabled, for people, or null',
    forced_down:
      'Whether an operator or a monitor stated that the host is down, whatever the service reports. New in 2.11',
  },
};
