import { type Amounts, checkLimits } from '@apistrata/quota';
import { sql } from 'kysely';
import type { Context } from '../../context.js';
import type { Core } from '../../core.js';
import { forbidden } from '../../errors.js';
import type { QuotaKind } from '../../settings.js';
import type { Session, Tx } from '../../store/database.js';
import { lockName } from '../../store/store.js';
import { compoundKey, tables } from '../../store/tables.js';

type Limits = Readonly<Record<QuotaKind, number>>;

/** What applies to a project: its own limits, else those of the class `default`, else the configured ones. */
export async function limitsOf(core: Core, session: Session, projectId: string, userId = ''): Promise<Limits> {
  const [user, project, byClass] = await Promise.all([
    userId ? tables.quotaSets.get(session, compoundKey(projectId, userId)) : undefined,
    tables.quotaSets.get(session, compoundKey(projectId, '')),
    tables.quotaClasses.get(session, 'default'),
  ]);
  return { ...core.settings.quotas, ...byClass?.limits, ...project?.limits, ...user?.limits };
}

/** Instances, cores and memory (MiB) of a project's live servers; soft-deleted ones do not count. */
export async function serverUsage(
  session: Session,
  projectId: string,
  userId?: string,
): Promise<{ instances: number; cores: number; ram: number }> {
  let query = session.db
    .selectFrom('servers')
    .select([
      sql`count(*)`.as('instances'),
      sql`coalesce(sum(vcpus), 0)`.as('cores'),
      sql`coalesce(sum(memory_mb), 0)`.as('ram'),
    ])
    .where('project_id', '=', projectId)
    .where('deleted', '=', 0)
    .where('vm_state', '!=', 'soft-delete');
  if (userId) query = query.where('user_id', '=', userId);
  const row = (await query.executeTakeFirstOrThrow()) as Record<string, unknown>;
  return { instances: Number(row.instances), cores: Number(row.cores), ram: Number(row.ram) };
}

/** The 403 of a request that does not fit. */
export function overQuota(kinds: readonly { kind: string; requested: number; used: number; limit: number }[]) {
  const list = (pick: (kind: (typeof kinds)[number]) => string | number) => kinds.map(pick).join(', ');
  const names = list(({ kind }) => kind);
  return forbidden(
    `Quota exceeded for ${names}: Requested ${list((k) => k.requested)}, but already used ${list((k) => k.used)} of ${list((k) => k.limit)} ${names}`,
  );
}

/**
 * Throws the 403 unless the project and the user may have that much more. It measures in the caller's own transaction,
 * one at a time per project, so no number of concurrent requests gets past a limit.
 */
export async function checkServerQuota(core: Core, tx: Tx, { caller }: Context, requested: Amounts): Promise<void> {
  await lockName(tx, `quota:${caller.projectId}`);
  for (const userId of [undefined, caller.userId]) {
    const own = userId ? await tables.quotaSets.get(tx, compoundKey(caller.projectId, userId)) : undefined;
    if (userId && !own) continue;
    const limits = await limitsOf(core, tx, caller.projectId, userId);
    // Counting is needed only where something can be exceeded.
    if (Object.keys(requested).every((kind) => limits[kind as QuotaKind] < 0)) continue;
    const usage = await serverUsage(tx, caller.projectId, userId);
    const { exceeded } = checkLimits({ limits, usage, requested });
    if (exceeded.length > 0) throw overQuota([...exceeded].sort((a, b) => (a.kind < b.kind ? -1 : 1)));
  }
}
