import { object } from '@apistrata/microversion/schema';
import { loadHosts } from '../../http/call.js';
import { operation } from '../../operation.js';
import { serverUpdated } from '../../views/server.js';
import { fieldsOf, recordFieldsOf } from '../../views/server-request-fields.js';
import { serverById } from './target.js';

const body = object({ server: object(fieldsOf('update')) });

export const changeServers = [
  operation({
    method: 'PUT',
    path: '/servers/{id}',
    summary: 'Update a server',
    policy: 'os_compute_api:servers:update',
    status: 200,
    errors: [404, 409],
    body,
    target: serverById,
    reply: { server: serverUpdated },
    load: loadHosts,
    run: async ({ engine, context, target, body: { server } }) => ({
      server: await engine.servers.update(context, target.id, recordFieldsOf(server)),
    }),
  }),
  operation({
    method: 'DELETE',
    path: '/servers/{id}',
    summary: 'Delete a server',
    policy: 'os_compute_api:servers:delete',
    status: 204,
    errors: [404, 409],
    target: serverById,
    run: ({ engine, context, target }) => engine.servers.delete(context, target.id),
  }),
];
