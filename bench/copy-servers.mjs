import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { idOf } from './server-process.mjs';

/** The number of rows in each chunk that is sent to COPY. */
const BATCH = 1000;
const ESCAPES = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Formats a value for the text format of COPY. */
const textOf = (value) => (value === null ? '\\N' : String(value).replaceAll(/[\\\t\n\r]/g, (sign) => ESCAPES[sign]));

/** Drops the indexes that are not unique: building them afterwards is faster than updating them row by row. */
async function withoutIndexes(client) {
  const { rows } = await client.query(`select indexname, indexdef from pg_indexes
    where schemaname = current_schema() and tablename = 'servers' and indexdef not like 'CREATE UNIQUE %'`);
  for (const { indexname } of rows) await client.query(`drop index "${indexname}"`);
  return async () => {
    for (const { indexdef } of rows) await client.query(indexdef);
  };
}

/** Returns a function that copies a server's row for an index; owners and nodes alternate, as in `populateServers`. */
function rowCopier(row, nodes, owners, count) {
  const record = JSON.parse(row.data);
  return (index) => {
    const { projectId, userId } = owners[index % owners.length];
    const { host, node } = nodes[index % nodes.length];
    const name = `server-${String(index + 1).padStart(6, '0')}`;
    const createdAt = record.createdAt - count + index;
    const claims = record.claims.map((claim) => ({ ...claim, host }));
    const own = { id: idOf(index), name, projectId, userId, host };
    const data = { ...record, ...own, hostname: name, node, claims, createdAt, updatedAt: createdAt };
    return {
      ...row,
      id: own.id,
      revision: Math.floor(Math.random() * 2 ** 52),
      name,
      project_id: projectId,
      user_id: userId,
      host,
      created_at: createdAt,
      updated_at: createdAt,
      data: JSON.stringify(data),
    };
  };
}

/**
 * Copies the only server of a PostgreSQL database until the requested number exists. No engine may use the database
 * in the meantime.
 */
export async function copyServers(client, count, owners) {
  const { rows: nodes } = await client.query(
    "select host, data::json ->> 'hypervisorHostname' as node from nodes order by seq",
  );
  const { rows } = await client.query('select * from servers');
  if (rows.length !== 1) throw new Error(`the database must contain exactly one server to copy, not ${rows.length}`);
  const [{ seq: _, ...row }] = rows;
  const copyOf = rowCopier(row, nodes, owners, count);
  const columns = Object.keys(row);
  function* lines() {
    for (let from = 1; from < count; from += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => copyOf(from + at));
      yield batch.map((copy) => `${columns.map((column) => textOf(copy[column])).join('\t')}\n`).join('');
    }
  }
  await client.query('begin');
  const rebuild = await withoutIndexes(client);
  await pipeline(Readable.from(lines()), client.query(copyFrom(`copy servers (${columns.join()}) from stdin`)));
  await rebuild();
  await client.query(`update nodes set (servers, vcpus_used, memory_mb_used, local_gb_used) = (
    select count(*), sum(vcpus), sum(memory_mb), sum((s.data::json -> 'flavor' ->> 'diskGb')::bigint)
    from servers s where s.host = nodes.host and s.deleted = 0)`);
  await client.query('commit');
}
