import { at, since, until } from '@apistrata/microversion';
import { object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import * as type from '../../schemas/types.js';
import { plainAction } from './plain-action.js';
import { serverById } from './target.js';

/** Actions that need no arguments: the key of the body, the rule, and the summary. */
const plain = [
  ['os-start', 'os_compute_api:servers:start', 'Start a server'],
  ['os-stop', 'os_compute_api:servers:stop', 'Stop a server'],
  ['pause', 'os_compute_api:os-pause-server:pause', 'Pause a server'],
  ['unpause', 'os_compute_api:os-pause-server:unpause', 'Unpause a server'],
  ['suspend', 'os_compute_api:os-suspend-server:suspend', 'Suspend a server'],
  ['resume', 'os_compute_api:os-suspend-server:resume', 'Resume a server'],
] as const;

const path = '/servers/{id}/action';

/** Until 2.72, the value of `lock` is ignored. */
const withReason = since('2.73', true);

export const powerActions = [
  ...plain.map(([action, policy, summary]) => plainAction({ action, policy, summary, errors: [404, 409] })),
  operation({
    method: 'POST',
    path,
    action: 'reboot',
    summary: 'Reboot a server',
    policy: 'os_compute_api:servers:reboot',
    status: 202,
    errors: [404, 409],
    body: object({
      reboot: object({
        type: z
          .string()
          .transform((text) => text.toUpperCase())
          .pipe(z.enum(['SOFT', 'HARD'])),
      }),
    }),
    target: serverById,
    run: async ({ engine, context, target, body }) => {
      await engine.servers.act(context, target.id, body.reboot.type === 'HARD' ? 'rebootHard' : 'rebootSoft');
    },
  }),
  operation({
    method: 'POST',
    path,
    action: 'lock',
    summary: 'Lock a server',
    policy: 'os_compute_api:os-lock-server:lock',
    status: 202,
    errors: [404],
    body: object({
      lock: [
        until('2.72', z.unknown()),
        since('2.73', z.strictObject({ locked_reason: z.string().min(1).max(255).optional() }).nullable()),
      ],
    }),
    target: serverById,
    run: async ({ engine, context, target, body, version }) => {
      const requested = body.lock as { readonly locked_reason?: string } | null;
      await engine.servers.lock(
        context,
        target.id,
        at(withReason, version) ? (requested?.locked_reason ?? null) : null,
      );
    },
  }),
  operation({
    method: 'POST',
    path,
    action: 'unlock',
    summary: 'Unlock a server',
    policy: 'os_compute_api:os-lock-server:unlock',
    status: 202,
    errors: [404],
    body: object({ unlock: type.anything }),
    target: serverById,
    run: async (call) => {
      const { engine, context, target } = call;
      if (engine.servers.lockedByOther(context, target))
        call.require('os_compute_api:os-lock-server:unlock:unlock_override', target);
      await engine.servers.unlock(context, target.id);
    },
  }),
];
