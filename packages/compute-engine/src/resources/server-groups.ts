import { randomUUID } from 'node:crypto';
import { compoundKey, lockName, type Tx } from '@apistrata/record-store';
import type { Context } from '../core/context.js';
import type { Core } from '../core/core.js';
import { groupBy } from '../core/group-by.js';
import { notFound } from '../errors/rejection.js';
import type { GroupPolicy, ServerGroup } from '../model/index.js';
import { LIVE_SERVERS, tables } from '../schema/tables.js';
import { limitsOf, overQuotaError } from './quotas/server-quota.js';

/** A request to create a server group. */
export interface NewServerGroup {
  readonly name: string;
  readonly policy: GroupPolicy;
  /** Maximum number of the group's servers on one host. Only for the anti-affinity policy. */
  readonly maxServerPerHost?: number;
}

/** Filters and page of a server group list. */
export interface ServerGroupQuery {
  readonly allProjects?: boolean;
  readonly limit: number;
  readonly offset?: number;
}

/** A server group with the ids of its servers, oldest first. */
export interface GroupWithMembers extends ServerGroup {
  readonly members: readonly string[];
}

type Members = ReadonlyMap<string, readonly { readonly id: string }[]>;

const withMembers =
  (members: Members) =>
  (group: ServerGroup): GroupWithMembers => ({ ...group, members: (members.get(group.id) ?? []).map(({ id }) => id) });

/**
 * Manages server groups with affinity policies. The record of a group never changes, because each server stores the id
 * of its group.
 */
export class ServerGroups {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Returns a server group of the caller's project, or of any project for administrators. Throws 404 otherwise. */
  async get(context: Context, id: string): Promise<GroupWithMembers> {
    const group = await tables.serverGroups.get(this.#core.store, id);
    if (!group || !(context.isAdmin || group.projectId === context.caller.projectId))
      throw notFound(`Instance group ${id} could not be found.`);
    return withMembers(await this.#members([group]))(group);
  }

  /** Lists server groups, oldest first. */
  async list({ caller }: Context, query: ServerGroupQuery): Promise<readonly GroupWithMembers[]> {
    const groups = await tables.serverGroups.find(this.#core.store, (q) => {
      const rows = query.allProjects ? q : q.where('project_id', '=', caller.projectId);
      return rows
        .orderBy('seq')
        .limit(query.limit)
        .offset(Math.min(query.offset ?? 0, Number.MAX_SAFE_INTEGER));
    });
    return groups.map(withMembers(await this.#members(groups)));
  }

  /** Creates a server group. Throws 403 if a quota of the project or user is exceeded. */
  async create(context: Context, request: NewServerGroup): Promise<GroupWithMembers> {
    const { projectId, userId } = context.caller;
    const group = await this.#core.store.transaction(async (tx) => {
      await lockName(tx, `server-groups:${projectId}`);
      await this.#checkQuota(tx, projectId);
      if (await tables.quotaSets.get(tx, compoundKey(projectId, userId))) await this.#checkQuota(tx, projectId, userId);
      return tables.serverGroups.insert(tx, {
        id: randomUUID(),
        projectId,
        userId,
        name: request.name,
        policy: request.policy,
        maxServerPerHost: request.maxServerPerHost ?? null,
        createdAt: this.#core.clock.now(),
      });
    });
    return { ...group, members: [] };
  }

  /** Deletes a server group. The group's servers are not affected. */
  async delete(id: string): Promise<void> {
    await this.#core.store.transaction(async (tx) => {
      if (!(await tables.serverGroups.delete(tx, id))) throw notFound(`Instance group ${id} could not be found.`);
    });
  }

  async #checkQuota(tx: Tx, projectId: string, userId?: string): Promise<void> {
    const { server_groups: limit } = await limitsOf(this.#core, tx, projectId, userId);
    if (limit < 0) return;
    const used = await tables.serverGroups.count(tx, (q) => {
      const rows = q.where('project_id', '=', projectId);
      return userId === undefined ? rows : rows.where('user_id', '=', userId);
    });
    if (used < limit) return;
    const exceeded = [{ kind: 'server_groups', requested: 1, used, limit }];
    throw overQuotaError(
      this.#core,
      { projectId, userId: userId ?? '' },
      exceeded,
      'Quota exceeded, too many server groups.',
    );
  }

  /** Returns the ids of the servers in the given groups, by group id. */
  async #members(groups: readonly ServerGroup[]): Promise<Members> {
    if (groups.length === 0) return new Map();
    const rows = await this.#core.store.db
      .selectFrom('servers')
      .select(['id', 'group_id'])
      .where(
        'group_id',
        'in',
        groups.map(({ id }) => id),
      )
      .where(LIVE_SERVERS)
      .where('vm_state', '!=', 'soft-delete')
      .orderBy('seq')
      .execute();
    return groupBy(rows, (row) => row.group_id);
  }
}
