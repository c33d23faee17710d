import type { Resource } from '../description/resource.js';

export const migrationDocs: Resource = {
  tag: 'migrations',
  about:
    'Moves of servers from host to host: all of them for administrators, and the live ones of a server that are under way.',
  parameters: { id: 'Number of the migration' },
  operations: {
    'GET /os-migrations': [
      'listMigrations',
      'Migrations of every kind, newest first. Type and links are shown from 2.23, pages and a filter by time come with 2.59, filters by project and user with 2.80.',
    ],
    'GET /servers/{server_id}/migrations': [
      'listServerMigrations',
      'The live migrations of a server that are under way, with what is copied and what is left.',
    ],
    'GET /servers/{server_id}/migrations/{id}': ['showServerMigration', 'One live migration that is under way.'],
    'DELETE /servers/{server_id}/migrations/{id}': [
      'abortServerMigration',
      'Stops a live migration; the server stays where it is. From 2.65 on one that still waits for its turn too.',
      {
        400: 'The migration is in a state in which it cannot be stopped',
        409: 'The server is locked, or is not in a live migration',
      },
    ],
    'POST /servers/{server_id}/migrations/{id}/action force_complete': [
      'forceCompleteServerMigration',
      'Makes a live migration end that never would, since the guest writes faster than memory is copied: the guest is halted or moved over early.',
      {
        400: 'The migration is in a state in which it cannot be forced',
        409: 'The server is locked, or is not in a live migration',
      },
    ],
  },
  fields: {
    'query.hidden': 'Taken for the sake of old clients, and nearly without effect',
    'query.host': 'Only those from or to this host',
    'query.instance_uuid': 'Only those of this server, by id',
    'query.source_compute': 'Only those from this host',
    'query.status': 'Only those of this status',
    'query.migration_type': 'Only those of this type',
    'query.marker': 'UUID of the last migration of the page before. New in 2.59',
    'query.limit': 'Migrations of a page at the most. New in 2.59',
    'query.changes-since': 'Only those that changed at or after this time, ISO 8601. New in 2.59',
    'query.project_id': 'Only those of servers of this project. New in 2.80',
    'query.user_id': 'Only those that this user began. New in 2.80',
    migrations: 'The migrations',
    migrations_links: 'Link to the next page; absent on the last one. New in 2.59',
    migration: 'A live migration',
    force_complete: 'null',
    id: 'Number of the migration, by which paths name it',
    uuid: 'UUID of the migration, by which lists are paged. New in 2.59',
    status: 'How far it is, such as `queued`, `running`, `completed` or `error`',
    source_compute: 'Host it leads from; null for those who may not see it',
    source_node: 'Hypervisor it leads from; null for those who may not see it',
    dest_compute: 'Host it leads to, null as long as none is chosen',
    dest_node: 'Hypervisor it leads to, null as long as none is chosen',
    dest_host: 'Address of the host it leads to, null as long as none is chosen',
    old_instance_type_id: 'Number of the flavor before, or null',
    new_instance_type_id: 'Number of the flavor afterwards, or null',
    migration_type: '`migration`, `resize`, `live-migration` or `evacuation`. New in 2.23',
    'migrations.links': 'Where it is shown by itself, for a live migration under way. New in 2.23',
    project_id: 'Id of the project of the server. New in 2.80',
    user_id: 'Id of the user who began it. New in 2.80',
    memory_total_bytes: 'Memory to copy, in bytes; null as long as it is not known',
    memory_processed_bytes: 'Memory copied, in bytes; null as long as it is not known',
    memory_remaining_bytes:
      'Memory left to copy, in bytes; grows when the guest writes. Null as long as it is not known',
    disk_total_bytes: 'Disk to copy, in bytes; null for shared storage, and as long as it is not known',
    disk_processed_bytes: 'Disk copied, in bytes; null for shared storage, and as long as it is not known',
    disk_remaining_bytes: 'Disk left to copy, in bytes; null for shared storage, and as long as it is not known',
  },
};
