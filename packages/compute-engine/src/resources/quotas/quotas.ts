import { ALL_PROJECTS, compoundKey, hotStatement, lockName, type Session, type Tx } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { Core } from '../../core/core.js';
import type { QuotaKind } from '../../core/settings.js';
import { quotaKinds } from '../../core/settings.js';
import { badRequest } from '../../errors/rejection.js';
import type { QuotaClass, QuotaSet } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { limitsOf, parseServerAmounts, type ServerUsageRow, selectServerUsage } from './server-quota.js';

/** A number for each kind of quota. As a limit, -1 means unlimited. */
export type QuotaValues = Readonly<Record<QuotaKind, number>>;

/** The project, or the user in a project, to which quota limits apply. */
export interface QuotaScope {
  readonly projectId: string;
  readonly userId?: string;
}

/** Quota limits and usage at the same point in time. */
export interface QuotaOverview {
  readonly limits: QuotaValues;
  readonly usage: QuotaValues;
}

const zeroValues = Object.fromEntries(quotaKinds.map((kind) => [kind, 0])) as QuotaValues;

interface OverviewRow extends ServerUsageRow {
  /** The stored limits of the class, the project and the user, as JSON. Null if no limits were set. */
  readonly of_class: string | null;
  readonly of_project: string | null;
  readonly of_user: string | null;
  readonly groups: number | string;
}

/**
 * Returns a statement that reads the quota limits and usage of a project, or of a user in a project. Parameters for a
 * project: the key of its limits, then its id twice. Parameters for a user: the keys of the project's and the user's
 * limits, then the project id and the user id twice. The first occurrence selects server groups, the second servers.
 */
const createOverviewStatement = (perUser: boolean) =>
  hotStatement<OverviewRow>((session) => {
    const limits = (key: string) => sql`(select data from quota_sets where id = ${key})`;
    const userCondition = perUser ? sql` and user_id = ${''}` : sql``;
    return selectServerUsage(session, perUser).select([
      limits('').as('of_project'),
      (perUser ? limits('') : sql`null`).as('of_user'),
      sql`(select data from quota_classes where id = 'default')`.as('of_class'),
      sql`(select count(*) from server_groups where project_id = ${''}${userCondition})`.as('groups'),
    ]);
  });
const readProjectOverview = createOverviewStatement(false);
const readUserOverview = createOverviewStatement(true);

function parseLimits(data: string | null | undefined): Partial<QuotaValues> | undefined {
  return data ? (JSON.parse(data) as QuotaSet | QuotaClass).limits : undefined;
}

/** Converts a limit for comparisons: -1 becomes infinity. */
function comparableLimit(limit: number): number {
  return limit === -1 ? Number.POSITIVE_INFINITY : limit;
}

/** Manages the quota limits of projects, users and the quota class `default`, and reads the usage. */
export class Quotas {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Returns the effective quota limits of a project, or of a user in the project. */
  limits({ projectId, userId }: QuotaScope): Promise<QuotaValues> {
    return limitsOf(this.#core, this.#core.store, projectId, userId);
  }

  /** Returns the quota limits of projects for which no limits were set. */
  async defaults(): Promise<QuotaValues> {
    return this.classLimits('default');
  }

  /** Returns the limits of a quota class. Limits that were not set have the configured values. */
  async classLimits(name: string): Promise<QuotaValues> {
    const stored = await tables.quotaClasses.get(this.#core.store, name);
    return { ...this.#core.settings.quotas, ...stored?.limits };
  }

  /**
   * Returns the effective quota limits and the usage of a project, or of a user in the project. The usage is 0 for
   * kinds of quota whose usage is not counted.
   */
  async overview({ projectId, userId }: QuotaScope, session: Session = this.#core.store): Promise<QuotaOverview> {
    const projectKey = compoundKey(projectId, '');
    const { rows } = await (userId
      ? readUserOverview(session, [projectKey, compoundKey(projectId, userId), projectId, userId, projectId, userId])
      : readProjectOverview(session, [projectKey, projectId, projectId]));
    const [row] = rows;
    return {
      limits: {
        ...this.#core.settings.quotas,
        ...parseLimits(row?.of_class),
        ...parseLimits(row?.of_project),
        ...parseLimits(row?.of_user),
      },
      usage: { ...zeroValues, ...parseServerAmounts(row), server_groups: Number(row?.groups) },
    };
  }

  /**
   * Counts the servers, cores, memory and server groups that a project or user uses. The usage of all other kinds of
   * quota is 0.
   */
  async usage(scope: QuotaScope, session: Session = this.#core.store): Promise<QuotaValues> {
    return (await this.overview(scope, session)).usage;
  }

  /**
   * Sets some quota limits and keeps the others. Unless `force` is set, throws 400 if a limit is below the usage, if a
   * project's limit is below the sum of its users' limits, or if a user's limit is above what the limits of the other
   * users leave of the project's limit.
   */
  async set(scope: QuotaScope, changed: Partial<QuotaValues>, options: { readonly force: boolean }): Promise<void> {
    const { projectId, userId = '' } = scope;
    await this.#core.store.transaction(async (tx) => {
      await lockName(tx, `quota:${projectId}`);
      if (!options.force) await this.#check(tx, scope, changed);
      const key = compoundKey(projectId, userId);
      const existingQuota = await tables.quotaSets.lock(tx, key);
      const limits = { ...existingQuota?.limits, ...changed } as QuotaValues;
      if (existingQuota) await tables.quotaSets.update(tx, { ...existingQuota, limits });
      else await tables.quotaSets.insert(tx, { projectId, userId, limits });
    });
  }

  async setClass(name: string, changed: Partial<QuotaValues>): Promise<void> {
    await this.#core.store.transaction(async (tx) => {
      await lockName(tx, 'quota-classes');
      const existingQuota = await tables.quotaClasses.lock(tx, name);
      const limits = { ...existingQuota?.limits, ...changed } as QuotaValues;
      if (existingQuota) await tables.quotaClasses.update(tx, { ...existingQuota, limits });
      else await tables.quotaClasses.insert(tx, { name, limits });
    });
  }

  /**
   * Removes stored quota limits. A user then has the project's limits. A project and all of its users then have the
   * limits of the class `default`.
   */
  async remove({ projectId, userId }: QuotaScope): Promise<void> {
    await this.#core.store.transaction(async (tx) => {
      await lockName(tx, `quota:${projectId}`);
      tx.concerns(ALL_PROJECTS);
      const deletion = tx.db.deleteFrom('quota_sets').where('project_id', '=', projectId);
      await (userId ? deletion.where('user_id', '=', userId) : deletion).execute();
    });
  }

  async #check(tx: Tx, { projectId, userId }: QuotaScope, changed: Partial<QuotaValues>): Promise<void> {
    const project = await limitsOf(this.#core, tx, projectId);
    const usage = await this.usage({ projectId, userId }, tx);
    const userLimits = await tables.quotaSets.find(tx, (q) =>
      q.where('project_id', '=', projectId).where('user_id', 'not in', ['', userId ?? '']),
    );
    for (const [kind, limit] of Object.entries(changed) as [QuotaKind, number][]) {
      const sumOfUserLimits = userLimits.reduce((sum, { limits }) => sum + Math.max(limits[kind] ?? 0, 0), 0);
      const min = userId || project[kind] === -1 ? usage[kind] : Math.max(usage[kind], sumOfUserLimits);
      if (comparableLimit(limit) < min)
        throw badRequest(
          `Quota limit ${limit} for ${kind} must be greater than or equal to already used and reserved ${min}.`,
        );
      const max = userId ? comparableLimit(project[kind]) - sumOfUserLimits : Number.POSITIVE_INFINITY;
      if (comparableLimit(limit) > max)
        throw badRequest(`Quota limit ${limit} for ${kind} must be less than or equal to ${Math.max(max, 0)}.`);
    }
  }
}
