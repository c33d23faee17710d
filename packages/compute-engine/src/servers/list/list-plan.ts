import type { Session } from '@apistrata/record-store';
import type { ObservedList } from '../../observation/observer.js';
import type { HostMap } from '../../scheduler/infrastructure.js';
import { createRecordPredicate, type ServerFilters, type ServerPredicate, splitByState } from './list-filters.js';
import { isIndexed } from './list-indexes.js';
import { isNewestRequested } from './list-newest.js';
import { SubstringSearch } from './list-parts.js';
import { ServerOrder, type ServerSort } from './list-sort.js';

/** Filters, sort order and page of a server list. */
export interface ServerQuery {
  /** Whether to list the servers of all projects instead of only those of the caller's project. */
  readonly allProjects?: boolean;
  readonly limit: number;
  /** Id of the last server on the previous page. */
  readonly marker?: string;
  readonly filters?: ServerFilters;
  /** Sort keys, the most significant first. Default: newest servers first. */
  readonly sort?: readonly ServerSort[];
  /** Whether to include servers on hosts that cannot be reached. Default: true. */
  readonly unreachable?: boolean;
}

/**
 * The plan that lists the newest servers of one project or of all projects, without other filters. It uses a prepared
 * statement.
 */
interface NewestPlan {
  readonly source: 'newest';
  readonly projectId: string | undefined;
}

/** The plan for lists that cannot use the prepared statement of `NewestPlan`. */
export interface RowsPlan {
  /**
   * - `rows`: one query.
   * - `merged`: one query for each alternative of the filters, because each alternative has its own index.
   * - `substrings`: a `SubstringSearch` for parts of names and addresses, on PostgreSQL.
   */
  readonly source: 'rows' | 'merged' | 'substrings';
  readonly projectId: string | undefined;
  /** The disjoint parts of the filters. A server on the page matches one of them. */
  readonly alternatives: readonly ServerFilters[];
  readonly search: SubstringSearch | undefined;
  readonly sort: readonly ServerSort[];
  /** The sort order of the page. */
  readonly order: ServerOrder;
  /**
   * The order in which rows are read: the sort order of the page, or an indexed order if the database cannot sort in
   * the page's order.
   */
  readonly readingOrder: ServerOrder;
  /** The predicate for filters that the database cannot apply. Undefined if the database applies all filters. */
  readonly residualFilter: ServerPredicate | undefined;
  /** Names of hosts whose servers are omitted. */
  readonly hidden: readonly string[];
  /**
   * Whether the queries have suitable indexes. Unless the listed project has few servers, queries without an index run
   * in a separate session, so that short queries do not wait for them.
   */
  readonly indexed: boolean;
  /** Whether the queries read only servers of one project that are not deleted. */
  readonly bounded: boolean;
  /** Whether one query can return the page and also show whether servers wait for the scheduler. */
  readonly single: boolean;
}

/**
 * The plan for reading a page of servers. It depends only on the query and the kind of the database, not on stored
 * servers.
 */
export type ListPlan = NewestPlan | RowsPlan;

/** The inputs from which a plan is derived. */
interface PlanInput {
  readonly session: Session;
  readonly hosts: HostMap;
  readonly query: ServerQuery;
  /** The filters of the query, including the filter for its project. */
  readonly filters: ServerFilters;
}

/** Returns the plan for a query. */
export function planOf(input: PlanInput): ListPlan {
  const { hosts, query, filters } = input;
  const { projectId } = filters;
  const reachable = query.unreachable !== false || hosts.unreachable.size === 0;
  return reachable && isNewestRequested(filters, query.sort) ? { source: 'newest', projectId } : rowsPlanOf(input);
}

/** Returns the plan for a query that cannot use the prepared statement. */
export function rowsPlanOf({ session, hosts, query, filters }: PlanInput): RowsPlan {
  const { sort = [] } = query;
  const { projectId, changedSince, changedBefore, deleted } = filters;
  const isFilterIndexed = changedSince !== undefined;
  const order = new ServerOrder(sort, hosts, isFilterIndexed, session.kind === 'postgres' ? projectId : undefined);
  const readingOrder = order.inDatabase
    ? order
    : new ServerOrder([], hosts, isFilterIndexed, session.kind === 'postgres' ? projectId : undefined);
  const residualFilter = createRecordPredicate(filters, hosts);
  // The results of several queries are merged only in order of creation, because JavaScript and databases sort strings
  // differently.
  const alternatives = sort.every(({ key }) => key === 'created_at') ? splitByState(filters) : [filters];
  const [onlyAlternative, ...others] = alternatives;
  const search =
    onlyAlternative && others.length === 0
      ? SubstringSearch.of(session, onlyAlternative, order.inDatabase ? sort : [])
      : undefined;
  const indexed = alternatives.every((part) => isIndexed(part, sort));
  return {
    source: search ? 'substrings' : others.length > 0 ? 'merged' : 'rows',
    projectId,
    alternatives,
    search,
    sort,
    order,
    readingOrder: readingOrder,
    residualFilter: residualFilter,
    hidden: query.unreachable === false ? [...hosts.unreachable] : [],
    indexed,
    bounded: projectId !== undefined && !deleted && changedSince === undefined && changedBefore === undefined,
    single: alternatives.length === 1 && order.inDatabase && !residualFilter && indexed,
  };
}

/** Returns a plan as plain data, for the log. */
export function describePlan(plan: ListPlan, requestId: string): ObservedList {
  const ofProject = plan.projectId !== undefined;
  if (plan.source === 'newest')
    return { requestId, ofProject, source: plan.source, order: 'database', filters: 'database', indexed: true };
  const { source, order, residualFilter, indexed } = plan;
  return {
    requestId,
    ofProject,
    source,
    order: order.inDatabase ? 'database' : 'memory',
    filters: residualFilter ? 'records' : 'database',
    indexed,
  };
}
