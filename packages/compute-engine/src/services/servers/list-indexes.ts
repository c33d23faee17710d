import { type RawBuilder, sql } from 'kysely';
import type { DatabaseKind } from '../../store/database.js';
import { LIVE } from '../../store/tables.js';
import { RESERVATION_LENGTH } from './create-record.js';
import { type ServerFilters, type State, statesOfAll } from './list-filters.js';
import { plainPattern } from './list-pattern.js';
import type { ServerSort, ServerSortKey } from './list-sort.js';

/** What has an index of servers, either of all or of one project's; see the store's migrations. */
interface Indexed {
  /** Filters that leave the index in the order in which servers were made. */
  readonly filters: readonly (keyof ServerFilters)[];
  /** Orders of servers that no filter has narrowed. */
  readonly orders: readonly ServerSortKey[];
}

const ofAll: Indexed = {
  filters: ['id', 'userId', 'imageId', 'flavorId', 'host', 'vmState', 'taskState', 'locked'],
  orders: ['updated_at', 'display_name', 'vm_state', 'user_id', 'image_ref', 'instance_type_id', 'project_id'],
};

const ofProject: Indexed = {
  filters: ['id', 'vmState', 'taskState'],
  orders: ['updated_at', 'display_name', 'vm_state'],
};

/**
 * Whether an index leads straight to a page of the servers that fit, whatever there is besides. Any other question may
 * take long where there are many servers.
 */
export function isIndexed(filters: ServerFilters, sort: readonly ServerSort[]): boolean {
  const { projectId, patterns = {}, softDeleted, deleted, ...others } = filters;
  if (softDeleted || deleted) return false;
  const indexed = projectId === undefined ? ofAll : ofProject;
  const given = Object.entries({ ...others, ...patterns }).filter(([, value]) => value !== undefined);
  const created = sort.every(({ key }) => key === 'created_at');
  if (given.length > 1 || !(created || sort.length === 1)) return false;
  const [only] = given;
  if (!only) return created || sort.every(({ key }) => indexed.orders.includes(key));
  return created && hasIndex(indexed, ...only);
}

/** Orders whose indexes hold servers of all states, and take these words for those that are not deleted. */
const WALKED: ReadonlySet<ServerSortKey> = new Set(['created_at', 'updated_at', 'display_name', 'project_id']);
const UNDELETED = sql<boolean>`deleted < 1`;

/**
 * Servers that are not deleted, in words that fit the index which gives their order, and none besides: without statistics
 * PostgreSQL expects one row of any index, and would rather sort what a smaller one leads to.
 */
export function liveFor(kind: DatabaseKind, filters: ServerFilters, sort: readonly ServerSort[]): RawBuilder<boolean> {
  const { projectId: _, patterns, ...others } = filters;
  const plain = Object.values({ ...others, ...patterns }).every((value) => value === undefined || value === false);
  const walked = kind === 'postgres' && plain && WALKED.has(sort[0]?.key ?? 'created_at') && isIndexed(filters, sort);
  return walked ? UNDELETED : LIVE;
}

function hasIndex({ filters }: Indexed, name: string, value: unknown): boolean {
  // Servers in the middle of something are found by their tasks, in no order.
  if (name === 'state') return (value as State).taskStates === undefined;
  if (name === 'statuses')
    return statesOfAll(value as readonly string[]).every((state) => state.taskStates === undefined);
  if (name === 'locked' && value !== true) return false;
  const plain = typeof value === 'string' ? plainPattern(value) : undefined;
  if (name === 'name') return plain?.atStart === true && plain.atEnd;
  if (name === 'reservation_id') return plain?.text.length === RESERVATION_LENGTH;
  return filters.some((filter) => filter === name);
}
