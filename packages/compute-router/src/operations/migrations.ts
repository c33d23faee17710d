import { type MigrationRecord, type MigrationStatus, Rejection } from '@apistrata/compute-engine';
import { at, since, until } from '@apistrata/microversion';
import { described, object, once, one, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { loadHosts } from '../http/call.js';
import { nextLink, pageSize } from '../http/paging.js';
import { operation } from '../operation.js';
import { commonTexts } from '../reference/common-texts.js';
import { resource } from '../reference/resource.js';
import { dateTimeText } from '../schemas/date-time.js';
import { collectionLinks } from '../schemas/reply-types.js';
import { limitSchema } from '../schemas/types.js';
import { listedMigration, listedServerMigration, migrationTexts, shownServerMigration } from '../views/migration.js';
import { parentServer } from './servers/target.js';

const migrationDocs = resource({
  tag: 'migrations',
  parameters: { id: 'Integer ID of the migration.' },
});

/** Since 2.59, migration lists are paged. */
const supportsPaging = since('2.59', true);

const listQuery = query(
  {
    hidden: described('Has no effect. Accepted for compatibility with old clients.', one(z.string())),
    host: described('Returns only migrations from or to this host.', one(z.string())),
    instance_uuid: described('Filters migrations by server UUID.', one(z.string())),
    source_compute: described('Filters migrations by source host.', one(z.string())),
    status: described('Filters migrations by status.', one(z.string())),
    migration_type: described('Filters migrations by type.', one(z.string())),
    limit: since('2.59', described('Maximum number of migrations per page.', once(limitSchema))),
    marker: since('2.59', described('UUID of the last migration on the previous page.', once(z.string()))),
    'changes-since': since(
      '2.59',
      described('Returns only migrations whose last change was at or after this time (ISO 8601).', once(dateTimeText)),
    ),
    'changes-before': since('2.66', described(commonTexts.changesBefore, once(dateTimeText))),
    user_id: since('2.80', described('Filters migrations by the ID of the user who started them.', once(z.string()))),
    project_id: since(
      '2.80',
      described('Filters migrations by the project of the caller who started them.', once(z.string())),
    ),
  },
  { extra: [until('2.58', 'ignore'), since('2.59', 'reject')] },
);

/** The statuses in which a live migration can be aborted, by version. */
const abortableStatuses = [
  until<readonly MigrationStatus[]>('2.64', ['running']),
  since<readonly MigrationStatus[]>('2.65', ['queued', 'preparing', 'running']),
];

export const migrationOperations = [
  operation({
    ...migrationDocs,
    name: 'listMigrations',
    method: 'GET',
    path: '/os-migrations',
    summary: 'List migrations',
    description: 'Lists migrations of all types: until 2.58, oldest first; since 2.59, newest first.',
    policy: 'os_compute_api:os-migrations:index',
    status: 200,
    errors: since('2.59', [400]),
    query: listQuery,
    reply: {
      migrations: described(migrationTexts.migrations, [listedMigration]),
      migrations_links: since(
        '2.59',
        described('Link to the next page. Absent if this page is not full.', collectionLinks.optional()),
      ),
    },
    load: loadHosts,
    run: async (call) => {
      const requested = call.query;
      if (requested.project_id === undefined || requested.project_id !== call.caller.projectId)
        call.require('os_compute_api:os-migrations:index:all_projects');
      const changesSince = requested['changes-since'];
      const changesBefore = requested['changes-before'];
      if (changesSince !== undefined && changesBefore !== undefined && changesSince > changesBefore)
        throw new Rejection('BAD_REQUEST', 'The value of changes-since must be less than or equal to changes-before.');
      const size = at(supportsPaging, call.version) ? pageSize(call, requested.limit) : undefined;
      const migrations = await call.engine.migrations.list({
        host: requested.host,
        sourceHost: requested.source_compute,
        status: requested.status,
        type: requested.migration_type,
        serverId: requested.instance_uuid,
        userId: requested.user_id,
        projectId: requested.project_id,
        changesSince,
        changesBefore,
        limit: size,
        // An empty marker means the first page.
        marker: requested.marker || undefined,
        newestFirst: size !== undefined,
      });
      return {
        migrations,
        migrations_links:
          size === undefined ? undefined : nextLink(call, size, migrations, ({ id }: MigrationRecord) => id),
      } as never;
    },
  }),
  operation({
    ...migrationDocs,
    name: 'listServerMigrations',
    method: 'GET',
    path: '/servers/{server_id}/migrations',
    window: since('2.23', true),
    summary: 'List the ongoing live migrations of a server',
    description: 'Lists the ongoing live migrations of a server, including how much data each has copied.',
    policy: 'os_compute_api:servers:migrations:index',
    status: 200,
    errors: [404],
    target: parentServer,
    reply: { migrations: described(migrationTexts.migrations, [listedServerMigration]) },
    load: loadHosts,
    run: async ({ engine, target }) => ({ migrations: await engine.migrations.inProgress(target) }),
  }),
  operation({
    ...migrationDocs,
    name: 'showServerMigration',
    method: 'GET',
    path: '/servers/{server_id}/migrations/{id}',
    window: since('2.23', true),
    summary: 'Show an ongoing live migration',
    description: 'Shows an ongoing live migration. Returns 404 after the migration has ended.',
    policy: 'os_compute_api:servers:migrations:show',
    status: 200,
    errors: [404],
    target: parentServer,
    reply: { migration: described('A live migration.', shownServerMigration) },
    load: loadHosts,
    run: async ({ engine, target, params }) => ({
      migration: await engine.migrations.getInProgress(target, params.id),
    }),
  }),
  operation({
    ...migrationDocs,
    name: 'abortServerMigration',
    method: 'DELETE',
    path: '/servers/{server_id}/migrations/{id}',
    window: since('2.24', true),
    summary: 'Abort a live migration',
    description:
      'Aborts a live migration; the server stays on its host. The status of the migration must be `running` or, since 2.65, `queued` or `preparing`. The operation is asynchronous. Poll the list of all migrations until the status is `cancelled`, or `completed` if the migration ended before it could be aborted.',
    policy: 'os_compute_api:servers:migrations:delete',
    status: 202,
    errors: [400, 404, 409],
    when: {
      400: 'The status of the migration does not allow the operation.',
      409: 'The server is locked, or does not have a live migration in progress.',
    },
    target: parentServer,
    run: async ({ engine, context, target, params, version }) => {
      await engine.servers.act(context, target.id, 'live_migration_cancel', {
        migrationNumber: params.id,
        statuses: at(abortableStatuses, version) ?? [],
      });
    },
  }),
  operation({
    ...migrationDocs,
    name: 'forceCompleteServerMigration',
    method: 'POST',
    path: '/servers/{server_id}/migrations/{id}/action',
    action: 'force_complete',
    window: since('2.22', true),
    summary: 'Force a live migration to complete',
    description:
      'Forces a live migration to complete if it does not make progress because the guest writes to memory faster than memory is copied. The driver pauses the guest, or switches it to the destination early. The status of the migration must be `running`. The operation is asynchronous. Poll the server until its status is no longer `MIGRATING`.',
    policy: 'os_compute_api:servers:migrations:force_complete',
    status: 202,
    errors: [400, 403, 404, 409],
    when: {
      400: 'The status of the migration does not allow the operation.',
      409: 'The server is locked, or does not have a live migration in progress.',
    },
    body: object({ force_complete: described('Must be null.', z.null()) }),
    target: parentServer,
    run: async ({ engine, context, target, params }) => {
      await engine.servers.act(context, target.id, 'live_migration_force_complete', { migrationNumber: params.id });
    },
  }),
];
