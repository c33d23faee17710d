import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';

/** A connection that returns all rows of a query at once. */
export abstract class BufferedConnection implements DatabaseConnection {
  abstract executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>>;

  // biome-ignore lint/correctness/useYield: results are never streamed, and the interface requires a generator
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('results of this database cannot be streamed: read them in pages');
  }
}
