import { described, object } from '@apistrata/microversion/schema';
import { loadHosts } from '../../http/call.js';
import { operation } from '../../operation.js';
import { updatedServer } from '../../views/server.js';
import { serverTexts } from '../../views/server-field.js';
import { fieldsOf, recordFieldsOf } from '../../views/server-request-fields.js';
import { serverDocs } from './server-docs.js';
import { serverById } from './target.js';

const body = object({
  server: described(serverTexts.requestedServer, object(fieldsOf('update'))),
});

export const changeServers = [
  operation({
    ...serverDocs,
    name: 'updateServer',
    method: 'PUT',
    path: '/servers/{id}',
    summary: 'Update a server',
    description:
      'Updates attributes of a server, such as its name, access addresses and description. Since 2.75, the response contains all fields of the server.',
    policy: 'os_compute_api:servers:update',
    status: 200,
    errors: [404, 409],
    when: { 409: 'Since 2.104, the server is not in the availability zone to which the request would pin it.' },
    body,
    target: serverById,
    reply: { server: described(serverTexts.server, updatedServer) },
    load: loadHosts,
    run: async ({ engine, context, target, body: { server } }) => ({
      server: await engine.servers.update(context, target.id, recordFieldsOf(server)),
    }),
  }),
  operation({
    ...serverDocs,
    name: 'deleteServer',
    method: 'DELETE',
    path: '/servers/{id}',
    summary: 'Delete a server',
    description:
      'Deletes a server in any status. The operation is asynchronous. Poll the server until the response is 404. If soft delete is enabled, the status first becomes `SOFT_DELETED`, and the server can be restored.',
    policy: 'os_compute_api:servers:delete',
    status: 204,
    errors: [404, 409],
    target: serverById,
    run: ({ engine, context, target }) => engine.servers.delete(context, target.id),
  }),
];
