import { ALL_PROJECTS, compoundKey, hotStatement, lockName, type Session, type Tx } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { Core } from '../../core/core.js';
import type { QuotaKind } from '../../core/settings.js';
import { quotaKinds } from '../../core/settings.js';
import { badRequest } from '../../errors/rejection.js';
import type { QuotaClass, QuotaSet } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { limitsOf, type ServerUsageRow, selectServerUsage, serverAmounts } from './server-quota.js';

/** A number for each kind of resource. In limits, -1 means unlimited. */
export type QuotaValues = Readonly<Record<QuotaKind, number>>;

/** The owner of limits: a project, or one user in it. */
export interface QuotaScope {
  readonly projectId: string;
  readonly userId?: string;
}

/** Limits and usage at the same point in time. */
export interface QuotaOverview {
  readonly limits: QuotaValues;
  readonly usage: QuotaValues;
}

const zeroValues = Object.fromEntries(quotaKinds.map((kind) => [kind, 0])) as QuotaValues;

interface OverviewRow extends ServerUsageRow {
  /** The records of limits as JSON; null if none were set. */
  readonly of_class: string | null;
  readonly of_project: string | null;
  readonly of_user: string | null;
  readonly groups: number | string;
}

/**
 * Returns a statement that reads all limits and all usage. Parameters: the key of the project's limits and, for a user,
 * the key of the user's limits; the project and the user of the groups; the project and the user of the servers.
 */
const overviewOf = (perUser: boolean) =>
  hotStatement<OverviewRow>((session) => {
    const limits = (key: string) => sql`(select data from quota_sets where id = ${key})`;
    const ofUser = perUser ? sql` and user_id = ${''}` : sql``;
    return selectServerUsage(session, perUser).select([
      limits('').as('of_project'),
      (perUser ? limits('') : sql`null`).as('of_user'),
      sql`(select data from quota_classes where id = 'default')`.as('of_class'),
      sql`(select count(*) from server_groups where project_id = ${''}${ofUser})`.as('groups'),
    ]);
  });
const overviewOfProject = overviewOf(false);
const overviewOfUser = overviewOf(true);

function limitsIn(data: string | null | undefined): Partial<QuotaValues> | undefined {
  return data ? (JSON.parse(data) as QuotaSet | QuotaClass).limits : undefined;
}

/** Converts a limit for comparisons: -1 becomes infinity. */
function comparableLimit(limit: number): number {
  return limit === -1 ? Number.POSITIVE_INFINITY : limit;
}

/** Manages the limits of projects, users and the class `default`, and reads their usage. */
export class Quotas {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Returns the effective limits of a project, or of a user in it. */
  limits({ projectId, userId }: QuotaScope): Promise<QuotaValues> {
    return limitsOf(this.#core, this.#core.store, projectId, userId);
  }

  /** Returns the limits of projects for which none were set. */
  async defaults(): Promise<QuotaValues> {
    return this.classLimits('default');
  }

  /** Returns the limits of a class; the configured limits if none were set. */
  async classLimits(name: string): Promise<QuotaValues> {
    const stored = await tables.quotaClasses.get(this.#core.store, name);
    return { ...this.#core.settings.quotas, ...stored?.limits };
  }

  /** Returns the effective limits and the usage of a project, or of a user in it. Kinds that are not counted are 0. */
  async overview({ projectId, userId }: QuotaScope, session: Session = this.#core.store): Promise<QuotaOverview> {
    const ofProject = compoundKey(projectId, '');
    const { rows } = await (userId
      ? overviewOfUser(session, [ofProject, compoundKey(projectId, userId), projectId, userId, projectId, userId])
      : overviewOfProject(session, [ofProject, projectId, projectId]));
    const [row] = rows;
    return {
      limits: {
        ...this.#core.settings.quotas,
        ...limitsIn(row?.of_class),
        ...limitsIn(row?.of_project),
        ...limitsIn(row?.of_user),
      },
      usage: { ...zeroValues, ...serverAmounts(row), server_groups: Number(row?.groups) },
    };
  }

  /** Counts the resources in use. Kinds that are not counted are 0. */
  async usage(scope: QuotaScope, session: Session = this.#core.store): Promise<QuotaValues> {
    return (await this.overview(scope, session)).usage;
  }

  /**
   * Sets some limits and keeps the others. Unless `force` is set, throws 400 for limits below the usage or below the sum
   * of the limits of users, and for limits of a user above those of the project.
   */
  async set(scope: QuotaScope, changed: Partial<QuotaValues>, options: { readonly force: boolean }): Promise<void> {
    const { projectId, userId = '' } = scope;
    await this.#core.store.transaction(async (tx) => {
      await lockName(tx, `quota:${projectId}`);
      if (!options.force) await this.#check(tx, scope, changed);
      const key = compoundKey(projectId, userId);
      const existing = await tables.quotaSets.lock(tx, key);
      const limits = { ...existing?.limits, ...changed } as QuotaValues;
      if (existing) await tables.quotaSets.update(tx, { ...existing, limits });
      else await tables.quotaSets.insert(tx, { projectId, userId, limits });
    });
  }

  async setClass(name: string, changed: Partial<QuotaValues>): Promise<void> {
    await this.#core.store.transaction(async (tx) => {
      await lockName(tx, 'quota-classes');
      const existing = await tables.quotaClasses.lock(tx, name);
      const limits = { ...existing?.limits, ...changed } as QuotaValues;
      if (existing) await tables.quotaClasses.update(tx, { ...existing, limits });
      else await tables.quotaClasses.insert(tx, { name, limits });
    });
  }

  /** Resets limits: a user's limits to the project's, or the limits of a project and all its users to the class's. */
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
