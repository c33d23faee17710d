import {
  type CompiledQuery,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import { BufferedConnection } from '../store/buffered-connection.js';
import type { Rows } from '../store/database.js';

/** Matches the error codes with which PostgreSQL cancels a query that conflicts with replay. */
const REPLAY_CONFLICT_CODES = /^(40001|40P01)$/;

/** The error code of a query that exceeded its timeout. Such a query would also time out on the primary. */
const QUERY_TIMEOUT_CODE = '57014';

const codeOf = (error: unknown) => (error as { readonly code?: unknown } | undefined)?.code;

/** Returns whether a query failed because of the replica, so that the primary can execute it instead. */
function isReplicaError(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return codeOf(error.cause) !== QUERY_TIMEOUT_CODE;
  return REPLAY_CONFLICT_CODES.test(String(codeOf(error)));
}

export interface ReplicaDialectOptions {
  readonly replica: Kysely<Rows>;
  readonly primary: Kysely<Rows>;
  /** Called with the error of each query that must run on the primary instead. */
  readonly onFailure: (error: unknown) => void;
}

/** Runs each query on a replica, and on the primary if the replica fails. */
class ReplicaConnection extends BufferedConnection {
  readonly #options: ReplicaDialectOptions;

  constructor(options: ReplicaDialectOptions) {
    super();
    this.#options = options;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { replica, primary, onFailure } = this.#options;
    try {
      return await replica.executeQuery<R>(query as CompiledQuery<R>);
    } catch (error) {
      if (!isReplicaError(error)) throw error;
      onFailure(error);
      return primary.executeQuery<R>(query as CompiledQuery<R>);
    }
  }
}

const rejectTransaction = () => Promise.reject(new Error('replicas do not support transactions'));

/**
 * Creates a Kysely dialect whose queries run on a replica, or on the primary if the replica fails. Closing the dialect
 * closes neither database.
 */
export function replicaDialect(options: ReplicaDialectOptions): Dialect {
  const connection = new ReplicaConnection(options);
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
    beginTransaction: rejectTransaction,
    commitTransaction: rejectTransaction,
    rollbackTransaction: rejectTransaction,
    destroy: async () => {},
  };
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}
