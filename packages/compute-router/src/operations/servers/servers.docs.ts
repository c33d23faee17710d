import type { Resource } from '../../description/resource.js';
import { serverActionDocs } from './server-actions.docs.js';
import { serverFields } from './server-fields.docs.js';
import { serverFilters } from './server-filters.docs.js';
import { serverRequestFields } from './server-request.docs.js';

export const serverDocs: Resource = {
  tag: 'servers',
  about: 'Virtual machines: create, list, change and delete them, and act on them.',
  parameters: { id: 'Id of the server, a UUID' },
  when: {
    409: 'The state of the server, a task that it is in, or a lock does not allow it',
    501: 'The driver of the host cannot do it',
  },
  operations: {
    'GET /servers': [
      'listServers',
      'Ids and names of the servers of the project, newest first. From 2.69 on servers in a part of the cloud that nobody can reach are in the list too.',
    ],
    'GET /servers/detail': [
      'listServersDetail',
      'The servers of the project with all that is known of them, newest first. Each version of the API shows more; from 2.69 on servers that nobody can reach are shown with what is known.',
    ],
    'GET /servers/{id}': [
      'showServer',
      'One server with all that is known of it. From 2.69 on one that nobody can reach is shown with what is known, where it was a 500 before.',
    ],
    'POST /servers': [
      'createServer',
      'Takes an order for one or several servers and answers before they are there: watch their status until it is `ACTIVE` or `ERROR`. The answer says no more than id, links and password.',
      {
        403: 'The policy does not allow it, or a quota is used up',
        409: 'A network, port, volume or group cannot be used for it',
      },
    ],
    'PUT /servers/{id}': [
      'updateServer',
      'Changes name, addresses or description. The answer is the server; from 2.75 on with the same fields as when it is shown.',
      { 409: 'From 2.104 on: the zone cannot be pinned, since the server is in another one' },
    ],
    'DELETE /servers/{id}': [
      'deleteServer',
      'Begins to delete a server, which works in nearly every state. Where the cloud keeps deleted servers for a while, it can be restored until then.',
    ],
    ...serverActionDocs,
  },
  fields: { ...serverFields, ...serverRequestFields, ...serverFilters },
};
