import type { Session } from '@apistrata/record-store';
import type { ObservedList } from '../../observation/observer.js';
import type { HostMap } from '../../scheduler/infrastructure.js';
import { partsOf, recordPredicate, type ServerFilters, type ServerPredicate } from './list-filters.js';
import { isIndexed } from './list-indexes.js';
import { isNewestRequested } from './list-newest.js';
import { SubstringSearch } from './list-parts.js';
import { ServerOrder, type ServerSort } from './list-sort.js';

/** Filters, order and page of servers. */
export interface ServerQuery {
  /** Whether to list the servers of all projects, not only the caller's project. */
  readonly allProjects?: boolean;
  readonly limit: number;
  /** Id of the last server of the previous page. */
  readonly marker?: string;
  readonly filters?: ServerFilters;
  /** Default: newest first. */
  readonly sort?: readonly ServerSort[];
  /** Whether to include servers on hosts that cannot be reached; default true. */
  readonly unreachable?: boolean;
}

/** The plan for the newest servers of a project or of all projects without other filters: a prepared statement. */
interface NewestPlan {
  readonly source: 'newest';
  readonly projectId: string | undefined;
}

/** The plan for all other lists. */
export interface RowsPlan {
  /**
   * - `rows`: one query.
   * - `merged`: one query for each alternative of the filters, because each has its own index.
   * - `substrings`: an index walk and trigrams find substrings of names and addresses, on PostgreSQL.
   */
  readonly source: 'rows' | 'merged' | 'substrings';
  readonly projectId: string | undefined;
  /** The alternatives of the filters. */
  readonly alternatives: readonly ServerFilters[];
  readonly search: SubstringSearch | undefined;
  readonly sort: readonly ServerSort[];
  /** The order of the page. */
  readonly order: ServerOrder;
  /** The order in which rows are read: the page's order, or one with an index if the database cannot sort by it. */
  readonly reading: ServerOrder;
  /** The filters that need the record; undefined if the database applies all of them. */
  readonly residual: ServerPredicate | undefined;
  /** Names of hosts whose servers are omitted. */
  readonly hidden: readonly string[];
  /**
   * Whether the queries have indexes. Other queries run in a separate session, so that short queries do not wait for
   * them, unless their project has few servers.
   */
  readonly indexed: boolean;
  /** Whether the queries read no more rows than their project has servers that are not deleted. */
  readonly bounded: boolean;
  /** Whether one query returns the page and shows whether servers wait for the scheduler. */
  readonly single: boolean;
}

/** How a page of servers is read. It depends on the query and the kind of the database only, not on stored servers. */
export type ListPlan = NewestPlan | RowsPlan;

/** The inputs that select a plan. */
interface PlanInput {
  readonly session: Session;
  readonly hosts: HostMap;
  readonly query: ServerQuery;
  /** The filters of the query and of its project. */
  readonly filters: ServerFilters;
}

/** Returns the plan of a query. */
export function planOf(input: PlanInput): ListPlan {
  const { hosts, query, filters } = input;
  const { projectId } = filters;
  const reachable = query.unreachable !== false || hosts.unreachable.size === 0;
  return reachable && isNewestRequested(filters, query.sort) ? { source: 'newest', projectId } : rowsPlanOf(input);
}

/** Returns the plan without the prepared statement. */
export function rowsPlanOf({ session, hosts, query, filters }: PlanInput): RowsPlan {
  const { sort = [] } = query;
  const { projectId, changedSince, changedBefore, deleted } = filters;
  const isFilterIndexed = changedSince !== undefined;
  const order = new ServerOrder(sort, hosts, isFilterIndexed, session.kind === 'postgres' ? projectId : undefined);
  const reading = order.inDatabase
    ? order
    : new ServerOrder([], hosts, isFilterIndexed, session.kind === 'postgres' ? projectId : undefined);
  const residual = recordPredicate(filters, hosts);
  // Only orders by time are merged, because databases collate strings differently.
  const alternatives = sort.every(({ key }) => key === 'created_at') ? partsOf(filters) : [filters];
  const [only, ...others] = alternatives;
  const search =
    only && others.length === 0 ? SubstringSearch.of(session, only, order.inDatabase ? sort : []) : undefined;
  const indexed = alternatives.every((part) => isIndexed(part, sort));
  return {
    source: search ? 'substrings' : others.length > 0 ? 'merged' : 'rows',
    projectId,
    alternatives,
    search,
    sort,
    order,
    reading,
    residual,
    hidden: query.unreachable === false ? [...hosts.unreachable] : [],
    indexed,
    bounded: projectId !== undefined && !deleted && changedSince === undefined && changedBefore === undefined,
    single: alternatives.length === 1 && order.inDatabase && !residual && indexed,
  };
}

/** Returns a plan as plain data, for the log. */
export function describePlan(plan: ListPlan, requestId: string): ObservedList {
  const ofProject = plan.projectId !== undefined;
  if (plan.source === 'newest')
    return { requestId, ofProject, source: plan.source, order: 'database', filters: 'database', indexed: true };
  const { source, order, residual, indexed } = plan;
  return {
    requestId,
    ofProject,
    source,
    order: order.inDatabase ? 'database' : 'memory',
    filters: residual ? 'records' : 'database',
    indexed,
  };
}
