import { type Amounts, checkLimits } from '@apistrata/quota';
import { compoundKey, hotStatement, lockName, type Session, settled, type Tx } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import type { QuotaKind } from '../../core/settings.js';
import { forbidden, type Refusal } from '../../errors/refusal.js';
import type { Caller } from '../../model/index.js';
import type { QuotaExcess } from '../../observation/observer.js';
import { LIVE, liveOfProject, tables } from '../../schema/tables.js';

type Owner = Pick<Caller, 'projectId' | 'userId'>;
type Limits = Readonly<Record<QuotaKind, number>>;

/** What a server takes of a project's quota. */
const SERVER_KINDS = ['cores', 'instances', 'ram'] as const satisfies readonly QuotaKind[];
type ServerAmounts = Readonly<Record<(typeof SERVER_KINDS)[number], number>>;

/** What applies to a project: its own limits, else those of the class `default`, else the configured ones. */
export async function limitsOf(core: Core, session: Session, projectId: string, userId = ''): Promise<Limits> {
  const [user, project, byClass] = await settled([
    userId ? tables.quotaSets.get(session, compoundKey(projectId, userId)) : undefined,
    tables.quotaSets.get(session, compoundKey(projectId, '')),
    tables.quotaClasses.get(session, 'default'),
  ]);
  return { ...core.settings.quotas, ...byClass?.limits, ...project?.limits, ...user?.limits };
}

/** Figures of a project's live servers; soft-deleted ones do not count. Part of every create, so it is built once. */
const usageOf = (ofUser: boolean) =>
  hotStatement<Readonly<Record<keyof ServerAmounts, number | string>>>(({ db, kind }) => {
    const ofProject = db
      .selectFrom('servers')
      .select([
        sql`count(*)`.as('instances'),
        sql`coalesce(sum(vcpus), 0)`.as('cores'),
        sql`coalesce(sum(memory_mb), 0)`.as('ram'),
      ])
      .where('project_id', '=', '')
      .where(liveOfProject(kind))
      .where('vm_state', '!=', sql.lit('soft-delete'));
    return ofUser ? ofProject.where('user_id', '=', '') : ofProject;
  });
const usageOfProject = usageOf(false);
const usageOfUser = usageOf(true);

/** Instances, cores and memory (MiB) of a project's live servers, or of one user's among them. */
export async function serverUsage(session: Session, projectId: string, userId?: string): Promise<ServerAmounts> {
  const { rows } = await (userId ? usageOfUser(session, [projectId, userId]) : usageOfProject(session, [projectId]));
  const [{ instances, cores, ram } = { instances: 0, cores: 0, ram: 0 }] = rows;
  return { instances: Number(instances), cores: Number(cores), ram: Number(ram) };
}

/**
 * The 403 of a request that does not fit; whoever looks on is told.
 *
 * @param message what the caller reads; default: names and numbers of what was exceeded
 */
export function overQuota(
  { observer }: Pick<Core, 'observer'>,
  { projectId, userId }: Owner,
  exceeded: readonly QuotaExcess[],
  message = excessText(exceeded),
): Refusal {
  observer.overQuota?.({ projectId, userId, exceeded });
  return forbidden(message);
}

function excessText(exceeded: readonly QuotaExcess[]): string {
  const list = (pick: (kind: QuotaExcess) => string | number) => exceeded.map(pick).join(', ');
  const names = list(({ kind }) => kind);
  return `Quota exceeded for ${names}: Requested ${list((k) => k.requested)}, but already used ${list((k) => k.used)} of ${list((k) => k.limit)} ${names}`;
}

/**
 * Throws the 403 unless the project and the user may have that much more. It measures in the caller's own transaction,
 * one at a time per project, so no number of concurrent requests gets past a limit.
 */
export async function checkServerQuota(core: Core, tx: Tx, { caller }: Context, requested: Amounts): Promise<void> {
  for (const userId of [undefined, caller.userId]) {
    const own = userId ? await tables.quotaSets.get(tx, compoundKey(caller.projectId, userId)) : undefined;
    if (userId && !own) continue;
    const limits = await limitsOf(core, tx, caller.projectId, userId);
    // Counting, one project's requests after the other, is needed only where something can be exceeded.
    if (Object.keys(requested).every((kind) => limits[kind as QuotaKind] < 0)) continue;
    await lockName(tx, `quota:${caller.projectId}`);
    const usage = await serverUsage(tx, caller.projectId, userId);
    const { exceeded } = checkLimits({ limits, usage, requested });
    if (exceeded.length > 0)
      throw overQuota(
        core,
        caller,
        [...exceeded].sort((a, b) => (a.kind < b.kind ? -1 : 1)),
      );
  }
}

/** How much room there is in one scope: how many servers of that size more, and the 403 for so many. */
async function roomFor(
  core: Core,
  tx: Tx,
  caller: Owner,
  userId: string | undefined,
  limits: Limits,
  each: ServerAmounts,
): Promise<{ readonly servers: number; readonly refusal: (count: number) => Error }> {
  const { projectId } = caller;
  const limited = SERVER_KINDS.filter((kind) => limits[kind] >= 0);
  if (limited.length === 0) return { servers: Number.POSITIVE_INFINITY, refusal: () => overQuota(core, caller, []) };
  await lockName(tx, `quota:${projectId}`);
  const usage = await serverUsage(tx, projectId, userId);
  const rooms = limited.map((kind) => (limits[kind] - usage[kind]) / each[kind]);
  return {
    servers: Math.max(0, Math.floor(Math.min(...rooms.filter((room) => !Number.isNaN(room))))),
    refusal: (count) => {
      const requested = Object.fromEntries(Object.entries(each).map(([kind, amount]) => [kind, amount * count]));
      return overQuota(core, caller, checkLimits({ limits, usage, requested }).exceeded);
    },
  };
}

/**
 * How many of up to `most` servers of a size quotas admit, counted in the caller's own transaction. Throws the 403 when
 * they are fewer than `least`.
 */
export async function admitServers(
  core: Core,
  tx: Tx,
  { caller }: Context,
  size: { readonly cores: number; readonly ram: number },
  { least, most }: { readonly least: number; readonly most: number },
): Promise<number> {
  const { projectId } = caller;
  const [own, ofProject] = await settled([
    tables.quotaSets.get(tx, compoundKey(projectId, caller.userId)),
    limitsOf(core, tx, projectId),
  ]);
  let admitted = most;
  for (const userId of own ? [undefined, caller.userId] : [undefined]) {
    const limits = { ...ofProject, ...(userId === undefined ? {} : own?.limits) };
    const room = await roomFor(core, tx, caller, userId, limits, { cores: size.cores, instances: 1, ram: size.ram });
    if (room.servers < least) throw room.refusal(least);
    admitted = Math.min(admitted, room.servers);
  }
  return admitted;
}

/** Throws the 403 when a user's servers in a group would become too many. Members of a group are admitted one by one. */
export async function checkGroupMembers(
  core: Core,
  tx: Tx,
  { caller }: Context,
  groupId: string,
  requested: number,
): Promise<void> {
  await lockName(tx, `group:${groupId}`);
  const { server_group_members: limit } = await limitsOf(core, tx, caller.projectId, caller.userId);
  if (limit < 0) return;
  const used = await tables.servers.count(tx, (q) =>
    q.where('group_id', '=', groupId).where(LIVE).where('user_id', '=', caller.userId),
  );
  if (used + requested > limit)
    throw overQuota(core, caller, [{ kind: 'server_group_members', requested, used, limit }]);
}

/** Throws the 403 when there are more metadata items than a project may give one thing. */
export async function checkMetadataQuota(core: Core, { caller }: Context, items: number): Promise<void> {
  const { metadata_items: limit } = await limitsOf(core, core.store, caller.projectId, caller.userId);
  if (limit >= 0 && items > limit)
    throw overQuota(core, caller, [{ kind: 'metadata_items', requested: items, used: 0, limit }]);
}
