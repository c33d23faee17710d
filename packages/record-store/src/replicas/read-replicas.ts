import type { Kysely } from 'kysely';
import type { StoreObserver } from '../observation/store-observer.js';
import type { DatabaseSettings } from '../options/database-settings.js';
import { postgresAddresses } from '../postgres/postgres-addresses.js';
import { Notices } from '../postgres/postgres-notices.js';
import type { Rows, Session } from '../store/database.js';
import { LatestWrites, WRITES } from './latest-writes.js';
import { clusterOf, ReadReplica } from './read-replica.js';
import { WalMarks, walPosition } from './wal-marks.js';

/** How a replica is at the moment. */
export interface ReplicaState {
  /** Host, port and database. */
  readonly name: string;
  /** What it has is no older than this, in milliseconds; undefined where that is not known. */
  readonly staleMs: number | undefined;
  /** Why it is not used; undefined where nothing is wrong. */
  readonly trouble: string | undefined;
}

export interface ReadReplicasOptions {
  /** Of the primary. */
  readonly url: string;
  /** Of those that follow it; each may name several servers. */
  readonly replicas: readonly string[];
  readonly settings: DatabaseSettings;
  readonly primary: Session;
  readonly observer?: StoreObserver;
}

/**
 * Where the log is written to; with commits that do not wait for it, what is not written yet counts as well. Asked by the
 * connection that hears of writes, so that whatever was announced before has been heard when the answer comes.
 */
const POSITION = `select case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn()
  else pg_current_wal_lsn() end::text as position`;

const DEAF = 'It is not known what is written: no notices of the database arrive.';

/**
 * Servers that follow the primary and answer questions of those who only read. A caller is sent to one that has replayed
 * the log beyond the last write that concerns the caller's project, whichever process made it, and to the primary where
 * none has, or where that cannot be known. What concerns others may be late by `maxStalenessMs`.
 *
 * Nothing of it runs before the first question, and nothing by a timer but the connection that listens.
 */
export class ReadReplicas {
  readonly replicas: readonly ReadReplica[];
  readonly writes: LatestWrites;
  readonly #settings: DatabaseSettings;
  readonly #primary: Kysely<Rows>;
  readonly #notices: Notices;
  readonly #marks: WalMarks;
  #cluster: string | undefined;
  #current: Promise<string | undefined> | undefined;
  #next: Promise<string | undefined> | undefined;
  #turn = 0;

  constructor({ url, replicas, settings, primary, observer }: ReadReplicasOptions) {
    this.#settings = settings;
    this.#primary = primary.db;
    this.#marks = new WalMarks(settings.maxStalenessMs);
    this.writes = new LatestWrites(primary, settings.maxStalenessMs);
    this.#notices = new Notices({
      url,
      session: primary,
      receiver: WRITES,
      hear: (notice) => this.writes.hear(notice),
    });
    this.replicas = replicas
      .flatMap(postgresAddresses)
      .map((address) => new ReadReplica({ url: address, settings, primary, marks: this.#marks, observer }));
  }

  /** A replica that has all that was written for these projects and users; undefined where the primary is to be asked. */
  async of(owners: readonly string[]): Promise<ReadReplica | undefined> {
    this.#notices.start();
    const cluster = await this.#caughtUp();
    if (cluster === undefined) return undefined;
    const least = Math.max(performance.now() - this.#settings.maxStalenessMs, this.writes.of(owners));
    const inTurn = this.#inTurn();
    const fresh = () => inTurn.find(({ freshAt }) => freshAt >= least);
    const known = fresh();
    if (known) return known;
    await Promise.all(inTurn.map((replica) => replica.refresh(cluster)));
    return fresh();
  }

  /** How they are now: asks them, unless that was done a moment ago. */
  async states(): Promise<readonly ReplicaState[]> {
    this.#notices.start();
    const cluster = await this.#caughtUp();
    if (cluster !== undefined) await Promise.all(this.replicas.map((replica) => replica.refresh(cluster)));
    const now = performance.now();
    return this.replicas.map(({ name, freshAt, trouble }) => ({
      name,
      staleMs: Number.isFinite(freshAt) ? now - freshAt : undefined,
      trouble: cluster === undefined ? DEAF : trouble,
    }));
  }

  async close(): Promise<void> {
    await this.#notices.stop();
    await Promise.all(this.replicas.map((replica) => replica.close()));
  }

  /** Each begins with another one. */
  #inTurn(): readonly ReadReplica[] {
    const first = this.#turn++ % this.replicas.length;
    return [...this.replicas.slice(first), ...this.replicas.slice(0, first)];
  }

  /**
   * What names the database, when all writes are known that were acknowledged before this call; undefined where that cannot
   * be said. Notes where the primary is. One question at a time: all who come meanwhile share the next.
   */
  #caughtUp(): Promise<string | undefined> {
    this.#next ??= this.#afterCurrent();
    return this.#next;
  }

  async #afterCurrent(): Promise<string | undefined> {
    await Promise.all([this.#current, new Promise((resolve) => setImmediate(resolve))]);
    this.#next = undefined;
    this.#current = this.#askPrimary();
    return this.#current;
  }

  async #askPrimary(): Promise<string | undefined> {
    const at = performance.now();
    try {
      const position = await this.#notices.ask(POSITION);
      if (position === undefined) return undefined;
      const goesOn = this.#marks.add(at, walPosition(position));
      if (!goesOn) for (const replica of this.replicas) replica.forget();
      this.#cluster ??= await clusterOf(this.#primary);
      return this.#cluster;
    } catch {
      // The primary itself tells whoever asks it what is wrong.
      return undefined;
    }
  }
}
