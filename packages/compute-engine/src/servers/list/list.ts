import { hotStatement } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest } from '../../errors/rejection.js';
import type { Server } from '../../model/index.js';
import { liveServersOfProject, tables } from '../../schema/tables.js';
import { canMatch, type ServerFilters } from './list-filters.js';
import { isAnyPending, type PageRow, readNewestServers } from './list-newest.js';
import { describePlan, planOf, type RowsPlan, rowsPlanOf, type ServerQuery } from './list-plan.js';
import { type AddConditions, ListReader } from './list-reader.js';

/** Maximum number of servers that a query without an index may read in the session for short queries. */
const MAX_SHORT_QUERY_SERVERS = 300;

/** The SQL condition for servers that wait for the scheduler, and the condition for all other servers. */
const UNSCHEDULED_CONDITION = sql<boolean>`(vm_state = 'building' and task_state = 'scheduling')`;
const SCHEDULED_CONDITION = sql<boolean>`not (vm_state = 'building' and coalesce(task_state, '') = 'scheduling')`;

/**
 * Returns a page of servers: first those that wait for the scheduler, then the others, each in the requested order. If
 * the database can apply all filters with an index, the cost depends on the page size, not on the number of servers.
 *
 * @throws Rejection (400) if the marker is not the id of a visible server
 */
export async function listServers(core: Core, context: Context, query: ServerQuery): Promise<readonly Server[]> {
  const marker = query.marker === undefined ? undefined : await findMarker(core, context, query.marker);
  const filters: ServerFilters = {
    ...query.filters,
    ...(!query.allProjects && { projectId: context.caller.projectId }),
  };
  if (query.limit === 0 || !canMatch(filters)) return [];
  const input = { session: core.store, hosts: await core.infrastructure.hosts(), query, filters };
  const plan = planOf(input);
  core.observer.list?.(describePlan(plan, context.requestId));
  if (plan.source === 'newest') {
    const rows = await readNewestServers(core.store, plan.projectId, marker, query.limit);
    const page = await readIfNoneWaiting(core, rows, marker);
    return page ?? readWaitingFirst(core, rowsPlanOf(input), marker, query.limit);
  }
  if (plan.single) {
    const rows = await new ListReader(core, plan, { isShort: true }).rowsOfPage(marker, query.limit);
    const page = await readIfNoneWaiting(core, rows, marker);
    if (page) return page;
  }
  return readWaitingFirst(core, plan, marker, query.limit);
}

async function findMarker({ store }: Core, { caller, isAdmin }: Context, id: string): Promise<Server> {
  const server = id.includes('\0') ? undefined : await tables.servers.get(store, id);
  if (!server || (!isAdmin && server.projectId !== caller.projectId)) throw badRequest(`marker [${id}] not found`);
  return server;
}

/** Reads the servers that wait for the scheduler, if there are any, and then the other servers. */
async function readWaitingFirst(
  core: Core,
  plan: RowsPlan,
  marker: Server | undefined,
  limit: number,
): Promise<readonly Server[]> {
  const { isAnyWaiting, isShort } = await readListConditions(core, plan);
  const reader = new ListReader(core, plan, { isShort });
  if (!isAnyWaiting) return reader.read(marker, limit);
  const isMarkerScheduled = marker !== undefined && !isUnscheduled(marker);
  const waitingServers = isMarkerScheduled
    ? []
    : await reader.read(marker, limit, (rows) => rows.where(UNSCHEDULED_CONDITION));
  if (waitingServers.length === limit) return waitingServers;
  // A server that was scheduled between the two reads must not be listed twice.
  const listedSeqs = waitingServers.map(({ seq }) => seq);
  const addScheduledCondition: AddConditions = (rows) => {
    const others = rows.where(SCHEDULED_CONDITION);
    return listedSeqs.length === 0 ? others : others.where('seq', 'not in', listedSeqs);
  };
  return [
    ...waitingServers,
    ...(await reader.read(
      isMarkerScheduled ? marker : undefined,
      limit - waitingServers.length,
      addScheduledCondition,
    )),
  ];
}

function isUnscheduled({ vmState, taskState }: Server): boolean {
  return vmState === 'building' && taskState === 'scheduling';
}

/**
 * Reads whether servers of a project wait for the scheduler, and whether the project has too many servers for a short
 * query.
 */
const readProjectConditions = hotStatement<{ readonly waits: unknown; readonly large: unknown }>(({ db, kind }) =>
  db.selectNoFrom([
    isAnyPending('').as('waits'),
    sql`(select count(*) from (select 1 from servers where project_id = ${''} and ${liveServersOfProject(kind)}
      limit ${MAX_SHORT_QUERY_SERVERS + 1}) as some_servers) > ${MAX_SHORT_QUERY_SERVERS}`.as('large'),
  ]),
);

/** Returns whether servers wait for the scheduler, and whether the queries of a plan read few rows. */
async function readListConditions({ store }: Core, { projectId, indexed, bounded }: RowsPlan) {
  if (bounded && !indexed && projectId !== undefined) {
    const { rows } = await readProjectConditions(store, [
      projectId,
      projectId,
      MAX_SHORT_QUERY_SERVERS + 1,
      MAX_SHORT_QUERY_SERVERS,
    ]);
    return { isAnyWaiting: Boolean(rows[0]?.waits), isShort: !rows[0]?.large };
  }
  const { waits } = await store.db.selectNoFrom(isAnyPending(projectId).as('waits')).executeTakeFirstOrThrow();
  return { isAnyWaiting: Boolean(waits), isShort: indexed };
}

/**
 * Returns the records of a page. Returns undefined if servers wait for the scheduler, because such servers come first.
 */
function readIfNoneWaiting(
  { store }: Core,
  rows: readonly PageRow[],
  after: Server | undefined,
): Promise<readonly Server[] | undefined> | readonly Server[] | undefined {
  // If the marker itself waits for the scheduler, all servers that do not wait follow it, regardless of the requested
  // order.
  if (rows.length === 0) return after ? undefined : [];
  return rows[0]?.waits ? undefined : tables.servers.read(store, rows, 'second read');
}
