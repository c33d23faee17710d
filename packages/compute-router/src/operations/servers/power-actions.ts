import { at, since, until } from '@apistrata/microversion';
import { described, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import * as type from '../../schemas/types.js';
import { plainAction } from './plain-action.js';
import { POLL_SERVER_UNTIL } from './poll.js';
import { serverAction } from './server-docs.js';

const LOCK_DESCRIPTION = 'Null or, since 2.73, an object with the reason for the lock.';

/** Since 2.73, the action `lock` accepts a reason. Until 2.72, its value is ignored. */
const acceptsReason = since('2.73', true);

export const powerActions = [
  plainAction({
    name: 'startServer',
    action: 'os-start',
    summary: 'Start a server',
    description: `Starts a stopped server. The server must be \`SHUTOFF\`. ${POLL_SERVER_UNTIL} its status is \`ACTIVE\`.`,
    policy: 'os_compute_api:servers:start',
    errors: [404, 409],
  }),
  plainAction({
    name: 'stopServer',
    action: 'os-stop',
    summary: 'Stop a server',
    description: `Stops a server: shuts down the guest, or powers it off if it does not shut down within a timeout. The server keeps its host and its disks. The server must be \`ACTIVE\` or \`ERROR\`. ${POLL_SERVER_UNTIL} its status is \`SHUTOFF\`.`,
    policy: 'os_compute_api:servers:stop',
    errors: [404, 409],
  }),
  plainAction({
    name: 'pauseServer',
    action: 'pause',
    summary: 'Pause a server',
    description: `Pauses a server. The memory of the guest is kept in the memory of the host. The server must be \`ACTIVE\`. ${POLL_SERVER_UNTIL} its status is \`PAUSED\`.`,
    policy: 'os_compute_api:os-pause-server:pause',
    errors: [404, 409],
  }),
  plainAction({
    name: 'unpauseServer',
    action: 'unpause',
    summary: 'Unpause a server',
    description: `Unpauses a server. The server must be \`PAUSED\`. ${POLL_SERVER_UNTIL} its status is \`ACTIVE\`.`,
    policy: 'os_compute_api:os-pause-server:unpause',
    errors: [404, 409],
  }),
  plainAction({
    name: 'suspendServer',
    action: 'suspend',
    summary: 'Suspend a server',
    description: `Suspends a server: writes the memory and state of the guest to disk and powers it off. The server must be \`ACTIVE\`. ${POLL_SERVER_UNTIL} its status is \`SUSPENDED\`.`,
    policy: 'os_compute_api:os-suspend-server:suspend',
    errors: [404, 409],
  }),
  plainAction({
    name: 'resumeServer',
    action: 'resume',
    summary: 'Resume a server',
    description: `Resumes a suspended server from the state on disk. The server must be \`SUSPENDED\`. ${POLL_SERVER_UNTIL} its status is \`ACTIVE\`.`,
    policy: 'os_compute_api:os-suspend-server:resume',
    errors: [404, 409],
  }),
  operation({
    ...serverAction,
    name: 'rebootServer',
    action: 'reboot',
    summary: 'Reboot a server',
    description: `Reboots a server. \`SOFT\` restarts the guest operating system and requires the status \`ACTIVE\`. \`HARD\` power-cycles the server and is also allowed in the statuses \`SHUTOFF\`, \`PAUSED\`, \`SUSPENDED\` and \`ERROR\`. ${POLL_SERVER_UNTIL} its status is \`ACTIVE\`.`,
    policy: 'os_compute_api:servers:reboot',
    errors: [404, 409],
    body: object({
      reboot: described(
        'Options for the reboot.',
        object({
          type: described(
            'Type of the reboot: `SOFT` restarts the guest operating system, `HARD` power-cycles the server.',
            z
              .string()
              .transform((text) => text.toUpperCase())
              .pipe(z.enum(['SOFT', 'HARD'])),
          ),
        }),
      ),
    }),
    run: async ({ engine, context, target, body }) => {
      await engine.servers.act(context, target.id, body.reboot.type === 'HARD' ? 'rebootHard' : 'rebootSoft');
    },
  }),
  operation({
    ...serverAction,
    name: 'lockServer',
    action: 'lock',
    summary: 'Lock a server',
    description: 'Locks a server. Only administrators can change a locked server. Synchronous; allowed in any status.',
    policy: 'os_compute_api:os-lock-server:lock',
    errors: [404],
    body: object({
      lock: [
        until('2.72', described(LOCK_DESCRIPTION, z.unknown())),
        since(
          '2.73',
          described(
            LOCK_DESCRIPTION,
            z
              .strictObject({ locked_reason: z.string().min(1).max(255).optional().describe('Reason for the lock.') })
              .nullable(),
          ),
        ),
      ],
    }),
    run: async ({ engine, context, target, body, version }) => {
      const requested = body.lock as { readonly locked_reason?: string } | null;
      await engine.servers.lock(
        context,
        target.id,
        at(acceptsReason, version) ? (requested?.locked_reason ?? null) : null,
      );
    },
  }),
  operation({
    ...serverAction,
    name: 'unlockServer',
    action: 'unlock',
    summary: 'Unlock a server',
    description:
      'Unlocks a server. Only administrators can remove a lock that an administrator has set. Synchronous; allowed in any status.',
    policy: 'os_compute_api:os-lock-server:unlock',
    errors: [404],
    body: object({ unlock: type.anyValue }),
    run: async (call) => {
      const { engine, context, target } = call;
      if (engine.servers.needsUnlockOverride(context, target))
        call.require('os_compute_api:os-lock-server:unlock:unlock_override', target);
      await engine.servers.unlock(context, target.id);
    },
  }),
];
