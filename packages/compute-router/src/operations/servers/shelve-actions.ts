import { at, between, since, until } from '@apistrata/microversion';
import { described, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import * as type from '../../schemas/types.js';
import { plainAction } from './plain-action.js';
import { POLL_SERVER_UNTIL } from './poll.js';
import { serverAction } from './server-docs.js';

/** OpenAPI descriptions that several fields share. */
const unshelveTexts = {
  zone: 'Availability zone in which to restore the server, whose status must be `SHELVED_OFFLOADED`. Since 2.91, null removes the pin to a zone.',
  unshelve: 'Null or, since 2.77, an object with options.',
} as const;

/** Since 2.77, the action `unshelve` accepts a destination. Until 2.76, its value is ignored. */
const acceptsDestination = since('2.77', true);

interface Destination {
  readonly availability_zone?: string | null;
  readonly host?: string;
}

/** Server actions that shelve and unshelve servers. */
export const shelveActions = [
  plainAction({
    name: 'shelveServer',
    action: 'shelve',
    summary: 'Shelve a server',
    description: `Shelves a server: stops it and stores its root disk as an image, unless this disk is a volume. After a configurable period, or immediately if the root disk is a volume, the server is removed from its host, which releases its resources. The server must be \`ACTIVE\`, \`PAUSED\`, \`SUSPENDED\` or \`SHUTOFF\`. ${POLL_SERVER_UNTIL} its status is \`SHELVED\` or \`SHELVED_OFFLOADED\`.`,
    policy: 'os_compute_api:os-shelve:shelve',
    errors: [400, 403, 404, 409],
  }),
  plainAction({
    name: 'shelveOffloadServer',
    action: 'shelveOffload',
    summary: 'Shelve-offload a server',
    description: `Removes a shelved server from its host, which releases its resources. The server must be \`SHELVED\`. ${POLL_SERVER_UNTIL} its status is \`SHELVED_OFFLOADED\`.`,
    policy: 'os_compute_api:os-shelve:shelve_offload',
    errors: [400, 404, 409],
  }),
  operation({
    ...serverAction,
    name: 'unshelveServer',
    action: 'unshelve',
    summary: 'Unshelve a server',
    description: `Restores a shelved server. The server must be \`SHELVED\` or \`SHELVED_OFFLOADED\`. ${POLL_SERVER_UNTIL} its status is \`ACTIVE\`.`,
    policy: 'os_compute_api:os-shelve:unshelve',
    errors: [400, 403, 404, 409],
    when: {
      409: 'The status of the server does not allow the operation, the server is locked, or, since 2.91, the requested host is not in the availability zone.',
    },
    body: object({
      unshelve: [
        until('2.76', described(unshelveTexts.unshelve, z.unknown())),
        between(
          '2.77',
          '2.90',
          described(
            unshelveTexts.unshelve,
            z
              .strictObject({
                availability_zone: type.name.describe(unshelveTexts.zone),
              })
              .nullable(),
          ),
        ),
        since(
          '2.91',
          described(
            unshelveTexts.unshelve,
            z
              .strictObject({
                availability_zone: type.name.nullable().optional().describe(unshelveTexts.zone),
                host: type.fqdn
                  .optional()
                  .describe(
                    'Destination host. The status of the server must be `SHELVED_OFFLOADED`. Administrators only.',
                  ),
              })
              .nullable(),
          ),
        ),
      ],
    }),
    run: async (call) => {
      const { engine, context, target, version } = call;
      const destination = at(acceptsDestination, version) ? (call.body.unshelve as Destination | null) : null;
      if (destination?.host !== undefined) call.require('os_compute_api:os-shelve:unshelve_to_host', target);
      await engine.servers.act(context, target.id, 'unshelve', {
        zone: destination?.availability_zone,
        host: destination?.host,
      });
    },
  }),
];
