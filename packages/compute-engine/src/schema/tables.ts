import { compoundKey, type DatabaseKind, DocumentTable } from '@apistrata/record-store';
import { type RawBuilder, sql } from 'kysely';
import { COMMON_TRAITS } from '../model/common-traits.js';
import type {
  Aggregate,
  ConsoleToken,
  Flavor,
  InstanceAction,
  Keypair,
  MigrationRecord,
  Node,
  QuotaClass,
  QuotaSet,
  Server,
  ServerGroup,
  Service,
} from '../model/index.js';
import { serverDefaults } from '../model/server-settings.js';
import type { PurgedServer } from '../retention/server-usage.js';

/** The condition for servers that are not deleted, as in the partial indexes. */
export const LIVE_SERVERS = sql<boolean>`deleted = 0`;

/**
 * The condition for one project's servers that are not deleted, in a form for which PostgreSQL does not use an index of
 * all servers.
 */
export function liveServersOfProject(kind: DatabaseKind): RawBuilder<boolean> {
  return kind === 'postgres' ? sql<boolean>`deleted < 1` : LIVE_SERVERS;
}

/** The tables of the engine's own records. Catalogs define their own tables. */
export const tables = {
  servers: new DocumentTable<Server>({
    name: 'servers',
    key: (s) => s.id,
    defaults: { ...serverDefaults, newFlavor: null, setAsideAt: null },
    columns: {
      project_id: (s) => s.projectId,
      user_id: (s) => s.userId,
      name: (s) => s.name,
      vm_state: (s) => s.vmState,
      task_state: (s) => s.taskState,
      host: (s) => s.host,
      flavor_id: (s) => s.flavor.id,
      image_id: (s) => s.imageId,
      reservation_id: (s) => s.reservationId,
      group_id: (s) => s.groupId,
      locked: (s) => s.lock !== null,
      deleted: (s) => s.deleted,
      created_at: (s) => s.createdAt,
      updated_at: (s) => s.updatedAt ?? s.createdAt,
      launched_at: (s) => s.launchedAt,
      terminated_at: (s) => s.terminatedAt,
      vcpus: (s) => Math.max(s.flavor.vcpus, s.newFlavor?.vcpus ?? 0),
      memory_mb: (s) => Math.max(s.flavor.memoryMb, s.newFlavor?.memoryMb ?? 0),
      addresses: (s) =>
        s.interfaces.flatMap((nic) => nic.fixedIps.flatMap((ip) => [ip.address, ...ip.floating])).join(' '),
    },
  }),
  serverUsage: new DocumentTable<PurgedServer>({
    name: 'server_usage',
    key: (s) => s.id,
    columns: {
      project_id: (s) => s.projectId,
      host: (s) => s.host,
      launched_at: (s) => s.launchedAt,
      terminated_at: (s) => s.terminatedAt,
    },
  }),
  actions: new DocumentTable<InstanceAction>({
    name: 'instance_actions',
    key: (a) => compoundKey(a.serverId, a.requestId),
    columns: {
      server_id: (a) => a.serverId,
      request_id: (a) => a.requestId,
      updated_at: (a) => a.updatedAt ?? a.startTime,
    },
  }),
  migrations: new DocumentTable<MigrationRecord>({
    name: 'migrations',
    key: (m) => m.id,
    columns: {
      server_id: (m) => m.serverId,
      project_id: (m) => m.projectId,
      user_id: (m) => m.userId,
      source_host: (m) => m.sourceHost,
      dest_host: (m) => m.destHost,
      status: (m) => m.status,
      type: (m) => m.type,
      hidden: (m) => m.hidden,
      updated_at: (m) => m.updatedAt ?? m.createdAt,
    },
  }),
  flavors: new DocumentTable<Flavor>({
    name: 'flavors',
    key: (f) => f.id,
    sharedByAll: true,
    columns: { name: (f) => f.name, is_public: (f) => f.isPublic, disabled: (f) => f.disabled },
  }),
  keypairs: new DocumentTable<Keypair>({
    name: 'keypairs',
    key: (k) => compoundKey(k.userId, k.name),
    columns: { user_id: (k) => k.userId, name: (k) => k.name },
  }),
  serverGroups: new DocumentTable<ServerGroup>({
    name: 'server_groups',
    key: (g) => g.id,
    columns: { project_id: (g) => g.projectId, user_id: (g) => g.userId },
  }),
  aggregates: new DocumentTable<Aggregate>({
    name: 'aggregates',
    key: (a) => a.id,
    columns: { name: (a) => a.name },
  }),
  services: new DocumentTable<Service>({
    name: 'services',
    key: (s) => s.id,
    columns: { host: (s) => s.host, binary_name: (s) => s.binary },
  }),
  nodes: new DocumentTable<Node>({
    name: 'nodes',
    key: (n) => n.id,
    defaults: { process: null, inventories: {}, traits: COMMON_TRAITS, capabilities: {} },
    columns: { host: (n) => n.host },
  }),
  quotaSets: new DocumentTable<QuotaSet>({
    name: 'quota_sets',
    key: (q) => compoundKey(q.projectId, q.userId),
    sharedByAll: true,
    columns: { project_id: (q) => q.projectId, user_id: (q) => q.userId },
  }),
  quotaClasses: new DocumentTable<QuotaClass>({
    name: 'quota_classes',
    key: (q) => q.name,
    sharedByAll: true,
    columns: {},
  }),
  consoleTokens: new DocumentTable<ConsoleToken>({
    name: 'console_tokens',
    key: (t) => t.token,
    columns: { server_id: (t) => t.serverId, expires_at: (t) => t.expiresAt },
  }),
} as const;
