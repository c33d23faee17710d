import { hotStatement } from '../batching/hot-statement.js';
import type { Session } from '../store/database.js';
import type { DocumentTable, RowQuery } from './document-table.js';
import type { Stored } from './stored.js';

/**
 * Creates a function that executes a frequent query for records. The query is compiled once per database kind, and each
 * call supplies its parameters in the order in which `addConditions` contains them.
 */
export function hotFind<R extends Stored>(table: DocumentTable<R>, addConditions: (rows: RowQuery) => RowQuery) {
  const queryHeads = hotStatement<Parameters<DocumentTable<R>['read']>[1][number]>((session) =>
    addConditions(table.selectHeads(session)),
  );
  return async (session: Session, parameters: readonly unknown[]): Promise<R[]> =>
    table.read(session, (await queryHeads(session, parameters)).rows);
}
