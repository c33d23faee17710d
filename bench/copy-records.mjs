import Database from 'better-sqlite3';

/** Number of rows per statement. */
const BATCH = 2000;

/**
 * Returns a copy of a document table's row with some strings replaced: those that are the whole value of a column, a
 * whole string in the JSON document, or a part of the key.
 *
 * @param names maps old strings to new ones
 */
export function renamed({ seq: _, ...row }, names) {
  const changes = Object.entries(names);
  const replaced = (text, of) => changes.reduce((done, [from, to]) => done.replaceAll(of(from), of(to)), text);
  const change = ([column, value]) => {
    if (column === 'data') return [column, replaced(value, JSON.stringify)];
    if (column === 'id') return [column, replaced(value, (text) => text)];
    return [column, names[value] ?? value];
  };
  return Object.fromEntries(Object.entries(row).map(change));
}

function sqliteTables(path) {
  const db = new Database(path);
  return {
    rows: (table) => db.prepare(`select * from ${table} order by seq`).all(),
    insert: (table, rows) => {
      const names = Object.keys(rows[0]);
      const insert = db.prepare(`insert into ${table} (${names}) values (${names.map((name) => `@${name}`)})`);
      db.transaction(() => {
        for (const row of rows) insert.run(row);
      })();
    },
    execute: (statement) => db.exec(statement),
    close: () => db.close(),
  };
}

async function postgresTables(connectionString) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString });
  await client.connect();
  return {
    rows: async (table) => (await client.query(`select * from ${table} order by seq`)).rows,
    insert: async (table, rows) => {
      const names = Object.keys(rows[0]);
      const statement = `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, $1)`;
      for (let from = 0; from < rows.length; from += BATCH)
        await client.query(statement, [JSON.stringify(rows.slice(from, from + BATCH))]);
    },
    execute: (statement) => client.query(statement),
    close: async ({ statistics }) => {
      if (statistics) await client.query('vacuum analyze');
      await client.end();
    },
  };
}

/**
 * Opens the tables of a SQLite file or of a PostgreSQL database, which no engine may use in the meantime. `close` also
 * collects the planner statistics of PostgreSQL, if `statistics` is true.
 */
export const openTables = async (database) =>
  database.startsWith('postgres') ? postgresTables(database) : sqliteTables(database);
