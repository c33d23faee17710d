import type { Resource } from '../reference/resource.js';

export const migrationDocs: Resource = {
  tag: 'migrations',
  about:
    'Migrations of servers between hosts: the list of all migrations, and the live migrations in progress of a server.',
  parameters: { id: 'ID of the migration: an integer.' },
  operations: {
    'GET /os-migrations': ['listMigrations', 'Lists migrations of all types, newest first.'],
    'GET /servers/{server_id}/migrations': [
      'listServerMigrations',
      'Lists the live migrations in progress of a server, with their progress.',
    ],
    'GET /servers/{server_id}/migrations/{id}': [
      'showServerMigration',
      'Shows a live migration in progress. Returns 404 after it has ended.',
    ],
    'DELETE /servers/{server_id}/migrations/{id}': [
      'abortServerMigration',
      'Aborts a live migration; the server stays on its host. Asynchronous: poll the migration until its status is `cancelled`. Preconditions: status `running`; since 2.65 also `queued` and `preparing`.',
      {
        400: 'The status of the migration does not allow it.',
        409: 'The server is locked, or has no live migration in progress.',
      },
    ],
    'POST /servers/{server_id}/migrations/{id}/action force_complete': [
      'forceCompleteServerMigration',
      'Forces a live migration to complete that makes no progress because the guest writes to memory faster than it is copied. The guest is paused or switched to the destination early. Asynchronous: poll the server. Precondition: migration status `running`.',
      {
        400: 'The status of the migration does not allow it.',
        409: 'The server is locked, or has no live migration in progress.',
      },
    ],
  },
  fields: {
    'query.hidden': 'Accepted for compatibility with old clients; has almost no effect.',
    'query.host': 'Filters migrations by source or destination host.',
    'query.instance_uuid': 'Filters migrations by server UUID.',
    'query.source_compute': 'Filters migrations by source host.',
    'query.status': 'Filters migrations by status.',
    'query.migration_type': 'Filters migrations by type.',
    'query.marker': 'UUID of the last migration of the previous page.',
    'query.limit': 'Maximum number of migrations per page.',
    'query.changes-since': 'Filters migrations changed at or after this time (ISO 8601).',
    'query.project_id': 'Filters migrations by the project of the server.',
    'query.user_id': 'Filters migrations by the user who started them.',
    migrations: 'The list of migrations.',
    migrations_links: 'Link to the next page. Absent on the last page.',
    migration: 'A live migration.',
    force_complete: 'Must be null.',
    id: 'ID of the migration: an integer, used in paths.',
    uuid: 'UUID of the migration, used as marker.',
    status: 'Status of the migration, such as `queued`, `running`, `completed` or `error`.',
    source_compute: 'Name of the source host. Null if the caller is not allowed to see it.',
    source_node: 'Hostname of the source hypervisor. Null if the caller is not allowed to see it.',
    dest_compute: 'Name of the destination host. Null until one is selected.',
    dest_node: 'Hostname of the destination hypervisor. Null until one is selected.',
    dest_host: 'IP address of the destination host. Null until one is selected.',
    old_instance_type_id: 'Internal ID of the flavor before the resize, or null.',
    new_instance_type_id: 'Internal ID of the flavor after the resize, or null.',
    migration_type: 'Type of the migration: `migration`, `resize`, `live-migration` or `evacuation`.',
    'migrations.links': 'Links to the migration. Only for live migrations in progress.',
    project_id: 'ID of the project that owns the server.',
    user_id: 'ID of the user who started the migration.',
    memory_total_bytes: 'Memory to copy, in bytes. Null until known.',
    memory_processed_bytes: 'Memory copied so far, in bytes. Null until known.',
    memory_remaining_bytes:
      'Memory that remains to be copied, in bytes. Increases while the guest writes. Null until known.',
    disk_total_bytes: 'Disk to copy, in bytes. Null for shared storage and until known.',
    disk_processed_bytes: 'Disk copied so far, in bytes. Null for shared storage and until known.',
    disk_remaining_bytes: 'Disk that remains to be copied, in bytes. Null for shared storage and until known.',
  },
};
