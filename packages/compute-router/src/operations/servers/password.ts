import { z } from 'zod';
import { operation } from '../../operation.js';
import { parentServer } from './target.js';

const path = '/servers/{server_id}/os-server-password';

export const serverPassword = [
  operation({
    method: 'GET',
    path,
    summary: 'Show the encrypted password of a server',
    policy: 'os_compute_api:os-server-password:show',
    status: 200,
    errors: [404],
    target: parentServer,
    reply: { password: z.string() },
    run: ({ target }) => ({ password: target.guestPassword }),
  }),
  operation({
    method: 'DELETE',
    path,
    summary: 'Delete the encrypted password of a server',
    policy: 'os_compute_api:os-server-password:clear',
    status: 204,
    errors: [404],
    target: parentServer,
    run: async ({ engine, context, target }) => {
      await engine.servers.change(context, target.id, 'update', () => ({ guestPassword: '' }));
    },
  }),
];
