import type { Context } from '../context.js';
import type { Core } from '../core.js';
import type { Claim, FlavorCopy, MigrationRecord, MigrationType, New, Server } from '../model/index.js';
import { amountsOf, forceClaim, release } from '../scheduler/claims.js';
import type { Host, HostMap } from '../scheduler/infrastructure.js';
import { NoValidHost, place } from '../scheduler/scheduler.js';
import type { Tx } from '../store/database.js';
import { tables } from '../store/tables.js';
import { hasLocalRoot } from './block-devices.js';
import type { ServerPatch, TaskRun } from './task-run.js';

/** Where a server is to go. */
export interface WantedDestination {
  /** The flavor it has there. */
  readonly flavor: FlavorCopy;
  /** Only this host, by name or hypervisor name. */
  readonly host?: string;
  readonly exclude?: readonly string[];
  /** Takes `host` without asking the scheduler, even where there is no room. */
  readonly force?: boolean;
  /** Zone instead of the one the server is pinned to; null for any. */
  readonly zone?: string | null;
}

/** A place that is taken for a server. */
export interface Destination {
  readonly host: string;
  readonly node: string;
  readonly claim: Claim;
}

/** A host by its name or its hypervisor's. */
export function hostNamed(map: HostMap, name: string): Host | undefined {
  return map.hosts.get(name) ?? [...map.hosts.values()].find(({ node }) => node.hypervisorHostname === name);
}

/** Chooses a host for a server that moves, and takes the capacity in the same transaction. Throws {@link NoValidHost}. */
export async function claimDestination(
  tx: Tx,
  core: Core,
  map: HostMap,
  server: Server,
  wanted: WantedDestination,
): Promise<Destination> {
  const amounts = amountsOf(wanted.flavor, hasLocalRoot(server));
  const destination = ({ name, node }: Host): Destination => ({
    host: name,
    node: node.hypervisorHostname,
    claim: { host: name, ...amounts },
  });
  if (wanted.force && wanted.host !== undefined) {
    const host = hostNamed(map, wanted.host);
    if (!host) throw new NoValidHost({ requested: map.hosts.size });
    const forced = destination(host);
    await forceClaim(tx, forced.claim);
    return forced;
  }
  const group = server.groupId ? await tables.serverGroups.get(tx, server.groupId) : undefined;
  const chosen = await place(tx, core.infrastructure, map, {
    serverId: server.id,
    flavor: wanted.flavor,
    amounts,
    zone: wanted.zone === undefined ? server.pinnedZone : wanted.zone,
    host: wanted.host,
    excludeHosts: wanted.exclude,
    hints: server.schedulerHints,
    group,
  });
  return destination(chosen);
}

/** Which of its claims a server lives on: the last one of its host once it was resized, else the first. */
export function ownClaim({ claims, host, oldFlavor }: Server): Claim | undefined {
  const here = claims.filter((claim) => claim.host === host);
  return oldFlavor ? here.at(-1) : here[0];
}

/** Gives back all claims of a server (as read in this transaction) but one. */
export async function keepClaim(tx: Tx, server: Server, kept: Claim | undefined): Promise<ServerPatch> {
  for (const claim of server.claims) if (claim !== kept) await release(tx, claim);
  return { claims: kept ? [kept] : [] };
}

/** A move as it begins. */
export interface NewMigration {
  /** UUID, chosen by the request so that its job can name it. */
  readonly id: string;
  readonly type: MigrationType;
  /** The flavor the server gets, where that changes. */
  readonly flavor?: FlavorCopy;
}

/** Writes down that a server is about to move. */
export async function beginMigration(
  tx: Tx,
  core: Core,
  { caller }: Context,
  server: Server,
  { id, type, flavor = server.flavor }: NewMigration,
): Promise<MigrationRecord> {
  const [before, after] = await Promise.all([server.flavor, flavor].map(({ id }) => tables.flavors.get(tx, id)));
  const record: New<MigrationRecord> = {
    id,
    serverId: server.id,
    projectId: caller.projectId,
    userId: caller.userId,
    type,
    status: type === 'migration' || type === 'resize' ? 'pre-migrating' : 'accepted',
    sourceHost: server.host,
    sourceNode: server.node,
    destHost: null,
    destNode: null,
    oldFlavorSeq: before?.seq ?? null,
    newFlavorSeq: after?.seq ?? null,
    memoryTotalBytes: 0,
    memoryProcessedBytes: 0,
    memoryRemainingBytes: 0,
    diskTotalBytes: 0,
    diskProcessedBytes: 0,
    diskRemainingBytes: 0,
    hidden: false,
    createdAt: core.clock.now(),
    updatedAt: null,
  };
  return tables.migrations.insert(tx, record);
}

export type MigrationPatch = Partial<Omit<MigrationRecord, 'id' | 'seq' | 'revision'>>;

/** Changes a migration; nothing when it is gone. */
export async function changeMigration(tx: Tx, core: Core, id: string, patch: MigrationPatch): Promise<void> {
  const migration = await tables.migrations.lock(tx, id);
  if (migration) await tables.migrations.update(tx, { ...migration, ...patch, updatedAt: core.clock.now() });
}

/** The migration that a job works on. */
export async function migrationOf(run: TaskRun): Promise<MigrationRecord> {
  const id: string = run.arguments.migrationId;
  const migration = await tables.migrations.get(run.core.store, id);
  if (!migration) throw new Error(`Migration ${id} could not be found.`);
  return migration;
}

/** Ports and volumes follow the server to the host it is on now. May be repeated. */
export async function followServer(run: TaskRun): Promise<void> {
  const { server, core, context } = run;
  const host = server.host ?? '';
  if (server.interfaces.length > 0) await core.catalogs.networks.movePorts(context.caller, server.id, host);
  for (const { attachmentId, device } of server.blockDevices) {
    if (!attachmentId) continue;
    await core.catalogs.volumes.connect(context.caller, attachmentId, { host, mountpoint: device });
    await core.catalogs.volumes.complete(context.caller, attachmentId);
  }
}

/** How unfinished migrations end when their server is deleted or its state is reset. */
export async function endMigrations(tx: Tx, core: Core, serverId: string): Promise<void> {
  const open = await tables.migrations.find(tx, (q) =>
    q.where('server_id', '=', serverId).where('status', 'not in', [...ENDED]),
  );
  for (const migration of open) {
    const confirmed = migration.status === 'finished' || migration.status === 'confirming';
    const status = confirmed ? 'confirmed' : migration.type === 'live-migration' ? 'cancelled' : 'error';
    await tables.migrations.update(tx, { ...migration, status, updatedAt: core.clock.now() });
  }
}

/** Statuses in which a migration has come to its end; an evacuation that is `done` waits for its old host. */
const ENDED = ['confirmed', 'reverted', 'completed', 'cancelled', 'failed', 'error', 'done'] as const;
