import { CompiledQuery } from 'kysely';
import type { Session } from '../store/database.js';
import type { SchemaChanges } from './schema-change.js';

/**
 * Statements that recreate the tables and rows of a migrated database, read from the first in-memory database with the
 * same schema changes.
 */
const templatesByChanges = new WeakMap<SchemaChanges, Promise<readonly CompiledQuery[]>>();

/**
 * Creates the tables of a new in-memory database. Only the first database in a process applies the schema changes, with
 * `applyChanges`; the others copy its tables. Applying all changes takes most of an engine's start time, and tests
 * create hundreds of engines.
 */
export async function createTablesInMemory(
  session: Session,
  changes: SchemaChanges,
  applyChanges: () => Promise<void>,
): Promise<void> {
  const existingTemplate = templatesByChanges.get(changes);
  if (!existingTemplate) {
    const templatePromise = applyChanges().then(() => templateOf(session));
    templatesByChanges.set(changes, templatePromise);
    await templatePromise.catch((error) => {
      templatesByChanges.delete(changes);
      throw error;
    });
    return;
  }
  const template = await existingTemplate.catch(() => undefined);
  // Creates the template again, because the error may be specific to the first database, for example if it was closed.
  if (!template) return createTablesInMemory(session, changes, applyChanges);
  await session.db.transaction().execute(async (tx) => {
    for (const query of template) await tx.executeQuery(query);
  });
}

interface SchemaRow {
  readonly type: string;
  readonly name: string;
  readonly sql: string;
}

/** Returns statements that create the tables, then their rows, then dependent objects such as indexes. */
async function templateOf({ db }: Session): Promise<readonly CompiledQuery[]> {
  const schemaQuery = `select type, name, sql from sqlite_master where sql is not null and name not like 'sqlite_%' order by rowid`;
  const { rows } = await db.executeQuery<SchemaRow>(CompiledQuery.raw(schemaQuery));
  const tables = rows.filter(({ type }) => type === 'table');
  const dependentObjects = rows.filter(({ type }) => type !== 'table');
  const rowsByTable = await Promise.all(tables.map(({ name }) => db.selectFrom(name).selectAll().execute()));
  return [
    ...tables.map(({ sql }) => CompiledQuery.raw(sql)),
    ...tables.flatMap(({ name }, at) => rowsByTable[at]?.map((row) => db.insertInto(name).values(row).compile()) ?? []),
    ...dependentObjects.map(({ sql }) => CompiledQuery.raw(sql)),
  ];
}
