import type { Session } from '@apistrata/record-store';
import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import type { Server } from '../../model/index.js';
import type { HostMap } from '../../scheduler/infrastructure.js';
import { tables } from '../../schema/tables.js';
import { applyFilters, type ServerFilters } from './list-filters.js';
import { liveServersCondition } from './list-indexes.js';
import { ServerOrder, type ServerSort } from './list-sort.js';

/**
 * Returns an SQL condition that is true if any server is waiting for the scheduler. Usually, none is waiting, and a single
 * index look-up shows this. Deleted servers have other states, so they do not match.
 */
export function isAnyPending(projectId: string | undefined): RawBuilder<boolean> {
  const projectCondition = projectId === undefined ? sql`` : sql` and project_id = ${projectId}`;
  return sql<boolean>`exists (select 1 from servers where vm_state = 'building' and task_state = 'scheduling'${projectCondition})`;
}

/**
 * A row of a page of servers. `waits` is the same in every row: whether any server of the project, or of any project, is
 * waiting for the scheduler.
 */
export type PageRow = Parameters<typeof tables.servers.read>[1][number] & { readonly waits?: unknown };

/** Returns whether a query is for the newest servers of a project or of all projects, without other filters. */
export function isNewestRequested(filters: ServerFilters, sort: readonly ServerSort[] = []): boolean {
  const { projectId: _, patterns = {}, deleted, softDeleted, ...others } = filters;
  if (deleted || softDeleted || sort.some(({ key, direction }) => key !== 'created_at' || direction !== 'desc'))
    return false;
  return [...Object.values(others), ...Object.values(patterns)].every((value) => value === undefined);
}

/** A placeholder for a parameter in a prepared statement. */
class Placeholder {
  readonly name: 'projectId' | 'createdAt' | 'seq' | 'limit';

  constructor(name: Placeholder['name']) {
    this.name = name;
  }
}

const createPlaceholder = (name: Placeholder['name']) => new Placeholder(name) as never;

const preparedStatements = new Map<string, CompiledQuery<PageRow>>();

/**
 * Returns the prepared statement that reads a page. Each variant of the statement is built once, with the same code
 * that builds other list queries.
 */
function prepareStatement(
  session: Session,
  isForProject: boolean,
  hasMarker: boolean,
  limit: number,
): CompiledQuery<PageRow> {
  const key = `${session.kind} ${isForProject} ${hasMarker} ${tables.servers.includesJson(session, limit)}`;
  let statement = preparedStatements.get(key);
  if (!statement) {
    const projectId = isForProject ? createPlaceholder('projectId') : undefined;
    const after = hasMarker
      ? ({ createdAt: createPlaceholder('createdAt'), seq: createPlaceholder('seq') } as Partial<Server> as Server)
      : undefined;
    const heads = tables.servers.selectHeads(session, limit);
    const order = new ServerOrder([], {} as HostMap, false, session.kind === 'postgres' ? projectId : undefined);
    statement = order
      .apply(
        applyFilters(heads, { projectId }, session.kind, liveServersCondition(session.kind, { projectId }, [])),
        after,
      )
      .limit(createPlaceholder('limit'))
      .select(isAnyPending(projectId).as('waits'))
      .compile();
    preparedStatements.set(key, statement);
  }
  return statement;
}

/**
 * Returns a page of the newest servers. Because this is the most frequent query, its statement is prepared: building
 * the statement for each request would cost more than executing it.
 */
export async function readNewestServers(
  session: Session,
  projectId: string | undefined,
  after: Server | undefined,
  limit: number,
): Promise<readonly PageRow[]> {
  const statement = prepareStatement(session, projectId !== undefined, after !== undefined, limit);
  const values = { projectId, createdAt: after?.createdAt, seq: after?.seq, limit };
  const parameters = statement.parameters.map((value) => (value instanceof Placeholder ? values[value.name] : value));
  return (await session.db.executeQuery<PageRow>({ ...statement, parameters })).rows;
}
