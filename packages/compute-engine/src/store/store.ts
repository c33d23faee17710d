import { AsyncResource } from 'node:async_hooks';
import { sql } from 'kysely';
import type { EngineObserver } from '../observation/observer.js';
import { closeDatabase, openDatabase, type Session, type Tx } from './database.js';
import { type DatabaseSettings, databaseSettings } from './database-settings.js';
import { DatabaseUnavailable, databaseError } from './database-unavailable.js';
import { StaleRecord } from './document-table.js';
import { GroupCommit } from './group-commit.js';
import { migrate } from './migrate.js';
import { migrations, type SchemaChanges } from './migrations/index.js';

/** How often a transaction that met somebody else's change starts again before it gives up. */
const ATTEMPTS = 20;

/** PostgreSQL's words for "try again": serialization failure, deadlock. */
const RETRYABLE = new Set(['STALE_RECORD', '40001', '40P01']);

export interface Store extends Session {
  /**
   * Runs work whose writes all happen or none. It may run several times when others change the same records, so it
   * does nothing but read and write through `tx`; what must follow goes into `tx.afterCommit`. Throws
   * {@link DatabaseUnavailable} for trouble of the database.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Throws unless the database can be reached and keeps what is written now. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a store and brings its tables up to date. Throws {@link DatabaseUnavailable}, `DatabaseInUse` for a SQLite file
 * that another engine has, `DatabaseTooNew`, and RangeError for settings that cannot be.
 * @param url `:memory:`, a file, or `postgres://...`
 * @param changes what this version knows of the tables; others only in tests of upgrades
 */
export async function openStore(
  url: string,
  options: Partial<DatabaseSettings> = {},
  observer?: EngineObserver,
  changes: SchemaChanges = migrations,
): Promise<Store> {
  const settings = databaseSettings(options);
  const session = openDatabase(url, settings, observer);
  try {
    await migrate(session, url, settings, changes);
  } catch (error) {
    await closeDatabase(session);
    throw error;
  }
  const group = session.kind === 'sqlite' ? new GroupCommit(session.db, observer?.commit) : undefined;
  const transaction: Store['transaction'] = observer?.around
    ? // Those that share a commit are run by one of them: each keeps the span that it belongs to.
      (work) => transact(session, group, AsyncResource.bind(work))
    : (work) => transact(session, group, work);
  return {
    ...session,
    transaction,
    check: () => transaction(touch),
    close: () => closeDatabase(session),
  };
}

async function transact<T>(session: Session, group: GroupCommit | undefined, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const followUps: (() => void)[] = [];
    try {
      const begun = (db: Tx['db']) => work({ ...session, db, afterCommit: (run) => followUps.push(run) });
      const result = await (group ? group.run(begun) : session.db.transaction().execute(begun));
      for (const run of followUps) run();
      return result;
    } catch (error) {
      const retryable = error instanceof StaleRecord || RETRYABLE.has((error as { code?: string }).code ?? '');
      if (!retryable) throw databaseError(error);
      if (attempt === ATTEMPTS) throw new DatabaseUnavailable('busy', error);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * attempt * 5));
    }
  }
}

/** Writes the one row that every database has from its first moment on: reading alone would not find a full disk. */
async function touch({ db }: Tx): Promise<void> {
  await db
    .updateTable('kysely_migration_lock')
    .set(({ ref }) => ({ is_locked: ref('is_locked') }))
    .execute();
}

/** Makes transactions that name the same thing wait for each other. SQLite has one writer at a time anyway. */
export async function lockName(tx: Tx, name: string): Promise<void> {
  if (tx.kind === 'postgres') await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx.db);
}
