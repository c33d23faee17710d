import { resource } from '../../reference/resource.js';

export const instanceActionDocs = resource({
  tag: 'instance-actions',
  parameters: { id: 'ID of the request that started the action: `req-` followed by a UUID.' },
  fields: {
    instanceActions: 'The actions of this page.',
    instanceAction: 'An action.',
    'reply.links': 'Link to the next page.',
    action: 'Name of the action, such as `create` or `reboot`.',
    message: 'Error message, or null.',
    project_id: 'ID of the project in which the action was requested.',
    user_id: 'ID of the user who requested the action.',
    request_id: 'ID of the request that started the action, used in paths.',
    start_time: 'Start time, in UTC with microseconds.',
    updated_at: 'Time of the last change of the action, in UTC with microseconds.',
    events: 'Events of the action, newest first. Administrators only until 2.50; all callers since 2.51.',
    'events.event': 'Name of the event.',
    'events.finish_time': 'End time, in UTC with microseconds. Null while in progress.',
    'events.result': 'Result of the event: `Success` or `Error`. Null while in progress.',
    'events.traceback': 'Traceback of the error, or null. Administrators only.',
    'events.hostId': 'Opaque identifier of the host, as in the server. Empty without a host.',
    'events.host': 'Name of the host. Administrators only.',
    'events.details': 'Error details for the user, or null.',
  },
});
