import type { Kysely } from 'kysely';
import type { StoreObserver } from '../observation/store-observer.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { NotificationListener } from '../postgres/notification-listener.js';
import { postgresAddresses } from '../postgres/postgres-addresses.js';
import type { Rows, Session } from '../store/database.js';
import { LatestWrites, WRITES_RECEIVER } from './latest-writes.js';
import { queryClusterId, ReadReplica } from './read-replica.js';
import { WalMarks, walPosition } from './wal-marks.js';

/** The state of a replica. */
export interface ReplicaState {
  /** The replica's host, port and database. */
  readonly name: string;
  /** Upper bound of the replication lag, in milliseconds; undefined if unknown. */
  readonly staleMs: number | undefined;
  /** The reason why the replica is not used; undefined if it is healthy. */
  readonly failure: string | undefined;
}

export interface ReadReplicasOptions {
  /** URL of the primary. */
  readonly url: string;
  /** URLs of the replicas. Each URL may name several servers. */
  readonly replicas: readonly string[];
  readonly settings: DatabaseSettings;
  readonly primary: Session;
  readonly observer?: StoreObserver;
}

/**
 * Selects the primary's write position in its log. With asynchronous commits, the position includes unwritten commits.
 * The query runs on the connection that listens for writes, so that all previously announced writes have been received
 * when the result arrives.
 */
const SELECT_POSITION = `select case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn()
  else pg_current_wal_lsn() end::text as position`;

const NO_NOTIFICATIONS_REASON = 'The replica is not used, because notifications about writes do not arrive.';

/**
 * Replicas of the primary, for callers that only read. A caller reads from a replica that has replayed the log beyond
 * the last write to the caller's project, no matter which process made that write. If such a replica does not exist, or
 * the position is unknown, the caller reads from the primary. Writes of other projects may be delayed by up to
 * `maxStalenessMs`.
 *
 * No query runs before the first call, and the only timer is that of the listening connection.
 */
export class ReadReplicas {
  readonly replicas: readonly ReadReplica[];
  readonly writes: LatestWrites;
  readonly #settings: DatabaseSettings;
  readonly #primary: Kysely<Rows>;
  readonly #listener: NotificationListener;
  readonly #marks: WalMarks;
  #clusterId: string | undefined;
  #currentQuery: Promise<string | undefined> | undefined;
  #nextQuery: Promise<string | undefined> | undefined;
  #nextReplica = 0;

  constructor({ url, replicas, settings, primary, observer }: ReadReplicasOptions) {
    this.#settings = settings;
    this.#primary = primary.db;
    this.#marks = new WalMarks(settings.maxStalenessMs);
    this.writes = new LatestWrites(primary, settings.maxStalenessMs);
    this.#listener = new NotificationListener({
      url,
      session: primary,
      receiver: WRITES_RECEIVER,
      onNotification: (notice) => this.writes.receive(notice),
    });
    this.replicas = replicas
      .flatMap(postgresAddresses)
      .map((address) => new ReadReplica({ url: address, settings, primary, marks: this.#marks, observer }));
  }

  /**
   * Returns a replica that has all writes that these projects and users must see; undefined if the primary must be
   * used.
   */
  async of(owners: readonly string[]): Promise<ReadReplica | undefined> {
    this.#listener.start();
    const clusterId = await this.#awaitWrites();
    if (clusterId === undefined) return undefined;
    const requiredFreshAt = Math.max(
      performance.now() - this.#settings.maxStalenessMs,
      this.writes.latestWriteTime(owners),
    );
    const rotated = this.#rotated();
    const findFreshReplica = () => rotated.find(({ freshAt }) => freshAt >= requiredFreshAt);
    const freshReplica = findFreshReplica();
    if (freshReplica) return freshReplica;
    await Promise.all(rotated.map((replica) => replica.refresh(clusterId)));
    return findFreshReplica();
  }

  /** Returns the replicas' current states. They are queried unless they were queried recently. */
  async states(): Promise<readonly ReplicaState[]> {
    this.#listener.start();
    const clusterId = await this.#awaitWrites();
    if (clusterId !== undefined) await Promise.all(this.replicas.map((replica) => replica.refresh(clusterId)));
    const now = performance.now();
    return this.replicas.map(({ name, freshAt, failure }) => ({
      name,
      staleMs: Number.isFinite(freshAt) ? now - freshAt : undefined,
      failure: clusterId === undefined ? NO_NOTIFICATIONS_REASON : failure,
    }));
  }

  async close(): Promise<void> {
    await this.#listener.stop();
    await Promise.all(this.replicas.map((replica) => replica.close()));
  }

  /** Returns the replicas in an order that starts with a different replica on each call. */
  #rotated(): readonly ReadReplica[] {
    const firstIndex = this.#nextReplica++ % this.replicas.length;
    return [...this.replicas.slice(firstIndex), ...this.replicas.slice(0, firstIndex)];
  }

  /**
   * Waits until all writes that were acknowledged before this call are known, and records the primary's position.
   * Resolves to the database's identifier, or to undefined if this is impossible. Only one query runs at a time, and
   * concurrent callers share the next one.
   */
  #awaitWrites(): Promise<string | undefined> {
    this.#nextQuery ??= this.#queryAfterCurrent();
    return this.#nextQuery;
  }

  async #queryAfterCurrent(): Promise<string | undefined> {
    await Promise.all([this.#currentQuery, new Promise((resolve) => setImmediate(resolve))]);
    this.#nextQuery = undefined;
    this.#currentQuery = this.#queryPrimary();
    return this.#currentQuery;
  }

  async #queryPrimary(): Promise<string | undefined> {
    const at = performance.now();
    try {
      const position = await this.#listener.query(SELECT_POSITION);
      if (position === undefined) return undefined;
      const isSamePrimary = this.#marks.add(at, walPosition(position));
      if (!isSamePrimary) for (const replica of this.replicas) replica.forget();
      this.#clusterId ??= await queryClusterId(this.#primary);
      return this.#clusterId;
    } catch {
      // Without a result, callers use the primary and receive the primary's error.
      return undefined;
    }
  }
}
