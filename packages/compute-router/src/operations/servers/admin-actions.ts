import { since } from '@apistrata/microversion';
import { object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import { plainAction } from './plain-action.js';
import { serverById } from './target.js';

const path = '/servers/{id}/action';
const common = { method: 'POST', path, target: serverById, status: 202 } as const;

/** Actions of administrators, and actions that end or restore the use of a server. */
export const adminActions = [
  operation({
    ...common,
    action: 'os-resetState',
    summary: 'Reset the state of a server',
    policy: 'os_compute_api:os-admin-actions:reset_state',
    errors: [404],
    body: object({ 'os-resetState': object({ state: z.enum(['active', 'error']) }) }),
    run: async ({ engine, context, target, body }) => {
      await engine.servers.act(context, target.id, 'os-resetState', body['os-resetState']);
    },
  }),
  plainAction({
    action: 'injectNetworkInfo',
    summary: 'Inject the network configuration into a server',
    policy: 'os_compute_api:os-admin-actions:inject_network_info',
    errors: [404, 409],
  }),
  plainAction({
    action: 'trigger_crash_dump',
    window: since('2.17', true),
    summary: 'Trigger a crash dump in a server',
    policy: 'os_compute_api:servers:trigger_crash_dump',
    errors: [400, 404, 409],
    argument: z.null(),
  }),
  operation({
    ...common,
    action: 'changePassword',
    summary: 'Change the administrative password of a server',
    policy: 'os_compute_api:os-admin-password',
    errors: [404, 409, 501],
    body: object({ changePassword: object({ adminPass: z.string() }) }),
    run: async ({ engine, context, target, body }) => {
      await engine.servers.act(context, target.id, 'changePassword', { adminPassword: body.changePassword.adminPass });
    },
  }),
  plainAction({
    action: 'restore',
    summary: 'Restore a soft-deleted server',
    policy: 'os_compute_api:os-deferred-delete:restore',
    errors: [403, 404, 409],
  }),
  plainAction({
    action: 'forceDelete',
    summary: 'Force-delete a server',
    policy: 'os_compute_api:os-deferred-delete:force',
    errors: [404, 409],
  }),
];
