import type { MigrationRecord } from '@apistrata/compute-engine';
import { migrationsInProgress } from '@apistrata/compute-engine/api';
import { since } from '@apistrata/microversion';
import { type ViewShape, view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { HostsCall } from '../http/call.js';
import type { RuleName } from '../policy/index.js';
import { commonTexts } from '../reference/common-texts.js';
import * as type from '../schemas/reply-types.js';
import { type Field, field, integer, nullableText, nullableTime, text, time } from './fields.js';

/** OpenAPI descriptions that several fields share. */
export const migrationTexts = {
  migrations: 'The list of migrations.',
} as const;

type Shape = ViewShape<MigrationRecord, HostsCall>;
type MigrationField = Field<MigrationRecord, HostsCall>;

/** Returns the IP address of a migration's destination host, or null if it is unknown. */
function destinationAddressOf({ destHost }: MigrationRecord, call: HostsCall): string | null {
  return (destHost !== null && call.loaded.hosts.get(destHost)?.node.hostIp) || null;
}

/**
 * Defines the fields that identify the source and the destination host. They are null for callers whom the policy rule
 * does not allow to see them. Without a rule, all callers see them.
 */
function sourceAndDestination(rule?: RuleName): Shape {
  const visibleField = (
    description: string,
    get: (m: MigrationRecord, call: HostsCall) => string | null,
  ): MigrationField =>
    nullableText(description, (m, call) => (rule === undefined || call.can(rule) ? get(m, call) : null));
  return {
    source_compute: visibleField(
      'Name of the source host. Null if the caller is not allowed to see it.',
      (m) => m.sourceHost,
    ),
    source_node: visibleField(
      'Hostname of the source hypervisor. Null if the caller is not allowed to see it.',
      (m) => m.sourceNode,
    ),
    dest_compute: visibleField(
      'Name of the destination host. Null until it is selected, or if the caller is not allowed to see it.',
      (m) => m.destHost,
    ),
    dest_node: visibleField(
      'Hostname of the destination hypervisor. Null until it is selected, or if the caller is not allowed to see it.',
      (m) => m.destNode,
    ),
    dest_host: visibleField(
      'IP address of the destination host. Null until it is selected, or if the caller is not allowed to see it.',
      destinationAddressOf,
    ),
  };
}

const commonFields: Shape = {
  id: integer('Integer ID of the migration, used in paths.', (m) => m.seq),
  status: text('Status of the migration, such as `queued`, `running`, `completed` or `error`.', (m) => m.status),
  created_at: time(commonTexts.createdAt, (m) => m.createdAt),
  uuid: since(
    '2.59',
    text('UUID of the migration. The query parameter `marker` accepts this ID.', (m) => m.id),
  ),
  project_id: since(
    '2.80',
    text('ID of the project of the caller who started the migration.', (m) => m.projectId),
  ),
  user_id: since(
    '2.80',
    text('ID of the user who started the migration.', (m) => m.userId),
  ),
};

/** The representation of a migration in the list of all migrations. */
export const listedMigration = view<MigrationRecord, HostsCall>({
  ...commonFields,
  ...sourceAndDestination('os_compute_api:os-migrations:index:host'),
  instance_uuid: text(commonTexts.serverUuid, (m) => m.serverId),
  old_instance_type_id: field(
    'Internal ID of the flavor before the resize, or null.',
    z.int().nullable(),
    (m) => m.oldFlavorSeq,
  ),
  new_instance_type_id: field(
    'Internal ID of the flavor after the resize, or null.',
    z.int().nullable(),
    (m) => m.newFlavorSeq,
  ),
  updated_at: nullableTime(commonTexts.updatedAt, (m) => m.updatedAt),
  migration_type: since(
    '2.23',
    field(
      'Type of the migration: `migration`, `resize`, `live-migration` or `evacuation`.',
      z.enum(['migration', 'resize', 'live-migration', 'evacuation']),
      (m) => m.type,
    ),
  ),
  links: since(
    '2.23',
    field(
      'Links to the migration. Present only for ongoing live migrations.',
      type.links.optional(),
      (m: MigrationRecord, call: HostsCall) =>
        m.type === 'live-migration' && migrationsInProgress.includes(m.status)
          ? ([...call.links(`/servers/${m.serverId}/migrations/${m.seq}`)] as never)
          : undefined,
    ),
  ),
});

/** Defines a field whose value is a number of bytes. The value is null until the transfer of memory starts. */
const bytesField = (description: string, get: (m: MigrationRecord) => number): MigrationField =>
  field(description, z.int().min(1).nullable(), (m) => get(m) || null);

const serverMigrationFields: Shape = {
  ...commonFields,
  server_uuid: text(commonTexts.serverUuid, (m) => m.serverId),
  updated_at: time(commonTexts.updatedAt, (m) => m.updatedAt ?? m.createdAt),
  memory_total_bytes: bytesField('Total memory to copy, in bytes. Null until it is known.', (m) => m.memoryTotalBytes),
  memory_processed_bytes: bytesField(
    'Memory that has been copied, in bytes. Null until it is known.',
    (m) => m.memoryProcessedBytes,
  ),
  memory_remaining_bytes: bytesField(
    'Memory that remains to be copied, in bytes. Increases if the guest writes to memory. Null until it is known.',
    (m) => m.memoryRemainingBytes,
  ),
  disk_total_bytes: bytesField(
    'Total disk space to copy, in bytes. Null until it is known, and for shared storage.',
    (m) => m.diskTotalBytes,
  ),
  disk_processed_bytes: bytesField(
    'Disk space that has been copied, in bytes. Null until it is known, and for shared storage.',
    (m) => m.diskProcessedBytes,
  ),
  disk_remaining_bytes: bytesField(
    'Disk space that remains to be copied, in bytes. Null until it is known, and for shared storage.',
    (m) => m.diskRemainingBytes,
  ),
};

/** The representation of a live migration in a server's list of ongoing live migrations. */
export const listedServerMigration = view<MigrationRecord, HostsCall>({
  ...serverMigrationFields,
  ...sourceAndDestination('os_compute_api:servers:migrations:index:host'),
});

/**
 * The representation of a live migration in the response for a single migration. Its hosts are visible to all callers
 * that can see the migration.
 */
export const shownServerMigration = view<MigrationRecord, HostsCall>({
  ...serverMigrationFields,
  ...sourceAndDestination(),
});
