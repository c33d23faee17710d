import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import type { Rows } from '../store/database.js';

/** How PostgreSQL ends a question of a replica that stands in the way of what has to be replayed. */
const CONFLICT = /^(40001|40P01)$/;

/** A time limit of the question's own, which it would not keep at the primary either. */
const TOO_LONG = '57014';

const codeOf = (error: unknown) => (error as { readonly code?: unknown } | undefined)?.code;

/** Whether the same question may be answered elsewhere. */
function isItsOwn(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return codeOf(error.cause) !== TOO_LONG;
  return CONFLICT.test(String(codeOf(error)));
}

export interface ReplicaDialectOptions {
  readonly replica: Kysely<Rows>;
  readonly primary: Kysely<Rows>;
  /** Told of each question that the primary had to answer instead. */
  readonly onTrouble: (error: unknown) => void;
}

/** Asks a replica, and the primary where that fails. */
class ReplicaConnection implements DatabaseConnection {
  readonly #options: ReplicaDialectOptions;

  constructor(options: ReplicaDialectOptions) {
    this.#options = options;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { replica, primary, onTrouble } = this.#options;
    try {
      return await replica.executeQuery<R>(query as CompiledQuery<R>);
    } catch (error) {
      if (!isItsOwn(error)) throw error;
      onTrouble(error);
      return primary.executeQuery<R>(query as CompiledQuery<R>);
    }
  }

  // biome-ignore lint/correctness/useYield: results are never streamed, and the interface asks for a generator
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('results of this database are read by pages, not streamed');
  }
}

const readOnly = () => Promise.reject(new Error('replicas have no transactions'));

/** The Kysely dialect for questions that a replica answers while it can. Closing it leaves both databases open. */
export function replicaDialect(options: ReplicaDialectOptions): Dialect {
  const connection = new ReplicaConnection(options);
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: readOnly,
    commitTransaction: readOnly,
    rollbackTransaction: readOnly,
    destroy: async () => {},
  };
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}
