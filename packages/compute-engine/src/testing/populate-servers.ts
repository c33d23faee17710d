import type { Tx } from '@apistrata/record-store';
import { sql } from 'kysely';
import { backgroundContext } from '../core/context.js';
import type { Engine } from '../engine/engine.js';
import { coreOf } from '../engine/engine-core.js';
import type { Server } from '../model/index.js';
import { tables } from '../schema/tables.js';

/** Number and owners of the servers to create. */
export interface Population {
  readonly count: number;
  /** The owners, which are assigned to the servers in rotation. */
  readonly owners: readonly { readonly projectId: string; readonly userId: string }[];
  /** The flavor and image of the servers. Default: the first flavor and the first image. */
  readonly flavorId?: string;
  readonly imageId?: string;
}

const BACKGROUND_CONTEXT = backgroundContext({ userId: 'populate', projectId: 'populate' });

/** Number of servers that one statement inserts. */
const BATCH_SIZE = 5000;

/** Placeholders in the copied record, which each copy replaces with its own values. */
const PLACEHOLDERS = ['id', 'name', 'project', 'user', 'host', 'node'].map((name) => `<copied ${name}>`);

/** Placeholder for the creation time of a copy. The value that replaces it is a number instead of a string. */
const TIME_PLACEHOLDER = '<copied time>';

/** Returns the record with placeholders for the fields that differ between copies. */
function createRecordTemplate(template: Server): string {
  const [id, name, projectId, userId, host, node] = PLACEHOLDERS as [string, string, string, string, string, string];
  const claims = template.claims.map((claim) => ({ ...claim, host }));
  const { seq, revision, ...record } = { ...template, id, name, hostname: name, projectId, userId, host, node, claims };
  return JSON.stringify({ ...record, createdAt: TIME_PLACEHOLDER, updatedAt: TIME_PLACEHOLDER });
}

/** With at least this number of rows, rebuilding indexes is faster than updating them. */
const MIN_SERVERS_FOR_REBUILD = 50_000;

interface IndexRow {
  readonly name: string;
  readonly definition: string;
}

/** Drops the non-unique indexes of the `servers` table, and returns a function that creates them again. */
async function dropIndexes({ db, kind }: Tx): Promise<() => Promise<void>> {
  const indexes =
    kind === 'postgres'
      ? sql<IndexRow>`select indexname as name, indexdef as definition from pg_indexes
          where schemaname = current_schema() and tablename = 'servers' and indexdef not like 'CREATE UNIQUE %'`
      : sql<IndexRow>`select name, sql as definition from sqlite_schema
          where type = 'index' and tbl_name = 'servers' and sql is not null`;
  const { rows } = await indexes.execute(db);
  for (const { name } of rows) await sql`drop index ${sql.ref(name)}`.execute(db);
  return async () => {
    for (const { definition } of rows) await sql.raw(definition).execute(db);
  };
}

/** Returns the element at an index of a non-empty list, wrapping around at the end. */
const cyclicItem = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

function copyId(index: number): string {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
  return `5e51${hex(index >> 16, 4)}-${hex(index & 0xffff, 4)}-4000-8000-${hex(index, 12)}`;
}

/**
 * Creates many running servers quickly, on all hosts in turn: one is created normally, and the database copies it. The
 * servers have no ports, and their ids are the same every time. With 50,000 servers or more, the indexes are rebuilt
 * afterwards, and servers cannot be read until that is complete; on PostgreSQL, this requires a store whose statements
 * may take minutes (`statementTimeoutMs`). Only for tests and trials.
 */
export async function populateServers(engine: Engine, { count, owners, ...given }: Population): Promise<void> {
  const { store, infrastructure } = coreOf(engine);
  if (count < 1) return;
  const [flavor] = await tables.flavors.find(store, (q) => q.orderBy('seq').limit(1));
  const [image] = await engine.catalogs.images.list(BACKGROUND_CONTEXT.caller);
  const { flavorId = flavor?.id, imageId = image?.id } = given;
  if (flavorId === undefined || imageId === undefined)
    throw new Error('populateServers requires a flavor and an image: set their IDs, or define both in the preset');
  const context = { ...BACKGROUND_CONTEXT, requestId: 'req-00000000-0000-4000-8000-000000000000' };
  const { servers } = await engine.servers.create(context, { name: 'template', flavorId, imageId, networks: 'none' });
  await engine.idle();
  const [server] = servers;
  const template = server && (await tables.servers.get(store, server.id));
  if (!template) throw new Error('the server to be copied no longer exists');
  const nodes = await tables.nodes.find(store, (q) => q.orderBy('seq'));
  const row = await store.db.selectFrom('servers').selectAll().where('id', '=', template.id).executeTakeFirstOrThrow();
  const valuesOfCopy = (index: number) => {
    const { host, hypervisorHostname } = cyclicItem(nodes, index);
    const { projectId, userId } = cyclicItem(owners, index);
    const name = `server-${String(index + 1).padStart(6, '0')}`;
    const placeholderValues = [copyId(index), name, projectId, userId, host, hypervisorHostname];
    const created = template.createdAt - count + index;
    return [...placeholderValues, ...placeholderValues.map((text) => JSON.stringify(text).slice(1, -1)), created];
  };
  const copyValue = (position: number) => sql`(c.value ->> ${sql.lit(position)})`;
  const copiedTime = copyValue(2 * PLACEHOLDERS.length);
  const data = PLACEHOLDERS.reduce(
    (text, placeholder, position) =>
      sql`replace(${text}, ${sql.lit(placeholder)}, ${copyValue(PLACEHOLDERS.length + position)})`,
    sql`replace(cast(${createRecordTemplate(template)} as text), ${sql.lit(`"${TIME_PLACEHOLDER}"`)}, cast(${copiedTime} as text))`,
  );
  const created = sql`cast(${copiedTime} as bigint)`;
  const [id, name, project, user, host] = PLACEHOLDERS.map((_, position) => copyValue(position));
  const columns = {
    ...row,
    id,
    name,
    project_id: project,
    user_id: user,
    host,
    data,
    created_at: created,
    updated_at: created,
  };
  const names = Object.keys(columns).filter((column) => column !== 'seq' && column !== 'revision');
  const values = names.map((column) => {
    const value = columns[column as keyof typeof columns];
    return typeof value === 'object' && value !== null ? value : sql`t.${sql.ref(column)}`;
  });
  const postgres = store.kind === 'postgres';
  const copiesTable = (copies: string) =>
    postgres ? sql`json_array_elements(cast(${copies} as json)) as c(value)` : sql`json_each(${copies}) as c`;
  const revision = postgres ? sql`cast(random() * 4503599627370495 as bigint)` : sql`abs(random()) % 4503599627370496`;
  await store.transaction(async (tx) => {
    const rebuildIndexes = count >= MIN_SERVERS_FOR_REBUILD ? await dropIndexes(tx) : undefined;
    for (let from = 0; from < count; from += BATCH_SIZE) {
      const length = Math.min(BATCH_SIZE, count - from);
      const batch = Array.from({ length }, (_, index) => valuesOfCopy(from + index));
      await sql`
        insert into servers (revision, ${sql.join(names.map((column) => sql.ref(column)))})
        select ${revision}, ${sql.join(values)}
        from ${copiesTable(JSON.stringify(batch))}, servers t where t.id = ${template.id}
      `.execute(tx.db);
    }
    await rebuildIndexes?.();
    await tx.db.deleteFrom('servers').where('id', '=', template.id).execute();
    await tx.db.deleteFrom('instance_actions').where('server_id', '=', template.id).execute();
    const { vcpus, memoryMb, diskGb } = template.flavor;
    await sql`
      update nodes set (servers, vcpus_used, memory_mb_used, local_gb_used) = (
        select count(*), count(*) * ${vcpus}, count(*) * ${memoryMb}, count(*) * ${diskGb}
        from servers s where s.host = nodes.host and s.deleted = 0)
    `.execute(tx.db);
    infrastructure.invalidateAfterCommit(tx);
  });
}
