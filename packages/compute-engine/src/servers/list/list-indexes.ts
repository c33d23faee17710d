import type { DatabaseKind } from '@apistrata/record-store';
import { type RawBuilder, sql } from 'kysely';
import { LIVE, liveOfProject } from '../../schema/tables.js';
import { RESERVATION_LENGTH } from '../create/create-record.js';
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

/** Orders of all servers that have an index of such servers alone, or of deleted ones too. */
const WALKED: ReadonlySet<ServerSortKey> = new Set(['created_at', 'updated_at', 'display_name', 'project_id']);

/** Servers that are not deleted, in the words of their indexes; see the store's migrations. */
const LIVE_OF_ALL = sql<boolean>`deleted <= 0`;

/** How a question says that servers are not deleted, so that PostgreSQL goes by no index of others' servers. */
export function liveFor(kind: DatabaseKind, filters: ServerFilters, sort: readonly ServerSort[]): RawBuilder<boolean> {
  const { projectId, patterns, ...others } = filters;
  // A reservation is one project's.
  if (kind !== 'postgres' || patterns?.reservation_id !== undefined) return LIVE;
  if (projectId !== undefined) return liveOfProject(kind);
  const compared = Object.entries({ ...others, ...patterns }).filter(
    ([, value]) => value !== undefined && value !== false,
  );
  const walked = compared.every(([name]) => name === 'name') && WALKED.has(sort[0]?.key ?? 'created_at');
  return walked && isIndexed(filters, sort) ? LIVE_OF_ALL : LIVE;
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
