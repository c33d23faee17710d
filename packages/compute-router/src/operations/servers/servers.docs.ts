import type { Resource } from '../../reference/resource.js';
import { serverActionDocs } from './server-actions.docs.js';
import { serverFields } from './server-fields.docs.js';
import { serverFilters } from './server-filters.docs.js';
import { serverRequestFields } from './server-request.docs.js';

export const serverDocs: Resource = {
  tag: 'servers',
  about: 'Servers: virtual machines and the actions on them.',
  parameters: { id: 'UUID of the server.' },
  when: {
    409: 'The status, the task state or the lock of the server does not allow it.',
    501: 'The driver of the host does not support the operation.',
  },
  operations: {
    'GET /servers': [
      'listServers',
      'Lists IDs and names of servers, newest first. Since 2.69, servers in an unreachable cell are listed with partial data.',
    ],
    'GET /servers/detail': [
      'listServersDetail',
      'Lists servers with details, newest first. Since 2.69, servers in an unreachable cell are listed with partial data and the status `UNKNOWN`.',
    ],
    'GET /servers/{id}': [
      'showServer',
      'Shows a server with details. Since 2.69, a server in an unreachable cell is shown with partial data and the status `UNKNOWN`.',
    ],
    'POST /servers': [
      'createServer',
      'Creates one or more servers. Asynchronous: the response is sent before the server is built; poll its status until it is `ACTIVE` or `ERROR`. The response contains only the ID, the links and the administrative password.',
      {
        403: 'The policy does not allow it, or a quota is exceeded.',
        409: 'A network, port, volume or server group cannot be used for the server.',
      },
    ],
    'PUT /servers/{id}': [
      'updateServer',
      'Updates attributes of a server, such as its name, access addresses and description. Since 2.75, the response contains all fields of the server.',
      { 409: 'Since 2.104: the server is in another availability zone than the one to pin.' },
    ],
    'DELETE /servers/{id}': [
      'deleteServer',
      'Deletes a server in any status. Asynchronous: poll the server until the response is 404. If soft delete is enabled, the server is `SOFT_DELETED` first and can be restored.',
    ],
    ...serverActionDocs,
  },
  fields: { ...serverFields, ...serverRequestFields, ...serverFilters },
};
