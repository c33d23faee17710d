import type { DatabaseKind } from '@apistrata/record-store';
import { type RawBuilder, sql } from 'kysely';
import { LIVE_SERVERS, liveServersOfProject } from '../../schema/tables.js';
import { RESERVATION_LENGTH } from '../create/create-record.js';
import { type ServerFilters, type State, statesWithStatus } from './list-filters.js';
import { parsePlainPattern } from './list-pattern.js';
import type { ServerSort, ServerSortKey } from './list-sort.js';

/**
 * Filters and sort orders that have an index over all servers or over a project's servers. See the schema migrations.
 */
interface IndexedQueries {
  /** Filters for which an index contains the servers in order of creation. */
  readonly filters: readonly (keyof ServerFilters)[];
  /** Sort keys that have an index for unfiltered lists. */
  readonly orders: readonly ServerSortKey[];
}

const indexesOfAllServers: IndexedQueries = {
  filters: ['id', 'userId', 'imageId', 'flavorId', 'host', 'vmState', 'taskState', 'locked'],
  orders: ['updated_at', 'display_name', 'vm_state', 'user_id', 'image_ref', 'instance_type_id', 'project_id'],
};

const indexesOfProject: IndexedQueries = {
  filters: ['id', 'vmState', 'taskState'],
  orders: ['updated_at', 'display_name', 'vm_state'],
};

/**
 * Returns whether a page of the matching servers can be read directly from an index. Queries without an index may be
 * slow if there are many servers.
 */
export function isIndexed(filters: ServerFilters, sort: readonly ServerSort[]): boolean {
  const { projectId, patterns = {}, softDeleted, deleted, ...others } = filters;
  if (softDeleted || deleted) return false;
  const indexed = projectId === undefined ? indexesOfAllServers : indexesOfProject;
  const activeFilters = Object.entries({ ...others, ...patterns }).filter(([, value]) => value !== undefined);
  const isInCreationOrder = sort.every(({ key }) => key === 'created_at');
  if (activeFilters.length > 1 || !(isInCreationOrder || sort.length === 1)) return false;
  const [onlyFilter] = activeFilters;
  if (!onlyFilter) return isInCreationOrder || sort.every(({ key }) => indexed.orders.includes(key));
  return isInCreationOrder && isFilterIndexed(indexed, ...onlyFilter);
}

/** Sort keys for which the list of all servers has an index. */
const INDEXED_SORT_KEYS: ReadonlySet<ServerSortKey> = new Set([
  'created_at',
  'updated_at',
  'display_name',
  'project_id',
]);

/**
 * The condition for servers that are not deleted, as written in the partial indexes over all servers. See the schema
 * migrations.
 */
const LIVE_SERVERS_OF_ALL_PROJECTS = sql<boolean>`deleted <= 0`;

/**
 * Returns the condition for servers that are not deleted, in the form that keeps PostgreSQL from using an unsuitable
 * index.
 */
export function liveServersCondition(
  kind: DatabaseKind,
  filters: ServerFilters,
  sort: readonly ServerSort[],
): RawBuilder<boolean> {
  const { projectId, patterns, ...others } = filters;
  // All servers with the same reservation id belong to one project.
  if (kind !== 'postgres' || patterns?.reservation_id !== undefined) return LIVE_SERVERS;
  if (projectId !== undefined) return liveServersOfProject(kind);
  const comparedFilters = Object.entries({ ...others, ...patterns }).filter(
    ([, value]) => value !== undefined && value !== false,
  );
  const canUseIndexOrder =
    comparedFilters.every(([name]) => name === 'name') && INDEXED_SORT_KEYS.has(sort[0]?.key ?? 'created_at');
  return canUseIndexOrder && isIndexed(filters, sort) ? LIVE_SERVERS_OF_ALL_PROJECTS : LIVE_SERVERS;
}

function isFilterIndexed({ filters }: IndexedQueries, name: string, value: unknown): boolean {
  // The index for filters by task state is not in page order.
  if (name === 'state') return (value as State).taskStates === undefined;
  if (name === 'statuses')
    return statesWithStatus(value as readonly string[]).every((state) => state.taskStates === undefined);
  if (name === 'locked' && value !== true) return false;
  const plain = typeof value === 'string' ? parsePlainPattern(value) : undefined;
  if (name === 'name') return plain?.atStart === true && plain.atEnd;
  if (name === 'reservation_id') return plain?.text.length === RESERVATION_LENGTH;
  return filters.some((filter) => filter === name);
}
