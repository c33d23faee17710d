import type { RowQuery } from '@apistrata/record-store';
import { type RawBuilder, sql } from 'kysely';
import type { Server, StringSetting } from '../../model/index.js';
import type { HostMap } from '../../scheduler/infrastructure.js';

type Value = string | number;

/** The source of a sort key's values: a table column, or the server record. */
interface KeySpec {
  readonly value: (server: Server, hosts: HostMap) => Value;
  /** SQL expression with the same value. If it is undefined, sorting by this key reads every matching server. */
  readonly column?: RawBuilder<unknown>;
}

const column = (name: string, value: KeySpec['value']): KeySpec => ({ column: sql.ref(name), value });
/** Returns a sort key in which a given value replaces null, because databases sort null differently. */
const nullable = (name: string, absent: Value, value: KeySpec['value']): KeySpec => ({
  column: sql`coalesce(${sql.ref(name)}, ${sql.lit(absent)})`,
  value,
});
const unindexed = (value: KeySpec['value']): KeySpec => ({ value });

/** The sort keys of servers. Settings have no entry, because their property has the same name as their sort key. */
const keys = {
  created_at: column('created_at', (s) => s.createdAt),
  updated_at: column('updated_at', (s) => s.updatedAt ?? s.createdAt),
  launched_at: nullable('launched_at', -1, (s) => s.launchedAt ?? -1),
  terminated_at: nullable('terminated_at', -1, (s) => s.terminatedAt ?? -1),
  display_name: column('name', (s) => s.name),
  host: nullable('host', '', (s) => s.host ?? ''),
  vm_state: column('vm_state', (s) => s.vmState),
  task_state: nullable('task_state', '', (s) => s.taskState ?? ''),
  user_id: column('user_id', (s) => s.userId),
  project_id: column('project_id', (s) => s.projectId),
  uuid: column('id', (s) => s.id),
  image_ref: column('image_id', (s) => s.imageId),
  instance_type_id: column('flavor_id', (s) => s.flavor.id),
  locked: column('locked', (s) => Number(s.lock !== null)),
  access_ip_v4: unindexed((s) => s.accessIpV4),
  access_ip_v6: unindexed((s) => s.accessIpV6),
  auto_disk_config: unindexed((s) => s.diskConfig),
  availability_zone: unindexed((s, { hosts }) => hosts.get(s.host ?? '')?.zone ?? s.pinnedZone ?? ''),
  config_drive: unindexed((s) => Number(s.configDrive)),
  display_description: unindexed((s) => s.description ?? ''),
  hostname: unindexed((s) => s.hostname),
  kernel_id: unindexed((s) => s.kernelId ?? ''),
  key_name: unindexed((s) => s.keyName ?? ''),
  launch_index: unindexed((s) => s.launchIndex),
  locked_by: unindexed((s) => s.lock?.by ?? ''),
  node: unindexed((s) => s.node ?? ''),
  power_state: unindexed((s) => s.powerState),
  progress: unindexed((s) => s.progress),
  ramdisk_id: unindexed((s) => s.ramdiskId ?? ''),
  root_device_name: unindexed((s) => s.rootDeviceName ?? ''),
} as const satisfies Record<string, KeySpec>;

/** Fields by which servers can be sorted. */
export type ServerSortKey = keyof typeof keys | StringSetting;

const keyOf = (name: ServerSortKey): KeySpec =>
  Object.hasOwn(keys, name) ? keys[name as keyof typeof keys] : unindexed((s) => s[name as StringSetting] ?? '');

/** A sort key with its direction. */
export interface ServerSort {
  readonly key: ServerSortKey;
  readonly direction: 'asc' | 'desc';
}

type Step = KeySpec & { readonly ascending: boolean };

/** A total order of servers, by which the pages of a list are sorted. */
export class ServerOrder {
  readonly #steps: readonly Step[];
  readonly #hosts: HostMap;
  /** Whether the database can sort in this order. Otherwise, this process compares the records. */
  readonly inDatabase: boolean;
  readonly #projectId: string | undefined;

  /**
   * @param isFilterIndexed whether the database selects its index by the filters, not by this order
   * @param projectId on PostgreSQL, the id of the project to which the list is restricted
   */
  constructor(sort: readonly ServerSort[], hosts: HostMap, isFilterIndexed: boolean, projectId?: string) {
    const first = sort[0]?.direction ?? 'desc';
    const steps = new Map<string, Step>();
    for (const { key, direction } of [...sort, { key: 'created_at', direction: first } as const]) {
      if (!steps.has(key)) steps.set(key, { ...keyOf(key), ascending: direction === 'asc' });
    }
    steps.set('seq', { ...column('seq', (s) => s.seq), ascending: first === 'asc' });
    const given = [...steps.keys()];
    // Ids are unique, so sort keys after the id have no effect.
    for (const key of given.slice(given.indexOf('uuid') + 1 || given.length)) steps.delete(key);
    const created = steps.get('created_at');
    if (isFilterIndexed && created) steps.set('created_at', { ...created, column: sql`(created_at + 0)` });
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
      const isBeyond = ascending ? sql`${column} > ${at}` : sql`${column} < ${at}`;
      return sql`(${sql.join([...equalKeys, isBeyond], sql` and `)})`;
    });
    const [{ column, ascending, at }] = steps as [(typeof steps)[number]];
    // This condition is redundant, but with it, the database can start at the right place in the index.
    const bound = ascending ? sql`${column} >= ${at}` : sql`${column} <= ${at}`;
    return sql<boolean>`(${bound} and (${sql.join(alternatives, sql` or `)}))`;
  }
}
