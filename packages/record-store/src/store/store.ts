import { AsyncResource } from 'node:async_hooks';
import { sql } from 'kysely';
import { GroupCommit } from '../batching/group-commit.js';
import { DatabaseUnavailable, databaseError } from '../errors/database-unavailable.js';
import { StaleRecord } from '../errors/stale-record.js';
import type { StoreObserver } from '../observation/store-observer.js';
import { type DatabaseSettings, databaseSettings } from '../options/database-settings.js';
import { PostgresTransactions, ToBeDoneAlone } from '../postgres/postgres-transactions.js';
import { ReadReplicas } from '../replicas/read-replicas.js';
import { migrate } from '../schema/migrate.js';
import type { SchemaChanges } from '../schema/schema-change.js';
import { closeDatabase, type Mates, type OpenDatabase, openDatabase, type Session, type Tx } from './database.js';

/** How often a transaction that met somebody else's change starts again before it gives up. */
const ATTEMPTS = 20;

/** PostgreSQL's words for "try again": serialization failure, deadlock, a session that a pooler has exchanged. */
const RETRYABLE = new Set(['STALE_RECORD', '40001', '40P01', '26000', '42P05']);

/** An open database. */
export interface Store extends Session {
  /**
   * Runs work whose writes all happen or none. It may run several times when others change the same records, so it
   * does nothing but read and write through `tx`; what must follow goes into `tx.afterCommit`. Throws
   * {@link DatabaseUnavailable} for trouble of the database.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Like `transaction`, for what many do at the same time, each with rows of its own: it may be done beside others in one
   * transaction. Rows that several change are changed by statements that are right by themselves, or under a name that
   * `lockName` has taken.
   */
  together<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Servers that answer those who only read, where there are some. */
  readonly replicas?: ReadReplicas;
  /** Throws unless the database can be reached and keeps what is written now. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Options of {@link openStore}. */
export interface StoreOptions extends Partial<DatabaseSettings> {
  /** PostgreSQL: addresses of replicas that answer those who only read. */
  readonly databaseRead?: readonly string[];
}

/**
 * Opens a store and brings its tables up to date. Throws {@link DatabaseUnavailable}, `DatabaseInUse` for a SQLite file
 * that another engine has, `DatabaseTooNew`, and RangeError for settings that cannot be.
 * @param url `:memory:`, a file, or `postgres://...`
 * @param changes every change of the tables that this version knows, oldest first
 *
 * @example
 * ```ts
 * import { createDocumentTable, openStore } from '@apistrata/record-store';
 *
 * const store = await openStore(':memory:', { '0001-notes': { up: (db) => createDocumentTable(db, 'notes') } });
 * ```
 */
export async function openStore(
  url: string,
  changes: SchemaChanges,
  options: StoreOptions = {},
  observer?: StoreObserver,
): Promise<Store> {
  const settings = databaseSettings(options);
  const session = openDatabase(url, settings, observer);
  try {
    await migrate(session, url, settings, changes);
  } catch (error) {
    await closeDatabase(session);
    throw error;
  }
  const ways = waysOf(session, observer);
  const replicas = replicasOf(url, session, settings, options, observer);
  // Those that share a commit are run by one of them: each keeps the span that it belongs to.
  const bound: <W extends (tx: Tx) => Promise<unknown>>(work: W) => W = observer?.around
    ? (work) => AsyncResource.bind(work)
    : (work) => work;
  const transaction: Store['transaction'] = (work) => transact(session, ways.alone, bound(work), replicas);
  return {
    ...session,
    transaction,
    together: (work) =>
      transact(session, ways.together, bound(work), replicas).catch((error) => {
        if (error instanceof ToBeDoneAlone) return transaction(work);
        throw error;
      }),
    replicas,
    check: () => transaction(touch),
    close: async () => {
      await replicas?.close();
      await closeDatabase(session);
    },
  };
}

function replicasOf(
  url: string,
  primary: OpenDatabase,
  settings: DatabaseSettings,
  { databaseRead = [] }: StoreOptions,
  observer: StoreObserver | undefined,
): ReadReplicas | undefined {
  if (databaseRead.length === 0) return undefined;
  return new ReadReplicas({ url, replicas: databaseRead, settings, primary, observer });
}

/** How a work gets its transaction. */
type Way = <T>(work: (db: Tx['db'], mates?: Mates) => Promise<T>) => Promise<T>;

function waysOf(session: OpenDatabase, observer: StoreObserver | undefined): Record<'alone' | 'together', Way> {
  if (session.kind === 'postgres') {
    const transactions = new PostgresTransactions(session.db, session.dialect, observer?.commit);
    return { alone: (work) => transactions.alone(work), together: (work) => transactions.together(work) };
  }
  const group = new GroupCommit(session.db, observer?.commit);
  const commit: Way = (work) => group.run(work);
  return { alone: commit, together: commit };
}

async function transact<T>(
  session: Session,
  run: Way,
  work: (tx: Tx) => Promise<T>,
  replicas: ReadReplicas | undefined,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const followUps: (() => void)[] = [];
    const owners = new Set<string>();
    const concerns: Tx['concerns'] = replicas ? (owner) => owners.add(owner) : () => {};
    const afterCommit: Tx['afterCommit'] = (followUp) => followUps.push(followUp);
    try {
      const result = await run((db, mates) => {
        // What was undone is begun anew: nothing follows from it.
        followUps.length = 0;
        owners.clear();
        return work({ ...session, lookups: mates, db, mates, afterCommit, concerns });
      });
      // Before anybody hears of success: whoever does may read, by any process, and must find it.
      const told = owners.size > 0 ? replicas?.writes.made(owners) : undefined;
      for (const followUp of followUps) followUp();
      await told;
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

/**
 * Makes transactions that name the same thing wait for each other. SQLite has one writer at a time anyway. Whoever shares
 * a transaction waits for those beside it only, and for others in a transaction of its own.
 */
export async function lockName({ kind, db, mates }: Tx, name: string): Promise<void> {
  if (kind !== 'postgres') return;
  if (!mates) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
    return;
  }
  await mates.take(name);
  const { taken } = await db
    .selectNoFrom(sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(${name}, 0))`.as('taken'))
    .executeTakeFirstOrThrow();
  if (!taken) throw new ToBeDoneAlone(`${name} is somebody else's`);
}
