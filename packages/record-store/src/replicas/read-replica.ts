import { type Kysely, sql } from 'kysely';
import { Lookups } from '../batching/lookups.js';
import { RecordCache } from '../document-table/record-cache.js';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import type { StoreObserver } from '../observation/store-observer.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { closeDatabase, type OpenDatabase, openDatabase, type Rows, type Session } from '../store/database.js';
import { openPool } from '../store/pool-executor.js';
import { replicaDialect } from './replica-dialect.js';
import { type WalMarks, walPosition } from './wal-marks.js';

/** The minimum interval between two queries for a replica's position. */
const MIN_QUERY_INTERVAL_MS = 20;

/** How long a request waits for a replica's position. */
const REPLICA_POSITION_TIMEOUT_MS = 500;

/** How long a query waits for a connection to a replica before it uses the primary. */
const CONNECT_TIMEOUT_MS = 1000;

const FIRST_RETRY_PAUSE_MS = 250;
const MAX_RETRY_PAUSE_MS = 30_000;

/** A server's replication status. */
interface ReplicationStatus {
  readonly cluster: string;
  readonly follows: boolean;
  readonly receives: boolean;
  readonly position: string | null;
}

/** Returns a server's name, which consists of its host, port and database. */
function serverNameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

const CLUSTER_ID_EXPRESSION = sql<string>`(select system_identifier from pg_control_system()) || '/' || current_database()`;

/** Returns an identifier that is the same for a database and all of its replicas. */
export async function queryClusterId(db: Kysely<Rows>): Promise<string> {
  const { cluster } = await db.selectNoFrom(CLUSTER_ID_EXPRESSION.as('cluster')).executeTakeFirstOrThrow();
  return cluster;
}

/** Queries a server's replication status. */
function queryStatus(db: Kysely<Rows>): Promise<ReplicationStatus> {
  return db
    .selectNoFrom([
      CLUSTER_ID_EXPRESSION.as('cluster'),
      sql<boolean>`pg_is_in_recovery()`.as('follows'),
      sql<boolean>`exists (select from pg_stat_wal_receiver)`.as('receives'),
      sql<string | null>`pg_last_wal_replay_lsn()::text`.as('position'),
    ])
    .executeTakeFirstOrThrow();
}

const NOT_RECEIVING_REASON = 'The replica receives no WAL from the primary.';

/** Returns the reason why a server cannot serve as a replica of the primary; undefined if it can. */
function unusableReason({ cluster, follows, receives }: ReplicationStatus, expected: string): string | undefined {
  if (cluster !== expected) return 'The replica is a copy of another database.';
  if (!follows) return 'The replica does not follow the primary, or was promoted.';
  return receives ? undefined : NOT_RECEIVING_REASON;
}

async function withTimeout<T>(ms: number, result: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeoutRejection = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseUnavailable('timeout')), ms);
  });
  return Promise.race([result, timeoutRejection]).finally(() => clearTimeout(timer));
}

export interface ReadReplicaOptions {
  /** URL of the server. */
  readonly url: string;
  readonly settings: DatabaseSettings;
  readonly primary: Session;
  /** Recent log positions of the primary, with their times. */
  readonly marks: WalMarks;
  readonly observer?: StoreObserver;
}

/**
 * A server that replicates the primary. Queries that fail on the replica run on the primary. While a replica is
 * unavailable, it is not used, and the pauses between queries of its status double.
 */
export class ReadReplica {
  readonly name: string;
  /**
   * The session for reading from the replica. It reads the primary's record cache, and caches older records separately.
   */
  readonly session: Session;
  readonly #options: ReadReplicaOptions;
  readonly #database: OpenDatabase;
  #freshAt = Number.NEGATIVE_INFINITY;
  #nextQueryAt = 0;
  #statusQuery: Promise<void> | undefined;
  #failures = 0;
  #currentFailure: string | undefined = 'The status of the replica is not known yet.';

  constructor(options: ReadReplicaOptions) {
    const { url, settings, primary, observer } = options;
    this.#options = options;
    this.name = serverNameOf(url);
    const replicaSettings = { ...settings, poolWaitMs: Math.min(settings.poolWaitMs, CONNECT_TIMEOUT_MS) };
    this.#database = openDatabase(url, replicaSettings, observer && { statement: observer.statement });
    const openReplicaPool = (of: 'db' | 'longReads') =>
      openPool(
        replicaDialect({
          replica: this.#database[of],
          primary: primary[of],
          onFailure: (error) => this.#onFailure(error),
        }),
      );
    this.session = {
      db: openReplicaPool('db'),
      longReads: openReplicaPool('longReads'),
      kind: primary.kind,
      records: new RecordCache(primary.records),
      lookups: new Lookups(),
    };
  }

  /** A value of `performance.now()`. The replica has all commits that were acknowledged before this time. */
  get freshAt(): number {
    return this.#freshAt;
  }

  /** The reason why the replica is not used; undefined if it is healthy. */
  get failure(): string | undefined {
    return this.#currentFailure;
  }

  /** Queries the replica's status, unless it was queried recently. Never rejects. */
  refresh(cluster: string): Promise<void> {
    if (!this.#statusQuery && performance.now() >= this.#nextQueryAt) {
      this.#statusQuery = this.#query(cluster).finally(() => {
        this.#statusQuery = undefined;
      });
    }
    return this.#statusQuery ?? Promise.resolve();
  }

  /** Discards the replica's known position. */
  forget(): void {
    this.#freshAt = Number.NEGATIVE_INFINITY;
  }

  close(): Promise<void> {
    return closeDatabase(this.#database);
  }

  async #query(cluster: string): Promise<void> {
    try {
      const status = await withTimeout(REPLICA_POSITION_TIMEOUT_MS, queryStatus(this.#database.db));
      const reason = unusableReason(status, cluster);
      if (reason !== undefined || status.position === null) return this.#suspend(reason ?? NOT_RECEIVING_REASON);
      this.#freshAt = Math.max(this.#freshAt, this.#options.marks.timeOf(walPosition(status.position)));
      this.#nextQueryAt = performance.now() + MIN_QUERY_INTERVAL_MS;
      this.#failures = 0;
      this.#currentFailure = undefined;
    } catch (error) {
      this.#suspend((error as Error).message);
    }
  }

  /** Handles a failed query. If the query conflicted with replay and was cancelled, the replica remains in use. */
  #onFailure(error: unknown): void {
    if (error instanceof DatabaseUnavailable) this.#suspend(error.message);
  }

  #suspend(failure: string): void {
    const now = performance.now();
    // Concurrent failures count as one, so that they double the pause only once.
    if (this.#currentFailure === undefined || now >= this.#nextQueryAt) {
      this.#nextQueryAt = now + Math.min(FIRST_RETRY_PAUSE_MS * 2 ** this.#failures, MAX_RETRY_PAUSE_MS);
      this.#failures++;
    }
    this.#currentFailure = failure;
    this.forget();
  }
}
