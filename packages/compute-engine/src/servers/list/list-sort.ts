import type { RowQuery } from '@apistrata/record-store';
import { type RawBuilder, sql } from 'kysely';
import type { Server, StringSetting } from '../../model/index.js';
import type { HostMap } from '../../scheduler/infrastructure.js';

type SortValue = string | number;

/** The source of a sort key's values: a table column, or the server record. */
interface SortKeySpec {
  readonly value: (server: Server, hosts: HostMap) => SortValue;
  /** SQL expression for the value. If the expression is undefined, sorting by this key reads every matching server. */
  readonly column?: RawBuilder<unknown>;
}

const column = (name: string, value: SortKeySpec['value']): SortKeySpec => ({ column: sql.ref(name), value });
/** Returns a sort key in which a given value replaces null, because databases differ in how they sort null. */
const nullableColumn = (name: string, nullValue: SortValue, value: SortKeySpec['value']): SortKeySpec => ({
  column: sql`coalesce(${sql.ref(name)}, ${sql.lit(nullValue)})`,
  value,
});
const recordValue = (value: SortKeySpec['value']): SortKeySpec => ({ value });

/**
 * The sort keys of servers. The server settings have no entry, because each sort key has the same name as the setting.
 */
const sortKeys = {
  created_at: column('created_at', (s) => s.createdAt),
  updated_at: column('updated_at', (s) => s.updatedAt ?? s.createdAt),
  launched_at: nullableColumn('launched_at', -1, (s) => s.launchedAt ?? -1),
  terminated_at: nullableColumn('terminated_at', -1, (s) => s.terminatedAt ?? -1),
  display_name: column('name', (s) => s.name),
  host: nullableColumn('host', '', (s) => s.host ?? ''),
  vm_state: column('vm_state', (s) => s.vmState),
  task_state: nullableColumn('task_state', '', (s) => s.taskState ?? ''),
  user_id: column('user_id', (s) => s.userId),
  project_id: column('project_id', (s) => s.projectId),
  uuid: column('id', (s) => s.id),
  image_ref: column('image_id', (s) => s.imageId),
  instance_type_id: column('flavor_id', (s) => s.flavor.id),
  locked: column('locked', (s) => Number(s.lock !== null)),
  access_ip_v4: recordValue((s) => s.accessIpV4),
  access_ip_v6: recordValue((s) => s.accessIpV6),
  auto_disk_config: recordValue((s) => s.diskConfig),
  availability_zone: recordValue((s, { hosts }) => hosts.get(s.host ?? '')?.zone ?? s.pinnedZone ?? ''),
  config_drive: recordValue((s) => Number(s.configDrive)),
  display_description: recordValue((s) => s.description ?? ''),
  hostname: recordValue((s) => s.hostname),
  kernel_id: recordValue((s) => s.kernelId ?? ''),
  key_name: recordValue((s) => s.keyName ?? ''),
  launch_index: recordValue((s) => s.launchIndex),
  locked_by: recordValue((s) => s.lock?.by ?? ''),
  node: recordValue((s) => s.node ?? ''),
  power_state: recordValue((s) => s.powerState),
  progress: recordValue((s) => s.progress),
  ramdisk_id: recordValue((s) => s.ramdiskId ?? ''),
  root_device_name: recordValue((s) => s.rootDeviceName ?? ''),
} as const satisfies Record<string, SortKeySpec>;

/** Fields by which servers can be sorted. */
export type ServerSortKey = keyof typeof sortKeys | StringSetting;

const sortKeySpecOf = (name: ServerSortKey): SortKeySpec =>
  Object.hasOwn(sortKeys, name)
    ? sortKeys[name as keyof typeof sortKeys]
    : recordValue((s) => s[name as StringSetting] ?? '');

/** A sort key with its direction. */
export interface ServerSort {
  readonly key: ServerSortKey;
  readonly direction: 'asc' | 'desc';
}

type SortStep = SortKeySpec & { readonly ascending: boolean };

/** A total order of servers, by which the pages of a list are sorted. */
export class ServerOrder {
  readonly #steps: readonly SortStep[];
  readonly #hosts: HostMap;
  /** Whether the database can sort in this order. Otherwise, this process compares the records. */
  readonly inDatabase: boolean;
  readonly #projectId: string | undefined;

  /**
   * @param isFilterIndexed whether the database selects its index by the filters, not by this order
   * @param projectId on PostgreSQL, the id of the project to which the list is restricted
   */
  constructor(sort: readonly ServerSort[], hosts: HostMap, isFilterIndexed: boolean, projectId?: string) {
    const firstDirection = sort[0]?.direction ?? 'desc';
    const steps = new Map<string, SortStep>();
    for (const { key, direction } of [...sort, { key: 'created_at', direction: firstDirection } as const]) {
      if (!steps.has(key)) steps.set(key, { ...sortKeySpecOf(key), ascending: direction === 'asc' });
    }
    steps.set('seq', { ...column('seq', (s) => s.seq), ascending: firstDirection === 'asc' });
    const stepKeys = [...steps.keys()];
    // Ids are unique, so sort keys after the id have no effect.
    for (const key of stepKeys.slice(stepKeys.indexOf('uuid') + 1 || stepKeys.length)) steps.delete(key);
    const createdAtStep = steps.get('created_at');
    if (isFilterIndexed && createdAtStep) steps.set('created_at', { ...createdAtStep, column: sql`(created_at + 0)` });
    this.#steps = [...steps.values()];
    this.#hosts = hosts;
    this.#projectId = projectId;
    this.inDatabase = this.#steps.every((step) => step.column !== undefined);
  }

  /** Adds the sort order to a query, and skips all servers up to and including `after`. */
  apply(rows: RowQuery, after: Server | undefined): RowQuery {
    let sorted = after ? rows.where(this.#isAfter(after)) : rows;
    for (const { column, ascending } of this.#steps)
      if (column !== undefined) sorted = sorted.orderBy(column, ascending ? 'asc' : 'desc');
    return sorted;
  }

  /** Compares two servers. Returns a negative number if the first server precedes the second. */
  compare(one: Server, other: Server): number {
    for (const { value, ascending } of this.#steps) {
      const [a, b] = [value(one, this.#hosts), value(other, this.#hosts)];
      if (a !== b) return a < b === ascending ? -1 : 1;
    }
    return 0;
  }

  #isAfter(server: Server): RawBuilder<boolean> {
    const steps = this.#steps.map((step) => ({ ...step, at: step.value(server, this.#hosts) }));
    const isAscending = steps.every(({ ascending }) => ascending);
    if (isAscending || !steps.some(({ ascending }) => ascending)) {
      // A database evaluates a row comparison as a whole in its index, so it skips servers with equal first keys. The
      // comparison starts with the project, because PostgreSQL estimates the number of rows from the first column only.
      // If a sort key came first, the planner would expect no rows after a frequent value.
      const projectKey = this.#projectId === undefined ? [] : [{ column: sql.ref('project_id'), at: this.#projectId }];
      const row = sql.join([...projectKey, ...steps].map(({ column }) => column));
      const at = sql.join([...projectKey, ...steps].map((step) => step.at));
      return isAscending ? sql<boolean>`(${row}) > (${at})` : sql<boolean>`(${row}) < (${at})`;
    }
    const alternatives = steps.map(({ column, ascending, at }, position) => {
      const equalKeys = steps.slice(0, position).map((earlier) => sql`${earlier.column} = ${earlier.at}`);
      const beyondCondition = ascending ? sql`${column} > ${at}` : sql`${column} < ${at}`;
      return sql`(${sql.join([...equalKeys, beyondCondition], sql` and `)})`;
    });
    const [{ column, ascending, at }] = steps as [(typeof steps)[number]];
    // This condition is redundant, but lets the database start at the right place in the index.
    const startCondition = ascending ? sql`${column} >= ${at}` : sql`${column} <= ${at}`;
    return sql<boolean>`(${startCondition} and (${sql.join(alternatives, sql` or `)}))`;
  }
}
