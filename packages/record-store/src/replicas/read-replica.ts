import { Kysely, sql } from 'kysely';
import { Lookups } from '../batching/lookups.js';
import { RecordCache } from '../document-table/record-cache.js';
import { DatabaseUnavailable } from '../errors/database-unavailable.js';
import type { StoreObserver } from '../observation/store-observer.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { closeDatabase, type OpenDatabase, openDatabase, type Rows, type Session } from '../store/database.js';
import { replicaDialect } from './replica-dialect.js';
import { type WalMarks, walPosition } from './wal-marks.js';

/** How often a replica is asked at the most where it has got to. */
const ASKED_EVERY_MS = 20;

/** How long requests wait for that. */
const ANSWER_MS = 500;

/** Work for the primary waits no longer than this for a connection to a replica. */
const CONNECT_MS = 1000;

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;

/** What a server says of itself. */
interface Status {
  readonly cluster: string;
  readonly follows: boolean;
  readonly receives: boolean;
  readonly position: string | null;
}

/** What names a server without giving its password away. */
function nameOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

const CLUSTER = sql<string>`(select system_identifier from pg_control_system()) || '/' || current_database()`;

/** What names a database wherever there are copies of it. */
export async function clusterOf(db: Kysely<Rows>): Promise<string> {
  const { cluster } = await db.selectNoFrom(CLUSTER.as('cluster')).executeTakeFirstOrThrow();
  return cluster;
}

/** What a server says of itself, and of following another one. */
function statusOf(db: Kysely<Rows>): Promise<Status> {
  return db
    .selectNoFrom([
      CLUSTER.as('cluster'),
      sql<boolean>`pg_is_in_recovery()`.as('follows'),
      sql<boolean>`exists (select from pg_stat_wal_receiver)`.as('receives'),
      sql<string | null>`pg_last_wal_replay_lsn()::text`.as('position'),
    ])
    .executeTakeFirstOrThrow();
}

const NOT_RECEIVING = 'It receives nothing from the primary.';

/** Why a server is no copy of the primary, or none any more; undefined for one that is. */
function unfitness({ cluster, follows, receives }: Status, expected: string): string | undefined {
  if (cluster !== expected) return 'It is a copy of another database.';
  if (!follows) return 'It does not follow the primary, or was promoted.';
  return receives ? undefined : NOT_RECEIVING;
}

async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseUnavailable('late')), ms);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

export interface ReadReplicaOptions {
  /** Of one server. */
  readonly url: string;
  readonly settings: DatabaseSettings;
  readonly primary: Session;
  /** Where the primary was when. */
  readonly marks: WalMarks;
  readonly observer?: StoreObserver;
}

/**
 * One server that follows the primary. What it cannot answer, the primary is asked. While it is away it is left alone, for
 * pauses that double.
 */
export class ReadReplica {
  readonly name: string;
  /** What reads from it. Knows the records that the primary's own readers know, and keeps what is older to itself. */
  readonly session: Session;
  readonly #options: ReadReplicaOptions;
  readonly #database: OpenDatabase;
  #freshAt = Number.NEGATIVE_INFINITY;
  #askAgainAt = 0;
  #asking: Promise<void> | undefined;
  #failures = 0;
  #trouble: string | undefined = 'It was not asked yet.';

  constructor(options: ReadReplicaOptions) {
    const { url, settings, primary, observer } = options;
    this.#options = options;
    this.name = nameOf(url);
    const patience = { ...settings, poolWaitMs: Math.min(settings.poolWaitMs, CONNECT_MS) };
    this.#database = openDatabase(url, patience, observer && { statement: observer.statement });
    const reading = (of: 'db' | 'longReads') =>
      new Kysely<Rows>({
        dialect: replicaDialect({
          replica: this.#database[of],
          primary: primary[of],
          onTrouble: (error) => this.#cannot(error),
        }),
      });
    this.session = {
      db: reading('db'),
      longReads: reading('longReads'),
      kind: primary.kind,
      records: new RecordCache(primary.records),
      lookups: new Lookups(),
    };
  }

  /** It has everything that was acknowledged before this moment, by `performance.now()`. */
  get freshAt(): number {
    return this.#freshAt;
  }

  /** Why it is not used; undefined where nothing is wrong. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Asks it where it has got to, unless that was done a moment ago. Never rejects. */
  refresh(cluster: string): Promise<void> {
    if (!this.#asking && performance.now() >= this.#askAgainAt) {
      this.#asking = this.#ask(cluster).finally(() => {
        this.#asking = undefined;
      });
    }
    return this.#asking ?? Promise.resolve();
  }

  /** What was known of it holds no longer. */
  forget(): void {
    this.#freshAt = Number.NEGATIVE_INFINITY;
  }

  close(): Promise<void> {
    return closeDatabase(this.#database);
  }

  async #ask(cluster: string): Promise<void> {
    try {
      const status = await within(ANSWER_MS, statusOf(this.#database.db));
      const unfit = unfitness(status, cluster);
      if (unfit !== undefined || status.position === null) return this.#rest(unfit ?? NOT_RECEIVING);
      this.#freshAt = Math.max(this.#freshAt, this.#options.marks.momentOf(walPosition(status.position)));
      this.#askAgainAt = performance.now() + ASKED_EVERY_MS;
      this.#failures = 0;
      this.#trouble = undefined;
    } catch (error) {
      this.#rest((error as Error).message);
    }
  }

  /** A question that was in the way of what has to be replayed says nothing of the next one. */
  #cannot(error: unknown): void {
    if (error instanceof DatabaseUnavailable) this.#rest(error.message);
  }

  #rest(trouble: string): void {
    const now = performance.now();
    // Those who were under way together have failed together: once.
    if (this.#trouble === undefined || now >= this.#askAgainAt) {
      this.#askAgainAt = now + Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS);
      this.#failures++;
    }
    this.#trouble = trouble;
    this.forget();
  }
}
