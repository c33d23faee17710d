import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import { resource } from '../../reference/resource.js';
import { parentServer } from './target.js';

const serverPasswordDocs = resource({
  tag: 'server-passwords',
});

const path = '/servers/{server_id}/os-server-password';

export const serverPassword = [
  operation({
    ...serverPasswordDocs,
    name: 'showServerPassword',
    method: 'GET',
    path,
    summary: 'Show the encrypted password of a server',
    description:
      "Shows the encrypted password that the guest posted to the metadata service. Use the private key of the server's key pair to decrypt it.",
    policy: 'os_compute_api:os-server-password:show',
    status: 200,
    errors: [404],
    target: parentServer,
    reply: { password: described('The encrypted password. Empty if the guest did not post a password.', z.string()) },
    run: ({ target }) => ({ password: target.guestPassword }),
  }),
  operation({
    ...serverPasswordDocs,
    name: 'deleteServerPassword',
    method: 'DELETE',
    path,
    summary: 'Delete the encrypted password of a server',
    description:
      'Deletes the encrypted password from the record of the server. The password in the guest is unchanged.',
    policy: 'os_compute_api:os-server-password:clear',
    status: 204,
    errors: [404],
    target: parentServer,
    run: async ({ engine, context, target }) => {
      await engine.servers.change(context, target.id, 'update', () => ({ guestPassword: '' }));
    },
  }),
];
