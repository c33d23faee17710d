import { createRequire } from 'node:module';
import { type Dialect, Kysely, PostgresDialect, type Transaction } from 'kysely';
import { sqliteDialect } from './sqlite-dialect.js';

/** Tables are known by their definitions (see document-table.ts), so Kysely sees rows of any shape. */
export type Rows = Record<string, any>;

export type DatabaseKind = 'sqlite' | 'postgres';

/** Something that reads: the store itself, or a transaction. */
export interface Session {
  readonly db: Kysely<Rows>;
  readonly kind: DatabaseKind;
}

/** A transaction: reads its own writes, and runs its `afterCommit` functions once everything is durable. */
export interface Tx extends Session {
  readonly db: Transaction<Rows>;
  afterCommit(run: () => void): void;
}

function postgresDialect(url: string, poolSize: number): Dialect {
  const pg = createRequire(import.meta.url)('pg');
  // 64-bit integers arrive as text; every one we store is below 2^53.
  const types = {
    getTypeParser: (oid: number, format: string) => (oid === 20 ? Number : pg.types.getTypeParser(oid, format)),
  };
  const pool = new pg.Pool({ connectionString: url, max: poolSize, types, connectionTimeoutMillis: 10_000 });
  // A connection that breaks while idle is replaced on next use; without a listener it would end the process.
  pool.on('error', () => {});
  return new PostgresDialect({ pool });
}

/**
 * Opens `:memory:`, a SQLite file, or a `postgres://` URL. Nothing is read or written yet.
 * @param options.poolSize connections to PostgreSQL at the most; default 10
 */
export function openDatabase(url: string, options: { readonly poolSize?: number } = {}): Session {
  const kind: DatabaseKind = /^postgres(ql)?:\/\//.test(url) ? 'postgres' : 'sqlite';
  const dialect = kind === 'postgres' ? postgresDialect(url, options.poolSize ?? 10) : sqliteDialect(url);
  return { db: new Kysely<Rows>({ dialect }), kind };
}
