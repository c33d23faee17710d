import type { DatabaseKind, RowQuery } from '@apistrata/record-store';
import { type RawBuilder, sql } from 'kysely';
import type { Server, StringSetting } from '../../model/index.js';
import type { HostMap } from '../../scheduler/infrastructure.js';
import { LIVE_SERVERS } from '../../schema/tables.js';
import { RESERVATION_LENGTH } from '../create/create-record.js';
import { statesOf } from '../status.js';
import { compilePattern, likePatternOf, type Matches, type PlainPattern, parsePlainPattern } from './list-pattern.js';

const formatTime = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString().slice(0, 23));
/** Returns a time in the two formats in which clients may search for it. */
const searchableTimes = (ms: number | null) =>
  ms === null ? [] : [`${formatTime(ms)}000`, `${formatTime(ms)}000`.replace('T', ' ')];

type ReadValues = (server: Server, hosts: HostMap) => readonly (string | null | undefined)[];

/** A server field to which a pattern filter is applied. The filter matches if any of the field's values matches. */
interface PatternField {
  readonly read: ReadValues;
  /** The column that contains the field's value. */
  readonly column?: 'name' | 'reservation_id' | 'addresses';
  /** The property of the JSON record that contains the field's value. */
  readonly json?: keyof Server;
}

const inColumn = (column: NonNullable<PatternField['column']>, read: ReadValues): PatternField => ({ column, read });
const inJson = (json: keyof Server, read: ReadValues): PatternField => ({ json, read });

const patternFields = {
  name: inColumn('name', (s) => [s.name]),
  hostname: inJson('hostname', (s) => [s.hostname]),
  node: inJson('node', (s) => [s.node]),
  key_name: inJson('keyName', (s) => [s.keyName]),
  availability_zone: { read: (s, { hosts }) => [hosts.get(s.host ?? '')?.zone ?? s.pinnedZone] },
  reservation_id: inColumn('reservation_id', (s) => [s.reservationId]),
  config_drive: { read: (s) => [s.configDrive ? 'True' : ''] },
  root_device_name: inJson('rootDeviceName', (s) => [s.rootDeviceName]),
  kernel_id: inJson('kernelId', (s) => [s.kernelId]),
  ramdisk_id: inJson('ramdiskId', (s) => [s.ramdiskId]),
  launch_index: inJson('launchIndex', (s) => [String(s.launchIndex)]),
  locked_by: inJson('lock', (s) => [s.lock?.by]),
  access_ip_v4: inJson('accessIpV4', (s) => [s.accessIpV4]),
  access_ip_v6: inJson('accessIpV6', (s) => [s.accessIpV6]),
  auto_disk_config: { read: (s) => [s.diskConfig, s.diskConfig === 'AUTO' ? 'True' : 'False'] },
  power_state: inJson('powerState', (s) => [String(s.powerState)]),
  progress: inJson('progress', (s) => [String(s.progress)]),
  created_at: { read: (s) => searchableTimes(s.createdAt) },
  launched_at: { read: (s) => searchableTimes(s.launchedAt) },
  terminated_at: { read: (s) => searchableTimes(s.terminatedAt) },
  ip: inColumn('addresses', (s) => addressesOf(s, 4)),
  ip6: inColumn('addresses', (s) => addressesOf(s, 6)),
} as const satisfies Record<string, PatternField>;

function addressesOf({ interfaces }: Server, version: 4 | 6): string[] {
  return interfaces.flatMap(({ fixedIps }) =>
    fixedIps.flatMap((ip) => [...(ip.version === version ? [ip.address] : []), ...(version === 4 ? ip.floating : [])]),
  );
}

/** Server fields to which pattern filters can be applied. */
export type ServerPatternField = keyof typeof patternFields | StringSetting;

/**
 * Returns the field for a pattern filter. The server settings have no entry in `patternFields`, because each filter has
 * the same name as the setting.
 */
function fieldOf(name: ServerPatternField): PatternField {
  if (Object.hasOwn(patternFields, name)) return patternFields[name as keyof typeof patternFields];
  const setting = name as StringSetting;
  return inJson(setting, (s) => [s[setting]]);
}

/** Filters that compare a column for equality. */
const columns = {
  id: 'id',
  projectId: 'project_id',
  userId: 'user_id',
  imageId: 'image_id',
  flavorId: 'flavor_id',
  vmState: 'vm_state',
  taskState: 'task_state',
  host: 'host',
} as const;

/** Columns that have an index over all servers, but no index per project. */
const SHARED_INDEX_COLUMNS: ReadonlySet<string> = new Set(['user_id', 'image_id', 'flavor_id', 'host']);

/** A `vm_state` with the matching task states. If these are undefined, all task states match. */
export type State = ReturnType<typeof statesOf>[number];

/** Filters for a list of servers. A server must match all of them. */
export interface ServerFilters extends Readonly<Partial<Record<keyof typeof columns, string>>> {
  /** Values of `status`, case-insensitive; any of them may match. Unknown values match no server. */
  readonly statuses?: readonly string[];
  /** A single state to match, instead of `statuses`. */
  readonly state?: State;
  readonly locked?: boolean;
  /** Patterns that match anywhere in the value. See `compilePattern` for the syntax. */
  readonly patterns?: Readonly<Partial<Record<ServerPatternField, string>>>;
  /** The server must have all of `tags`, at least one of `tagsAny`, not all of `notTags`, and none of `notTagsAny`. */
  readonly tags?: readonly string[];
  readonly tagsAny?: readonly string[];
  readonly notTags?: readonly string[];
  readonly notTagsAny?: readonly string[];
  /** Matches servers changed at this time (ms) or later. Includes deleted servers unless `deleted` is set. */
  readonly changedSince?: number;
  /**
   * Matches servers changed before the end of the second that contains this time (ms). Includes deleted servers unless
   * `deleted` is set.
   */
  readonly changedBefore?: number;
  /** Whether only deleted and soft-deleted servers match. By default, such servers do not match. */
  readonly deleted?: boolean;
  /** Whether soft-deleted servers match, in addition to existing servers. */
  readonly softDeleted?: boolean;
}

/**
 * Returns false if a filter compares a column with a string that contains NUL, which PostgreSQL does not accept and no
 * column contains.
 */
export function canMatch(filters: ServerFilters): boolean {
  return (Object.keys(columns) as (keyof typeof columns)[]).every((name) => !filters[name]?.includes('\0'));
}

/** Returns the states that match any of the statuses, merged so that each `vm_state` appears once. */
export function statesWithStatus(statuses: readonly string[]): readonly State[] {
  const byVmState = new Map<State['vmState'], State>();
  for (const state of statuses.flatMap(statesOf)) {
    const previous = byVmState.get(state.vmState) ?? state;
    const taskStates = previous.taskStates && state.taskStates && [...previous.taskStates, ...state.taskStates];
    byVmState.set(state.vmState, taskStates ? { ...previous, taskStates } : { vmState: state.vmState });
  }
  return [...byVmState.values()];
}

/**
 * Adds to a query the filters that databases can apply.
 * @param liveCondition the condition for servers that are not deleted
 */
export function applyFilters(
  rows: RowQuery,
  filters: ServerFilters,
  kind: DatabaseKind,
  liveCondition = LIVE_SERVERS,
): RowQuery {
  const states = filters.statuses && statesWithStatus(filters.statuses);
  const filtered = applyColumnFilters(applyDeletedFilter(rows, filters, liveCondition), filters, kind);
  if (!states) return filtered;
  return states.length === 0
    ? filtered.where('id', '=', '')
    : filtered.where((eb) => eb.or(states.map(stateCondition)));
}

/**
 * Splits filters into disjoint parts, one per state. Servers in different states are in different ranges of an index,
 * and the index is in page order only within each range.
 */
export function splitByState(filters: ServerFilters): readonly ServerFilters[] {
  const statuses = filters.statuses ?? [];
  const states = statesWithStatus(statuses);
  if (states.length < 2) return [filters];
  return states.map((state) => ({ ...filters, statuses: undefined, state }));
}

function stateCondition({ vmState, taskStates }: State): RawBuilder<boolean> {
  if (!taskStates) return sql<boolean>`vm_state = ${vmState}`;
  // Few servers have a task state. This expression matches only the partial index over these servers.
  return sql<boolean>`((vm_state || '') = ${vmState} and task_state in (${sql.join(taskStates)}))`;
}

function applyColumnFilters(rows: RowQuery, filters: ServerFilters, kind: DatabaseKind): RowQuery {
  let filtered = rows;
  for (const [name, column] of Object.entries(columns)) {
    const value = filters[name as keyof typeof columns];
    if (value === undefined) continue;
    // If the list is limited to a project, an expression keeps the database from using an index over all servers.
    const avoidsSharedIndex = filters.projectId !== undefined && SHARED_INDEX_COLUMNS.has(column);
    filtered = avoidsSharedIndex
      ? filtered.where(sql`(${sql.ref(column)} || '')`, '=', value)
      : filtered.where(column, '=', value);
  }
  // These values are literals instead of parameters, because the conditions of partial indexes contain them.
  if (filters.locked !== undefined) filtered = filtered.where('locked', '=', sql.lit(Number(filters.locked)));
  if (filters.changedSince !== undefined) filtered = filtered.where('updated_at', '>=', filters.changedSince);
  if (filters.changedBefore !== undefined) {
    filtered = filtered.where('updated_at', '<', (Math.floor(filters.changedBefore / 1000) + 1) * 1000);
  }
  if (filters.state) filtered = filtered.where(stateCondition(filters.state));
  for (const condition of patternConditions(filters, kind)) filtered = filtered.where(condition);
  return [...(filters.tags ?? []).map((tag) => [tag]), ...(filters.tagsAny ? [filters.tagsAny] : [])].reduce(
    (rows, any) => rows.where((eb) => eb.or(any.map((tag) => like('data', `%${escapeLike(JSON.stringify(tag))}%`)))),
    filtered,
  );
}

const escapeLike = (text: string) => text.replaceAll(/[\\%_]/g, '\\$&');

const like = (column: string, text: string) => sql<boolean>`${sql.ref(column)} like ${text} escape '\\'`;

/**
 * Returns SQL conditions for pattern filters on columns and on the JSON text of records. Every server that matches the
 * filters satisfies the conditions, but not vice versa.
 */
export function patternConditions(
  { patterns = {} }: ServerFilters,
  kind: DatabaseKind,
): readonly RawBuilder<boolean>[] {
  const { ip, ip6, ...others } = patterns;
  const conditions = Object.entries(others).flatMap(
    ([name, pattern]) => patternCondition(fieldOf(name as ServerPatternField), pattern, kind) ?? [],
  );
  // Either an IPv4 address or an IPv6 address may match.
  const addressPatterns = [ip, ip6].filter((pattern) => pattern !== undefined);
  const addresses = addressPatterns.map((pattern) => likePatternOf(pattern)).filter((text) => text !== undefined);
  if (addressPatterns.length === 0 || addresses.length < addressPatterns.length) return conditions;
  return [
    ...conditions,
    sql<boolean>`(${sql.join(
      addresses.map((text) => like('addresses', text)),
      sql` or `,
    )})`,
  ];
}

function patternCondition(
  { column, json }: PatternField,
  pattern: string,
  kind: DatabaseKind,
): RawBuilder<boolean> | undefined {
  const plainPattern = column && parsePlainPattern(pattern);
  if (plainPattern) return plainCondition(column, plainPattern, kind);
  const text = likePatternOf(pattern, json && ((character) => JSON.stringify(character).slice(1, -1)));
  if (text === undefined) return undefined;
  if (column) return like(column, text);
  return json && like('data', `%"${json}":${text}`);
}

/** Returns the SQL condition that is equivalent to a plain pattern. */
function plainCondition(
  column: string,
  { text, atStart, atEnd }: PlainPattern,
  kind: DatabaseKind,
): RawBuilder<boolean> {
  // All reservation ids have the same length, so a pattern with that length must be equal to the id.
  if ((atStart && atEnd) || (column === 'reservation_id' && text.length === RESERVATION_LENGTH))
    return sql<boolean>`${sql.ref(column)} = ${text}`;
  // SQLite's `like` is case-insensitive, so only PostgreSQL uses `like` here.
  if (kind === 'postgres') return like(column, `${atStart ? '' : '%'}${escapeLike(text)}${atEnd ? '' : '%'}`);
  if (atEnd) return sql<boolean>`substr(${sql.ref(column)}, ${-text.length}) = ${text}`;
  const position = sql`instr(${sql.ref(column)}, ${text})`;
  return atStart ? sql<boolean>`${position} = 1` : sql<boolean>`${position} > 0`;
}

function applyDeletedFilter(rows: RowQuery, filters: ServerFilters, liveCondition: RawBuilder<boolean>): RowQuery {
  const { deleted, softDeleted, changedSince, changedBefore, projectId } = filters;
  // If the list is limited to a project, the expression differs from that of the index over all servers, so that
  // PostgreSQL does not also read that index.
  const isDeleted = projectId === undefined ? sql`deleted = 1` : sql`deleted > 0`;
  if (deleted) return rows.where(sql<boolean>`(${isDeleted} or vm_state = 'soft-delete')`);
  if (deleted === undefined && (changedSince !== undefined || changedBefore !== undefined)) {
    return rows.where('deleted', 'in', [0, 1]);
  }
  const existingRows = rows.where(liveCondition);
  return softDeleted ? existingRows : existingRows.where('vm_state', '!=', 'soft-delete');
}

export type ServerPredicate = (server: Server) => boolean;

/** Returns a predicate for the filters that the database cannot apply; undefined if there are none. */
export function createRecordPredicate(filters: ServerFilters, hosts: HostMap): ServerPredicate | undefined {
  const predicates = [...patternPredicates(filters, hosts), ...tagPredicates(filters)];
  return predicates.length === 0 ? undefined : (server) => predicates.every((predicate) => predicate(server));
}

function patternPredicates({ patterns = {} }: ServerFilters, hosts: HostMap): ServerPredicate[] {
  type NamedPattern = readonly [name: ServerPatternField, pattern: string];
  const createPredicate = (named: readonly NamedPattern[]): ServerPredicate => {
    const compiled = named.map(
      ([name, pattern]) => [fieldOf(name).read, compilePattern(pattern) ?? matchesNothing] as const,
    );
    return (server) =>
      compiled.some(([read, matchesPattern]) =>
        read(server, hosts).some((text) => typeof text === 'string' && matchesPattern(text)),
      );
  };
  const namedPatterns = (Object.keys(patterns) as ServerPatternField[]).flatMap((name): NamedPattern[] => {
    const pattern = patterns[name];
    return pattern === undefined ? [] : [[name, pattern]];
  });
  const isAddress = ([name]: NamedPattern) => name === 'ip' || name === 'ip6';
  const addresses = namedPatterns.filter(isAddress);
  const others = namedPatterns.filter((named) => !isAddress(named) && !isExactInDatabase(...named));
  // Either an IPv4 address or an IPv6 address may match.
  return [
    ...others.map((named) => createPredicate([named])),
    ...(addresses.length > 0 ? [createPredicate(addresses)] : []),
  ];
}

/** Returns whether the SQL condition for a pattern is exact, so that records need not be compared again. */
function isExactInDatabase(name: ServerPatternField, pattern: string): boolean {
  const { column }: PatternField = fieldOf(name);
  return column !== undefined && parsePlainPattern(pattern) !== undefined;
}

const matchesNothing: Matches = () => false;

function tagPredicates({ tags, tagsAny, notTags, notTagsAny }: ServerFilters): ServerPredicate[] {
  return [
    ...(tags ? [(s: Server) => tags.every((tag) => s.tags.includes(tag))] : []),
    ...(tagsAny ? [(s: Server) => tagsAny.some((tag) => s.tags.includes(tag))] : []),
    ...(notTags ? [(s: Server) => !notTags.every((tag) => s.tags.includes(tag))] : []),
    ...(notTagsAny ? [(s: Server) => !notTagsAny.some((tag) => s.tags.includes(tag))] : []),
  ];
}
