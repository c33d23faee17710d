import { type Amounts, checkLimits } from '@apistrata/quota';
import { awaitStatements, compoundKey, hotStatement, lockName, type Session, type Tx } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import type { QuotaKind } from '../../core/settings.js';
import { forbidden, type Rejection } from '../../errors/rejection.js';
import type { Caller } from '../../model/index.js';
import type { QuotaExcess } from '../../observation/observer.js';
import { lockGroup } from '../../scheduler/scheduler.js';
import { LIVE_SERVERS, liveServersOfProject, tables } from '../../schema/tables.js';

type Owner = Pick<Caller, 'projectId' | 'userId'>;
type Limits = Readonly<Record<QuotaKind, number>>;

/** The kinds of quota that count servers and their resources. */
const SERVER_KINDS = ['cores', 'instances', 'ram'] as const satisfies readonly QuotaKind[];
type ServerAmounts = Readonly<Record<(typeof SERVER_KINDS)[number], number>>;

/**
 * Returns the effective quota limits of a user or project. Each limit is the user's, otherwise the project's, otherwise
 * that of the class `default`, otherwise the configured limit.
 */
export async function limitsOf(core: Core, session: Session, projectId: string, userId = ''): Promise<Limits> {
  const [user, project, classLimits] = await awaitStatements([
    userId ? tables.quotaSets.get(session, compoundKey(projectId, userId)) : undefined,
    tables.quotaSets.get(session, compoundKey(projectId, '')),
    tables.quotaClasses.get(session, 'default'),
  ]);
  return { ...core.settings.quotas, ...classLimits?.limits, ...project?.limits, ...user?.limits };
}

/** The sums over server columns, as a database returns them. */
export type ServerUsageRow = Readonly<Record<keyof ServerAmounts, number | string>>;

/**
 * Returns the query that sums the resources of a project's servers, or of one user's servers in the project.
 * Soft-deleted servers do not count.
 */
export function selectServerUsage({ db, kind }: Session, perUser: boolean) {
  const projectQuery = db
    .selectFrom('servers')
    .select([
      sql`count(*)`.as('instances'),
      sql`coalesce(sum(vcpus), 0)`.as('cores'),
      sql`coalesce(sum(memory_mb), 0)`.as('ram'),
    ])
    .where('project_id', '=', '')
    .where(liveServersOfProject(kind))
    .where('vm_state', '!=', sql.lit('soft-delete'));
  return perUser ? projectQuery.where('user_id', '=', '') : projectQuery;
}

/** Returns a usage statement that is built only once, because every request to create servers executes it. */
const createUsageStatement = (perUser: boolean) =>
  hotStatement<ServerUsageRow>((session) => selectServerUsage(session, perUser));
const readProjectUsage = createUsageStatement(false);
const readUserUsage = createUsageStatement(true);

/**
 * Returns the number, cores and memory (MiB) of a project's servers, or of one user's servers in the project.
 * Soft-deleted servers do not count.
 */
export async function readServerUsage(session: Session, projectId: string, userId?: string): Promise<ServerAmounts> {
  const { rows } = await (userId
    ? readUserUsage(session, [projectId, userId])
    : readProjectUsage(session, [projectId]));
  return parseServerAmounts(rows[0]);
}

/** Converts the sums that {@link selectServerUsage} returns to numbers, because PostgreSQL returns sums as strings. */
export function parseServerAmounts(row: ServerUsageRow | undefined): ServerAmounts {
  const { instances, cores, ram } = row ?? { instances: 0, cores: 0, ram: 0 };
  return { instances: Number(instances), cores: Number(cores), ram: Number(ram) };
}

/**
 * Returns the 403 error for a request that exceeds a quota, and notifies observers.
 *
 * @param message the message for the caller; default: the exceeded quotas with the requested, used and allowed amounts
 */
export function overQuotaError(
  { observer }: Pick<Core, 'observer'>,
  { projectId, userId }: Owner,
  exceeded: readonly QuotaExcess[],
  message = excessMessage(exceeded),
): Rejection {
  observer.overQuota?.({ projectId, userId, exceeded });
  return forbidden(message);
}

function excessMessage(exceeded: readonly QuotaExcess[]): string {
  const list = (pick: (kind: QuotaExcess) => string | number) => exceeded.map(pick).join(', ');
  const names = list(({ kind }) => kind);
  return `Quota exceeded for ${names}: Requested ${list((k) => k.requested)}, but already used ${list((k) => k.used)} of ${list((k) => k.limit)} ${names}`;
}

/**
 * Throws 403 unless the quotas of the project and the user allow the additional resources. The usage is counted in the
 * caller's transaction. Such transactions are serialized per project, so concurrent requests cannot exceed a limit.
 */
export async function checkServerQuota(core: Core, tx: Tx, { caller }: Context, requested: Amounts): Promise<void> {
  for (const userId of [undefined, caller.userId]) {
    const userQuota = userId ? await tables.quotaSets.get(tx, compoundKey(caller.projectId, userId)) : undefined;
    if (userId && !userQuota) continue;
    const limits = await limitsOf(core, tx, caller.projectId, userId);
    // If none of the requested kinds has a limit, the project's requests do not need to be serialized.
    if (Object.keys(requested).every((kind) => limits[kind as QuotaKind] < 0)) continue;
    await lockName(tx, `quota:${caller.projectId}`);
    const usage = await readServerUsage(tx, caller.projectId, userId);
    const { exceeded } = checkLimits({ limits, usage, requested });
    if (exceeded.length > 0)
      throw overQuotaError(
        core,
        caller,
        [...exceeded].sort((a, b) => (a.kind < b.kind ? -1 : 1)),
      );
  }
}

/**
 * Returns how many servers of a given size the limits still allow, and a function that creates the 403 error for a
 * larger number of servers.
 */
async function countRemainingServers(
  core: Core,
  tx: Tx,
  caller: Owner,
  userId: string | undefined,
  limits: Limits,
  amountsPerServer: ServerAmounts,
): Promise<{ readonly servers: number; readonly rejection: (count: number) => Error }> {
  const { projectId } = caller;
  const limitedKinds = SERVER_KINDS.filter((kind) => limits[kind] >= 0);
  if (limitedKinds.length === 0)
    return { servers: Number.POSITIVE_INFINITY, rejection: () => overQuotaError(core, caller, []) };
  await lockName(tx, `quota:${projectId}`);
  const usage = await readServerUsage(tx, projectId, userId);
  const remaining = limitedKinds.map((kind) => (limits[kind] - usage[kind]) / amountsPerServer[kind]);
  return {
    servers: Math.max(0, Math.floor(Math.min(...remaining.filter((count) => !Number.isNaN(count))))),
    rejection: (count) => {
      const requested = Object.fromEntries(
        Object.entries(amountsPerServer).map(([kind, amount]) => [kind, amount * count]),
      );
      return overQuotaError(core, caller, checkLimits({ limits, usage, requested }).exceeded);
    },
  };
}

/**
 * Returns how many servers of a given size the quotas allow, at most `max`. Counts the usage in the caller's
 * transaction. Throws 403 if the quotas allow fewer than `min` servers.
 */
export async function admitServers(
  core: Core,
  tx: Tx,
  { caller }: Context,
  size: { readonly cores: number; readonly ram: number },
  { min, max }: { readonly min: number; readonly max: number },
): Promise<number> {
  const { projectId } = caller;
  const [userQuota, projectQuery] = await awaitStatements([
    tables.quotaSets.get(tx, compoundKey(projectId, caller.userId)),
    limitsOf(core, tx, projectId),
  ]);
  let admittedServers = max;
  for (const userId of userQuota ? [undefined, caller.userId] : [undefined]) {
    const limits = { ...projectQuery, ...(userId === undefined ? {} : userQuota?.limits) };
    const maxServers = await countRemainingServers(core, tx, caller, userId, limits, {
      cores: size.cores,
      instances: 1,
      ram: size.ram,
    });
    if (maxServers.servers < min) throw maxServers.rejection(min);
    admittedServers = Math.min(admittedServers, maxServers.servers);
  }
  return admittedServers;
}

/** Throws 403 if a user would have too many servers in a server group. Checks for the same group are serialized. */
export async function checkGroupMembers(
  core: Core,
  tx: Tx,
  { caller }: Context,
  groupId: string,
  requested: number,
): Promise<void> {
  await lockGroup(tx, groupId);
  const { server_group_members: limit } = await limitsOf(core, tx, caller.projectId, caller.userId);
  if (limit < 0) return;
  const used = await tables.servers.count(tx, (q) =>
    q.where('group_id', '=', groupId).where(LIVE_SERVERS).where('user_id', '=', caller.userId),
  );
  if (used + requested > limit)
    throw overQuotaError(core, caller, [{ kind: 'server_group_members', requested, used, limit }]);
}

/** Throws 403 if there are more metadata items than a project may set on one resource. */
export async function checkMetadataQuota(core: Core, { caller }: Context, items: number): Promise<void> {
  const { metadata_items: limit } = await limitsOf(core, core.store, caller.projectId, caller.userId);
  if (limit >= 0 && items > limit)
    throw overQuotaError(core, caller, [{ kind: 'metadata_items', requested: items, used: 0, limit }]);
}
