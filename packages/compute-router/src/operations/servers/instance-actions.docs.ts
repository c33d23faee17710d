import type { Resource } from '../../description/resource.js';

export const instanceActionDocs: Resource = {
  tag: 'instance-actions',
  about: 'What was done to a server, by whom, and how it went.',
  parameters: { id: 'Id of the request that began the action, `req-` and a UUID' },
  operations: {
    'GET /servers/{server_id}/os-instance-actions': [
      'listInstanceActions',
      'The actions on a server, newest first. From 2.21 on those on deleted servers too; pages and a filter by time come with 2.58.',
    ],
    'GET /servers/{server_id}/os-instance-actions/{id}': [
      'showInstanceAction',
      'One action. Its events are shown to administrators; from 2.51 on to everybody, without what tells of hosts.',
    ],
  },
  fields: {
    instanceActions: 'The actions of this page',
    instanceAction: 'An action',
    'reply.links': 'Link to the next page. New in 2.58',
    action: 'Name of the action, such as `create` or `reboot`',
    message: 'Why it failed, or null',
    project_id: 'Id of the project that it was done in',
    user_id: 'Id of the user who did it',
    request_id: 'Id of the request that began it, by which it is shown',
    start_time: 'When it began, UTC with microseconds',
    updated_at: 'When anything of it last happened, UTC with microseconds. New in 2.58',
    events: 'What happened on the way, newest first. For administrators up to 2.50, for everybody from 2.51 on',
    'events.event': 'Name of the step',
    'events.finish_time': 'When it ended, UTC with microseconds; null as long as it did not',
    'events.result': '`Success` or `Error`; null as long as it goes on',
    'events.traceback': 'Where it went wrong, or null; for administrators',
    'events.hostId': 'Digest of project and host, as that of the server; empty without one. New in 2.62',
    'events.host': 'Host on which it happened; for administrators. New in 2.62',
    'events.details': 'Why it went wrong, for people, or null. New in 2.84',
  },
};
