import { sql } from 'kysely';
import { statesOf } from '../../lifecycle/status.js';
import type { Server, TextSetting } from '../../model/index.js';
import type { HostMap } from '../../scheduler/infrastructure.js';
import type { DatabaseKind } from '../../store/database.js';
import type { RowQuery } from '../../store/document-table.js';
import { compilePattern, type Matches, plainPattern } from './list-pattern.js';

const day = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString().slice(0, 23));
/** A time in both the spellings in which people look for one. */
const times = (ms: number | null) => (ms === null ? [] : [`${day(ms)}000`, `${day(ms)}000`.replace('T', ' ')]);

/** What a pattern is held against, by the name of the filter; any of the texts may fit. Settings need no entry. */
const texts = {
  name: (s) => [s.name],
  hostname: (s) => [s.hostname],
  node: (s) => [s.node],
  key_name: (s) => [s.keyName],
  availability_zone: (s, { hosts }) => [hosts.get(s.host ?? '')?.zone ?? s.pinnedZone],
  reservation_id: (s) => [s.reservationId],
  config_drive: (s) => [s.configDrive ? 'True' : ''],
  root_device_name: (s) => [s.rootDeviceName],
  kernel_id: (s) => [s.kernelId],
  ramdisk_id: (s) => [s.ramdiskId],
  launch_index: (s) => [String(s.launchIndex)],
  locked_by: (s) => [s.lock?.by],
  access_ip_v4: (s) => [s.accessIpV4],
  access_ip_v6: (s) => [s.accessIpV6],
  auto_disk_config: (s) => [s.diskConfig, s.diskConfig === 'AUTO' ? 'True' : 'False'],
  power_state: (s) => [String(s.powerState)],
  progress: (s) => [String(s.progress)],
  created_at: (s) => times(s.createdAt),
  launched_at: (s) => times(s.launchedAt),
  terminated_at: (s) => times(s.terminatedAt),
  ip: (s) => addressesOf(s, 4),
  ip6: (s) => addressesOf(s, 6),
} as const satisfies Record<string, ReadTexts>;

type ReadTexts = (server: Server, hosts: HostMap) => readonly (string | null | undefined)[];

const textsOf = (name: ServerPatternField): ReadTexts =>
  Object.hasOwn(texts, name) ? texts[name as keyof typeof texts] : (s) => [s[name as TextSetting]];

function addressesOf({ interfaces }: Server, version: 4 | 6): string[] {
  return interfaces.flatMap(({ fixedIps }) =>
    fixedIps.flatMap((ip) => [...(ip.version === version ? [ip.address] : []), ...(version === 4 ? ip.floating : [])]),
  );
}

export type ServerPatternField = keyof typeof texts | TextSetting;

/** Filters whose value is the value of a column. */
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

/** Columns that a plain pattern may be looked for in. */
const plainColumns: Readonly<Partial<Record<ServerPatternField, string>>> = {
  name: 'name',
  reservation_id: 'reservation_id',
};

/** What servers have to be like to be listed. All of it has to hold. */
export interface ServerFilters extends Readonly<Partial<Record<keyof typeof columns, string>>> {
  /** Words of the status table in any case; any of them. Words it does not have fit nothing. */
  readonly statuses?: readonly string[];
  readonly locked?: boolean;
  /** Patterns to be found anywhere in the value. See `compilePattern` for what is one. */
  readonly patterns?: Readonly<Partial<Record<ServerPatternField, string>>>;
  /** All of these tags; at least one; not all; none. */
  readonly tags?: readonly string[];
  readonly tagsAny?: readonly string[];
  readonly notTags?: readonly string[];
  readonly notTagsAny?: readonly string[];
  /** Changed at this time (ms) or later. Deleted servers are listed too unless `deleted` says otherwise. */
  readonly changedSince?: number;
  /** Changed in the second of this time (ms) or earlier; the same holds. */
  readonly changedBefore?: number;
  /** True: only deleted servers, the soft-deleted included. Default: only live ones without soft-deleted. */
  readonly deleted?: boolean;
  /** Soft-deleted ones are among the live. */
  readonly softDeleted?: boolean;
}

/** Every text a filter compares with a column. PostgreSQL has no texts with a NUL, so nothing is equal to one. */
export function canMatch(filters: ServerFilters): boolean {
  return (Object.keys(columns) as (keyof typeof columns)[]).every((name) => !filters[name]?.includes('\0'));
}

/** What databases can judge. */
export function narrow(rows: RowQuery, filters: ServerFilters, kind: DatabaseKind): RowQuery {
  let narrowed = narrowDeleted(rows, filters);
  for (const [name, column] of Object.entries(columns)) {
    const wanted = filters[name as keyof typeof columns];
    if (wanted !== undefined) narrowed = narrowed.where(column, '=', wanted);
  }
  if (filters.locked !== undefined) narrowed = narrowed.where('locked', '=', Number(filters.locked));
  if (filters.changedSince !== undefined) narrowed = narrowed.where('updated_at', '>=', filters.changedSince);
  if (filters.changedBefore !== undefined) {
    narrowed = narrowed.where('updated_at', '<', (Math.floor(filters.changedBefore / 1000) + 1) * 1000);
  }
  if (filters.statuses) narrowed = narrowStatuses(narrowed, filters.statuses);
  for (const [name, column] of Object.entries(plainColumns)) {
    const plain = plainPattern(filters.patterns?.[name as ServerPatternField] ?? '');
    if (!plain) continue;
    const { text, atStart, atEnd } = plain;
    const position =
      kind === 'postgres' ? sql`strpos(${sql.ref(column)}, ${text})` : sql`instr(${sql.ref(column)}, ${text})`;
    if (atStart && atEnd) narrowed = narrowed.where(column, '=', text);
    else narrowed = narrowed.where(atStart ? sql<boolean>`${position} = 1` : sql<boolean>`${position} > 0`);
  }
  return narrowed;
}

function narrowDeleted(rows: RowQuery, filters: ServerFilters): RowQuery {
  const { deleted, softDeleted, changedSince, changedBefore } = filters;
  if (deleted) return rows.where((eb) => eb.or([eb('deleted', '=', 1), eb('vm_state', '=', 'soft-delete')]));
  if (deleted === undefined && (changedSince !== undefined || changedBefore !== undefined)) {
    return rows.where('deleted', 'in', [0, 1]);
  }
  const live = rows.where('deleted', '=', 0);
  return softDeleted ? live : live.where('vm_state', '!=', 'soft-delete');
}

function narrowStatuses(rows: RowQuery, statuses: readonly string[]): RowQuery {
  const states = statuses.flatMap(statesOf);
  const [only] = states;
  if (!only) return rows.where('id', '=', '');
  if (states.length === 1 && !only.taskStates) return rows.where('vm_state', '=', only.vmState);
  return rows.where((eb) =>
    eb.or(
      states.map(({ vmState, taskStates }) =>
        eb.and([eb('vm_state', '=', vmState), ...(taskStates ? [eb('task_state', 'in', taskStates)] : [])]),
      ),
    ),
  );
}

export type Judge = (server: Server) => boolean;

/** What only the record itself can tell; undefined when the database has judged everything. */
export function judgeOf(filters: ServerFilters, hosts: HostMap): Judge | undefined {
  const judges = [...patternJudges(filters, hosts), ...tagJudges(filters)];
  return judges.length === 0 ? undefined : (server) => judges.every((judge) => judge(server));
}

function patternJudges({ patterns = {} }: ServerFilters, hosts: HostMap): Judge[] {
  const judge = (names: readonly ServerPatternField[]): Judge => {
    const compiled = names.map((name) => [textsOf(name), compilePattern(patterns[name]!) ?? never] as const);
    return (server) =>
      compiled.some(([read, fits]) => read(server, hosts).some((text) => typeof text === 'string' && fits(text)));
  };
  const asked = (Object.keys(patterns) as ServerPatternField[]).filter((name) => patterns[name] !== undefined);
  const addresses: readonly ServerPatternField[] = asked.filter((name) => name === 'ip' || name === 'ip6');
  const others = asked.filter(
    (name) => !addresses.includes(name) && !(plainColumns[name] && plainPattern(patterns[name]!) !== undefined),
  );
  // An address of either version will do.
  return [...others.map((name) => judge([name])), ...(addresses.length > 0 ? [judge(addresses)] : [])];
}

const never: Matches = () => false;

function tagJudges({ tags, tagsAny, notTags, notTagsAny }: ServerFilters): Judge[] {
  return [
    ...(tags ? [(s: Server) => tags.every((tag) => s.tags.includes(tag))] : []),
    ...(tagsAny ? [(s: Server) => tagsAny.some((tag) => s.tags.includes(tag))] : []),
    ...(notTags ? [(s: Server) => !notTags.every((tag) => s.tags.includes(tag))] : []),
    ...(notTagsAny ? [(s: Server) => !notTagsAny.some((tag) => s.tags.includes(tag))] : []),
  ];
}
