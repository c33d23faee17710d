import type { SqlDatabase, SqlRow, Statement, Steps } from '@apistrata/quota/sql';
import type { Store, Tx } from '@apistrata/record-store';
import { CompiledQuery } from 'kysely';

/**
 * Returns a statement's SQL with the placeholders that the database requires: PostgreSQL uses numbered parameters. No
 * statement contains a question mark in a literal.
 */
function toDatabaseSql(kind: Store['kind'], { sql }: Statement): string {
  let number = 0;
  return kind === 'postgres' ? sql.replaceAll('?', () => `$${++number}`) : sql;
}

async function runSteps<T>(tx: Tx, steps: Steps<T>): Promise<T> {
  let step = steps.next([]);
  while (!step.done) {
    const { parameters } = step.value;
    const { rows } = await tx.db.executeQuery(CompiledQuery.raw(toDatabaseSql(tx.kind, step.value), [...parameters]));
    step = steps.next(rows as SqlRow[]);
  }
  return step.value;
}

/** Adapts the engine's database to the SQL store of project quotas. */
export function quotaDatabase(store: Store): SqlDatabase {
  return {
    dialect: store.kind,
    isInTransaction: () => false,
    transaction: (work) => store.transaction((tx) => runSteps(tx, work())),
  };
}
