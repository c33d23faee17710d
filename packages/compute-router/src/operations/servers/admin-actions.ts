import { since } from '@apistrata/microversion';
import { described, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import { plainAction } from './plain-action.js';
import { POLL_SERVER_UNTIL } from './poll.js';
import { serverAction, serverDocs } from './server-docs.js';

/** Server actions for administrators, and actions that delete or restore a server. */
export const adminActions = [
  operation({
    ...serverAction,
    name: 'resetServerState',
    action: 'os-resetState',
    summary: 'Reset the state of a server',
    description:
      'Sets the state of a server in the database without checking the instance. Use it to correct a wrong state. Synchronous; allowed in any status.',
    policy: 'os_compute_api:os-admin-actions:reset_state',
    errors: [404],
    body: object({
      'os-resetState': described(
        'The new state of the server.',
        object({ state: described('State: `active` or `error`.', z.enum(['active', 'error'])) }),
      ),
    }),
    run: async ({ engine, context, target, body }) => {
      await engine.servers.act(context, target.id, 'os-resetState', body['os-resetState']);
    },
  }),
  plainAction({
    name: 'injectServerNetworkInfo',
    action: 'injectNetworkInfo',
    summary: 'Inject the network configuration into a server',
    description:
      'Injects the network configuration into the guest, if the driver supports it. The action is asynchronous, and the API does not report the result.',
    policy: 'os_compute_api:os-admin-actions:inject_network_info',
    errors: [404, 409],
  }),
  plainAction({
    name: 'triggerServerCrashDump',
    action: 'trigger_crash_dump',
    window: since('2.17', true),
    summary: 'Trigger a crash dump in a server',
    description:
      'Sends a non-maskable interrupt to the guest, which then writes a crash dump if the guest is configured to do so. The server must be `ACTIVE`, `PAUSED`, `RESCUE`, `VERIFY_RESIZE` or `ERROR`. The action is asynchronous; the list of actions shows the result.',
    policy: 'os_compute_api:servers:trigger_crash_dump',
    errors: [400, 404, 409],
    argument: z.null().describe('Must be null.'),
  }),
  operation({
    ...serverAction,
    name: 'changeServerPassword',
    action: 'changePassword',
    summary: 'Change the administrative password of a server',
    description: `Changes the administrative password of a server. The server must be \`ACTIVE\`, and an agent must be running in its guest. ${POLL_SERVER_UNTIL} its status is no longer \`PASSWORD\`; the list of actions shows the result.`,
    policy: 'os_compute_api:os-admin-password',
    errors: [404, 409, 501],
    when: {
      ...serverDocs.when,
      409: 'The server is not active, is locked, or has a guest that does not support setting a password.',
    },
    body: object({
      changePassword: described(
        'The new administrative password.',
        object({ adminPass: described('New administrative password of the guest.', z.string()) }),
      ),
    }),
    run: async ({ engine, context, target, body }) => {
      await engine.servers.act(context, target.id, 'changePassword', { adminPassword: body.changePassword.adminPass });
    },
  }),
  plainAction({
    name: 'restoreServer',
    action: 'restore',
    summary: 'Restore a soft-deleted server',
    description: `Restores a soft-deleted server. The server must be \`SOFT_DELETED\`. ${POLL_SERVER_UNTIL} its status is \`ACTIVE\`.`,
    policy: 'os_compute_api:os-deferred-delete:restore',
    errors: [403, 404, 409],
    when: { ...serverDocs.when, 403: 'The policy does not allow the operation, or a quota is exceeded.' },
  }),
  plainAction({
    name: 'forceDeleteServer',
    action: 'forceDelete',
    summary: 'Force-delete a server',
    description: `Deletes a server permanently in any status, even if soft delete is enabled. ${POLL_SERVER_UNTIL} the response is 404.`,
    policy: 'os_compute_api:os-deferred-delete:force',
    errors: [404, 409],
  }),
];
