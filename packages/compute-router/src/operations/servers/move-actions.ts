import { Rejection } from '@apistrata/compute-engine';
import { at, between, since, until } from '@apistrata/microversion';
import { described, object } from '@apistrata/microversion/schema';
import { prepareResponse } from '@apistrata/microversion-router';
import { z } from 'zod';
import { operation } from '../../operation.js';
import * as type from '../../schemas/types.js';
import { serverTexts } from '../../views/server-field.js';
import { plainAction } from './plain-action.js';
import { POLL_SERVER_UNTIL } from './poll.js';
import { serverAction, serverDocs } from './server-docs.js';

/** OpenAPI descriptions that several fields share. */
const moveActionTexts = {
  migrate: 'Null or, since 2.56, an object with the destination host.',
  blockMigration: 'Whether to copy local disks to the destination. Since 2.25, `auto` is also accepted.',
  force: 'Whether to use the destination host even if the scheduler has not checked it. Default: false.',
} as const;

const nullableHost = type.fqdn.nullable();

const flavorRef = z.union([z.string().min(1), z.int().transform(String)]);

/** Since 2.56, the action `migrate` accepts a host. Until 2.55, its value is ignored. */
const acceptsHost = since('2.56', true);

/**
 * Until these versions, the scheduler does not check a requested host. In later versions, the scheduler checks it unless
 * `force` is true.
 */
const skipsSchedulerByDefault = {
  migrateLive: until('2.29', true),
  evacuate: until('2.28', true),
};
/**
 * Until 2.33, a live migration is rejected if there is no suitable host. Since 2.34, it is accepted and fails in the
 * background.
 */
const checksHostsFirst = until('2.33', true);
/** Since 2.95, an evacuated server is not started. */
const staysStopped = since('2.95', true);
/** Since 2.14, the response to the action `evacuate` does not have a body. */
const omitsResponseBody = since('2.14', true);

/** Server actions that change the host or the flavor of a server. */
export const moveActions = [
  operation({
    ...serverAction,
    name: 'resizeServer',
    action: 'resize',
    summary: 'Resize a server',
    description: `Resizes a server to another flavor, usually on another host. The server must be \`ACTIVE\` or \`SHUTOFF\`. ${POLL_SERVER_UNTIL} its status is \`VERIFY_RESIZE\`; then confirm or revert the resize.`,
    policy: 'os_compute_api:servers:resize',
    errors: [400, 401, 403, 404, 409],
    when: { ...serverDocs.when, 403: 'The policy does not allow the operation, or a quota is exceeded.' },
    body: object({
      resize: described(
        'Options for the resize.',
        object({
          flavorRef: described('ID of the new flavor. Must differ from the current flavor.', flavorRef),
          'OS-DCF:diskConfig': described(serverTexts.diskConfig, type.diskConfig.optional()),
        }),
      ),
    }),
    run: async ({ engine, context, target, body }) => {
      await engine.servers.act(context, target.id, 'resize', {
        flavorId: body.resize.flavorRef.slice(body.resize.flavorRef.lastIndexOf('/') + 1),
        diskConfig: body.resize['OS-DCF:diskConfig'],
      });
    },
  }),
  plainAction({
    name: 'confirmServerResize',
    action: 'confirmResize',
    summary: 'Confirm a resize',
    description: `Confirms a resize or a cold migration and deletes the instance on the source host. The server must be \`VERIFY_RESIZE\`. ${POLL_SERVER_UNTIL} its status is \`ACTIVE\` or \`SHUTOFF\`.`,
    policy: 'os_compute_api:servers:confirm_resize',
    status: 204,
    errors: [400, 404, 409],
  }),
  plainAction({
    name: 'revertServerResize',
    action: 'revertResize',
    summary: 'Revert a resize',
    description: `Reverts a resize or a cold migration: the server returns to its previous host and flavor. The server must be \`VERIFY_RESIZE\`. ${POLL_SERVER_UNTIL} its status is \`ACTIVE\` or \`SHUTOFF\`.`,
    policy: 'os_compute_api:servers:revert_resize',
    errors: [400, 404, 409],
  }),
  operation({
    ...serverAction,
    name: 'migrateServer',
    action: 'migrate',
    summary: 'Migrate a server',
    description: `Migrates a server to another host (cold migration). The instance is stopped during the migration. The server must be \`ACTIVE\` or \`SHUTOFF\`. ${POLL_SERVER_UNTIL} its status is \`VERIFY_RESIZE\`; then confirm or revert the migration.`,
    errors: [400, 403, 404, 409],
    body: object({
      migrate: [
        until('2.55', described(moveActionTexts.migrate, z.unknown())),
        since(
          '2.56',
          described(
            moveActionTexts.migrate,
            z
              .strictObject({
                host: nullableHost
                  .optional()
                  .describe('Destination host. The scheduler checks it. Default: selected by the scheduler.'),
              })
              .nullable(),
          ),
        ),
      ],
    }),
    run: async (call) => {
      const { engine, context, target, version } = call;
      const requested = at(acceptsHost, version) ? (call.body.migrate as { host?: string | null } | null) : null;
      const host = requested?.host ?? undefined;
      call.require(
        host === undefined
          ? 'os_compute_api:os-migrate-server:migrate'
          : 'os_compute_api:os-migrate-server:migrate:host',
        target,
      );
      await engine.servers.act(context, target.id, 'migrate', { host });
    },
  }),
  operation({
    ...serverAction,
    name: 'liveMigrateServer',
    action: 'os-migrateLive',
    summary: 'Live-migrate a server',
    description: `Live-migrates a running server to another host. The server must be \`ACTIVE\` or \`PAUSED\`. ${POLL_SERVER_UNTIL} its status is no longer \`MIGRATING\`. Since 2.34, the response is sent before the hosts are checked; failures are reported in the migration and in the actions of the server.`,
    errors: [400, 403, 404, 409],
    body: object({
      'os-migrateLive': described(
        'Options for the live migration.',
        object({
          host: described(
            'Destination host, or null to let the scheduler select one. Since 2.30, the scheduler checks a requested host.',
            nullableHost,
          ),
          block_migration: [
            until('2.24', described(moveActionTexts.blockMigration, type.lenientBoolean)),
            since('2.25', described(moveActionTexts.blockMigration, z.union([type.lenientBoolean, z.literal('auto')]))),
          ],
          disk_over_commit: until(
            '2.24',
            described(
              'Whether the check for free disk space uses the actual size of disks instead of their virtual size.',
              type.lenientBoolean,
            ),
          ),
          force: between('2.30', '2.67', described(moveActionTexts.force, type.lenientBoolean.optional())),
        }),
      ),
    }),
    run: async (call) => {
      const { engine, context, target, version } = call;
      const request = call.body['os-migrateLive'];
      const host = request.host ?? undefined;
      call.require(
        host === undefined
          ? 'os_compute_api:os-migrate-server:migrate_live'
          : 'os_compute_api:os-migrate-server:migrate_live:host',
        target,
      );
      await engine.servers.act(context, target.id, 'os-migrateLive', {
        host,
        force: request.force ?? (host !== undefined && at(skipsSchedulerByDefault.migrateLive, version)),
        checkedFirst: at(checksHostsFirst, version) ?? false,
      });
    },
  }),
  operation({
    ...serverAction,
    name: 'evacuateServer',
    action: 'evacuate',
    summary: 'Evacuate a server from a failed host',
    description: `Rebuilds a server on another host after its host has failed. The server must be \`ACTIVE\`, \`SHUTOFF\` or \`ERROR\`, and its host must be down. ${POLL_SERVER_UNTIL} its status is \`ACTIVE\` or \`SHUTOFF\`. Since 2.95, the server remains stopped.`,
    policy: 'os_compute_api:os-evacuate',
    status: 200,
    errors: [400, 403, 404, 409],
    when: {
      ...serverDocs.when,
      400: 'The request body is malformed, the destination is the current host, or the current host is up.',
      409: 'The status or the task state of the server does not allow the operation.',
    },
    body: object({
      evacuate: described(
        'Options for the evacuation.',
        object({
          host: described(
            'Destination host. Since 2.29, the scheduler checks it. Default: selected by the scheduler.',
            type.fqdn.optional(),
          ),
          adminPass: described(serverTexts.requestedPassword, z.string().optional()),
          onSharedStorage: until(
            '2.13',
            described('Whether the disks of the server are on shared storage.', type.lenientBoolean),
          ),
          force: between('2.29', '2.67', described(moveActionTexts.force, type.lenientBoolean.optional())),
        }),
      ),
    }),
    reply: {
      adminPass: until('2.13', described(serverTexts.actionPassword, z.string().optional())),
    },
    run: async (call) => {
      const { engine, context, target, version } = call;
      const { host, adminPass, onSharedStorage, force } = call.body.evacuate;
      if (onSharedStorage && adminPass !== undefined)
        throw new Rejection('BAD_REQUEST', 'admin password can not be changed on existing disk');
      const password = await engine.servers.act(context, target.id, 'evacuate', {
        host,
        force: force ?? (host !== undefined && at(skipsSchedulerByDefault.evacuate, version)),
        adminPassword: adminPass,
        sharedStorage: onSharedStorage,
        stop: at(staysStopped, version) ?? false,
      });
      if (at(omitsResponseBody, version)) return prepareResponse({});
      return password !== null && engine.settings.enableInstancePassword ? { adminPass: password } : {};
    },
  }),
];
