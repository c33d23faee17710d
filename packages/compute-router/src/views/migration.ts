import type { MigrationRecord } from '@apistrata/compute-engine';
import { migrationsInProgress } from '@apistrata/compute-engine/api';
import { since } from '@apistrata/microversion';
import { field, type ViewField, type ViewShape, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { HostsCall } from '../http/call.js';
import type { RuleName } from '../policy/index.js';
import * as type from '../schemas/reply-types.js';

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
    source_compute: place((m) => m.sourceHost),
    source_node: place((m) => m.sourceNode),
    dest_compute: place((m) => m.destHost),
    dest_node: place((m) => m.destNode),
    dest_host: place(destAddress),
  };
}

const common: Shape = {
  id: field(z.int(), (m) => m.seq),
  status: field(z.string(), (m) => m.status),
  created_at: field(type.time, (m) => type.showTime(m.createdAt)),
  uuid: since(
    '2.59',
    field(z.string(), (m) => m.id),
  ),
  project_id: since(
    '2.80',
    field(z.string(), (m) => m.projectId),
  ),
  user_id: since(
    '2.80',
    field(z.string(), (m) => m.userId),
  ),
};

/** A migration in the list of all migrations. */
export const migrationListed = view<MigrationRecord, HostsCall>({
  ...common,
  ...places('os_compute_api:os-migrations:index:host'),
  instance_uuid: field(z.string(), (m) => m.serverId),
  old_instance_type_id: field(z.int().nullable(), (m) => m.oldFlavorSeq),
  new_instance_type_id: field(z.int().nullable(), (m) => m.newFlavorSeq),
  updated_at: field(type.nullableTime, (m) => type.showNullableTime(m.updatedAt)),
  migration_type: since(
    '2.23',
    field(z.enum(['migration', 'resize', 'live-migration', 'evacuation']), (m) => m.type),
  ),
  links: since(
    '2.23',
    field(type.links.optional(), (m: MigrationRecord, call: HostsCall) =>
      m.type === 'live-migration' && migrationsInProgress.includes(m.status)
        ? ([...call.links(`/servers/${m.serverId}/migrations/${m.seq}`)] as never)
        : undefined,
    ),
  ),
});

/** Amounts are unknown until the transfer of memory starts. */
const bytes = (get: (m: MigrationRecord) => number): Field =>
  field(z.int().min(1).nullable(), (m: MigrationRecord) => get(m) || null);

const ofServer: Shape = {
  ...common,
  server_uuid: field(z.string(), (m) => m.serverId),
  updated_at: field(type.time, (m) => type.showTime(m.updatedAt ?? m.createdAt)),
  memory_total_bytes: bytes((m) => m.memoryTotalBytes),
  memory_processed_bytes: bytes((m) => m.memoryProcessedBytes),
  memory_remaining_bytes: bytes((m) => m.memoryRemainingBytes),
  disk_total_bytes: bytes((m) => m.diskTotalBytes),
  disk_processed_bytes: bytes((m) => m.diskProcessedBytes),
  disk_remaining_bytes: bytes((m) => m.diskRemainingBytes),
};

/** A live migration in progress, in the list of its server. */
export const serverMigrationListed = view<MigrationRecord, HostsCall>({
  ...ofServer,
  ...places('os_compute_api:servers:migrations:index:host'),
});

/** A single migration: callers that may see it also see its hosts. */
export const serverMigrationShown = view<MigrationRecord, HostsCall>({ ...ofServer, ...places() });
