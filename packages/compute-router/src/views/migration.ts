import type { MigrationRecord } from '@apistrata/compute-engine';
import { migrationsInProgress } from '@apistrata/compute-engine/api';
import { since } from '@apistrata/microversion';
import { field, type ViewField, type ViewShape, view } from '@apistrata/microversion/router';
import { described } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { HostsCall } from '../http/call.js';
import type { RuleName } from '../policy/index.js';
import { commonTexts } from '../reference/common-texts.js';
import * as type from '../schemas/reply-types.js';

/** Descriptions of fields that occur in several places. */
export const migrationTexts = {
  migrations: 'The list of migrations.',
} as const;

type Shape = ViewShape<MigrationRecord, HostsCall>;
type Field = ViewField<MigrationRecord, HostsCall>;

/** Returns the address of the destination host of a migration. */
function destAddress({ destHost }: MigrationRecord, call: HostsCall): string | null {
  return (destHost !== null && call.loaded.hosts.get(destHost)?.node.hostIp) || null;
}

/** Source and destination; null for callers that the rule does not allow. Without a rule, all callers see them. */
function places(rule?: RuleName): Shape {
  const place = (get: (m: MigrationRecord, call: HostsCall) => string | null): Field =>
    field(type.nullableText, (m, call: HostsCall) => (rule === undefined || call.can(rule) ? get(m, call) : null));
  return {
    source_compute: described(
      'Name of the source host. Null if the caller is not allowed to see it.',
      place((m) => m.sourceHost),
    ),
    source_node: described(
      'Hostname of the source hypervisor. Null if the caller is not allowed to see it.',
      place((m) => m.sourceNode),
    ),
    dest_compute: described(
      'Name of the destination host. Null until one is selected.',
      place((m) => m.destHost),
    ),
    dest_node: described(
      'Hostname of the destination hypervisor. Null until one is selected.',
      place((m) => m.destNode),
    ),
    dest_host: described('IP address of the destination host. Null until one is selected.', place(destAddress)),
  };
}

const common: Shape = {
  id: described(
    'ID of the migration: an integer, used in paths.',
    field(z.int(), (m) => m.seq),
  ),
  status: described(
    'Status of the migration, such as `queued`, `running`, `completed` or `error`.',
    field(z.string(), (m) => m.status),
  ),
  created_at: described(
    commonTexts.createdAt,
    field(type.time, (m) => type.showTime(m.createdAt)),
  ),
  uuid: since(
    '2.59',
    described(
      'UUID of the migration, used as marker.',
      field(z.string(), (m) => m.id),
    ),
  ),
  project_id: since(
    '2.80',
    described(
      'ID of the project that owns the server.',
      field(z.string(), (m) => m.projectId),
    ),
  ),
  user_id: since(
    '2.80',
    described(
      'ID of the user who started the migration.',
      field(z.string(), (m) => m.userId),
    ),
  ),
};

/** A migration in the list of all migrations. */
export const migrationListed = view<MigrationRecord, HostsCall>({
  ...common,
  ...places('os_compute_api:os-migrations:index:host'),
  instance_uuid: described(
    commonTexts.serverUuid,
    field(z.string(), (m) => m.serverId),
  ),
  old_instance_type_id: described(
    'Internal ID of the flavor before the resize, or null.',
    field(z.int().nullable(), (m) => m.oldFlavorSeq),
  ),
  new_instance_type_id: described(
    'Internal ID of the flavor after the resize, or null.',
    field(z.int().nullable(), (m) => m.newFlavorSeq),
  ),
  updated_at: described(
    commonTexts.updatedAt,
    field(type.nullableTime, (m) => type.showNullableTime(m.updatedAt)),
  ),
  migration_type: since(
    '2.23',
    described(
      'Type of the migration: `migration`, `resize`, `live-migration` or `evacuation`.',
      field(z.enum(['migration', 'resize', 'live-migration', 'evacuation']), (m) => m.type),
    ),
  ),
  links: since(
    '2.23',
    described(
      'Links to the migration. Only for live migrations in progress.',
      field(type.links.optional(), (m: MigrationRecord, call: HostsCall) =>
        m.type === 'live-migration' && migrationsInProgress.includes(m.status)
          ? ([...call.links(`/servers/${m.serverId}/migrations/${m.seq}`)] as never)
          : undefined,
      ),
    ),
  ),
});

/** Amounts are unknown until the transfer of memory starts. */
const bytes = (get: (m: MigrationRecord) => number): Field =>
  field(z.int().min(1).nullable(), (m: MigrationRecord) => get(m) || null);

const ofServer: Shape = {
  ...common,
  server_uuid: described(
    commonTexts.serverUuid,
    field(z.string(), (m) => m.serverId),
  ),
  updated_at: described(
    commonTexts.updatedAt,
    field(type.time, (m) => type.showTime(m.updatedAt ?? m.createdAt)),
  ),
  memory_total_bytes: described(
    'Memory to copy, in bytes. Null until known.',
    bytes((m) => m.memoryTotalBytes),
  ),
  memory_processed_bytes: described(
    'Memory copied so far, in bytes. Null until known.',
    bytes((m) => m.memoryProcessedBytes),
  ),
  memory_remaining_bytes: described(
    'Memory that remains to be copied, in bytes. Increases while the guest writes. Null until known.',
    bytes((m) => m.memoryRemainingBytes),
  ),
  disk_total_bytes: described(
    'Disk to copy, in bytes. Null for shared storage and until known.',
    bytes((m) => m.diskTotalBytes),
  ),
  disk_processed_bytes: described(
    'Disk copied so far, in bytes. Null for shared storage and until known.',
    bytes((m) => m.diskProcessedBytes),
  ),
  disk_remaining_bytes: described(
    'Disk that remains to be copied, in bytes. Null for shared storage and until known.',
    bytes((m) => m.diskRemainingBytes),
  ),
};

/** A live migration in progress, in the list of its server. */
export const serverMigrationListed = view<MigrationRecord, HostsCall>({
  ...ofServer,
  ...places('os_compute_api:servers:migrations:index:host'),
});

/** A single migration: callers that may see it also see its hosts. */
export const serverMigrationShown = view<MigrationRecord, HostsCall>({ ...ofServer, ...places() });
