import {
  compoundKey,
  EVERYBODY,
  hotStatement,
  lockName,
  type Session,
  settled,
  type Tx,
} from '@apistrata/record-store';
import { sql } from 'kysely';
import type { Core } from '../../core/core.js';
import type { QuotaKind } from '../../core/settings.js';
import { quotaKinds } from '../../core/settings.js';
import { badRequest } from '../../errors/refusal.js';
import { tables } from '../../schema/tables.js';
import { limitsOf, serverUsage } from './server-quota.js';

/** A number for each kind of resource. Of limits, -1 is unlimited. */
export type QuotaValues = Readonly<Record<QuotaKind, number>>;

/** Whose limits: a project's, or those of one user in it. */
export interface QuotaScope {
  readonly projectId: string;
  readonly userId?: string;
}

const nothing = Object.fromEntries(quotaKinds.map((kind) => [kind, 0])) as QuotaValues;

const groupsOf = (ofUser: boolean) =>
  hotStatement<{ readonly count: number | string }>(({ db }) => {
    const ofProject = db.selectFrom('server_groups').select(sql`count(*)`.as('count')).where('project_id', '=', '');
    return ofUser ? ofProject.where('user_id', '=', '') : ofProject;
  });
const groupsOfProject = groupsOf(false);
const groupsOfUser = groupsOf(true);

/** -1 is more than anything. */
function amount(limit: number): number {
  return limit === -1 ? Number.POSITIVE_INFINITY : limit;
}

/** Limits of projects, of users in them, and of the class `default`; and what is used of them. */
export class Quotas {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** What applies to a project, or to a user in it. */
  limits({ projectId, userId }: QuotaScope): Promise<QuotaValues> {
    return limitsOf(this.#core, this.#core.store, projectId, userId);
  }

  /** What applies to projects that have no limits of their own. */
  async defaults(): Promise<QuotaValues> {
    return this.classLimits('default');
  }

  /** The limits of a class; those of a class nobody has set are the configured ones. */
  async classLimits(name: string): Promise<QuotaValues> {
    const known = await tables.quotaClasses.get(this.#core.store, name);
    return { ...this.#core.settings.quotas, ...known?.limits };
  }

  /** How much is in use, counted from the things themselves. Kinds that are not counted show 0. */
  async usage({ projectId, userId }: QuotaScope, session: Session = this.#core.store): Promise<QuotaValues> {
    const [groups, servers] = await settled([
      userId ? groupsOfUser(session, [projectId, userId]) : groupsOfProject(session, [projectId]),
      serverUsage(session, projectId, userId),
    ]);
    return { ...nothing, ...servers, server_groups: Number(groups.rows[0]?.count) };
  }

  /**
   * Sets some limits and leaves the others as they are. Unless forced, throws the 400 for less than is in use or has
   * been given to users, and for giving a user more than the project has left.
   */
  async set(scope: QuotaScope, changed: Partial<QuotaValues>, options: { readonly force: boolean }): Promise<void> {
    const { projectId, userId = '' } = scope;
    await this.#core.store.transaction(async (tx) => {
      await lockName(tx, `quota:${projectId}`);
      if (!options.force) await this.#check(tx, scope, changed);
      const key = compoundKey(projectId, userId);
      const known = await tables.quotaSets.lock(tx, key);
      const limits = { ...known?.limits, ...changed } as QuotaValues;
      if (known) await tables.quotaSets.update(tx, { ...known, limits });
      else await tables.quotaSets.insert(tx, { projectId, userId, limits });
    });
  }

  async setClass(name: string, changed: Partial<QuotaValues>): Promise<void> {
    await this.#core.store.transaction(async (tx) => {
      await lockName(tx, 'quota-classes');
      const known = await tables.quotaClasses.lock(tx, name);
      const limits = { ...known?.limits, ...changed } as QuotaValues;
      if (known) await tables.quotaClasses.update(tx, { ...known, limits });
      else await tables.quotaClasses.insert(tx, { name, limits });
    });
  }

  /** Back to the defaults: of a user to the project's limits, of a project with all its users to those of the class. */
  async remove({ projectId, userId }: QuotaScope): Promise<void> {
    await this.#core.store.transaction(async (tx) => {
      await lockName(tx, `quota:${projectId}`);
      tx.concerns(EVERYBODY);
      const doomed = tx.db.deleteFrom('quota_sets').where('project_id', '=', projectId);
      await (userId ? doomed.where('user_id', '=', userId) : doomed).execute();
    });
  }

  async #check(tx: Tx, { projectId, userId }: QuotaScope, changed: Partial<QuotaValues>): Promise<void> {
    const project = await limitsOf(this.#core, tx, projectId);
    const usage = await this.usage({ projectId, userId }, tx);
    const ofOthers = await tables.quotaSets.find(tx, (q) =>
      q.where('project_id', '=', projectId).where('user_id', 'not in', ['', userId ?? '']),
    );
    for (const [kind, limit] of Object.entries(changed) as [QuotaKind, number][]) {
      const given = ofOthers.reduce((sum, { limits }) => sum + Math.max(limits[kind] ?? 0, 0), 0);
      const least = userId || project[kind] === -1 ? usage[kind] : Math.max(usage[kind], given);
      if (amount(limit) < least)
        throw badRequest(
          `Quota limit ${limit} for ${kind} must be greater than or equal to already used and reserved ${least}.`,
        );
      const most = userId ? amount(project[kind]) - given : Number.POSITIVE_INFINITY;
      if (amount(limit) > most)
        throw badRequest(`Quota limit ${limit} for ${kind} must be less than or equal to ${Math.max(most, 0)}.`);
    }
  }
}
