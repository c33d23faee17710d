import type { CompiledQuery, Dialect, Driver, Kysely, QueryResult } from 'kysely';
import type { LookupQuery } from '../batching/lookups.js';
import { type WaitingWork, type Work, WorkGroups } from '../batching/work-groups.js';
import { StoreError } from '../errors/store-error.js';
import type { StoreObserver } from '../observation/store-observer.js';
import type { Rows, TransactionBatch } from '../store/database.js';
import { TransactionConnection, transactionOn } from '../store/transaction-on.js';

/** The shared transaction was rolled back; the body must run again in a separate transaction. */
export class BatchConflict extends StoreError<'BATCH_CONFLICT'> {
  constructor(message: string, options?: ErrorOptions) {
    super('BATCH_CONFLICT', message, options);
  }
}

/** The connection as one member of a batch uses it. */
class Share extends TransactionConnection {
  #changed = false;
  /** The number of statements in progress that may change something. */
  #changing = 0;

  /**
   * Whether this member may have changed something, or the server has aborted the transaction: its failure then affects all
   * members.
   */
  get committed(): boolean {
    return this.#changed || this.#changing > 0;
  }

  /** Makes the failure of this member affect all members. */
  commit(): void {
    this.#changed = true;
  }

  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const mayChange = query.query.kind !== 'SelectQueryNode';
    if (mayChange) this.#changing++;
    try {
      const result = await super.executeQuery<R>(query);
      // A claim of capacity that is insufficient changes nothing.
      if (mayChange && result.numAffectedRows !== 0n) this.commit();
      return result;
    } catch (error) {
      this.commit();
      throw error;
    } finally {
      if (mayChange) this.#changing--;
    }
  }
}

/** Items of several members for one statement. */
interface Gathered {
  readonly items: unknown[];
  readonly shares: Share[];
  readonly results: Promise<readonly unknown[]>;
}

/** State that the members of one transaction share. */
interface Group {
  readonly known: Map<string, Promise<unknown>>;
  /** The lease holders of names, by name: each promise resolves when its holder ends. */
  readonly holders: Map<string, Promise<void>>;
  readonly statements: Map<string, Gathered>;
}

/** A member's view of its batch: names that it locks until its end, shared results, and batched statements. */
class SingleTransactionBatch implements TransactionBatch {
  readonly #group: Group;
  readonly #share: Share;
  readonly #ended: Promise<void>;
  readonly #lockedNames = new Set<string>();

  constructor(group: Group, share: Share, ended: Promise<void>) {
    this.#group = group;
    this.#share = share;
    this.#ended = ended;
  }

  async acquire(name: string): Promise<void> {
    if (this.#lockedNames.has(name)) return;
    const { holders } = this.#group;
    const before = holders.get(name);
    holders.set(name, this.#ended);
    this.#lockedNames.add(name);
    await before;
  }

  once<T>(key: string, find: () => Promise<T>): Promise<T> {
    const { known } = this.#group;
    let found = known.get(key) as Promise<T> | undefined;
    if (!found) known.set(key, (found = find()));
    return found;
  }

  async gather<I, O>(key: string, item: I, query: (items: readonly I[]) => Promise<readonly O[]>): Promise<O> {
    const { statements: gathered } = this.#group;
    let gathering = gathered.get(key);
    if (!gathering) gathered.set(key, (gathering = this.#gathering(key, query)));
    gathering.shares.push(this.#share);
    const place = gathering.items.push(item) - 1;
    return (await gathering.results)[place] as O;
  }

  find<T>(table: string, id: string, query: LookupQuery<T>): Promise<T | undefined> {
    return this.gather(`find ${table}`, id, async (ids: readonly string[]) => {
      const found = await query(ids);
      return ids.map((one) => found.get(one));
    });
  }

  #gathering<I>(key: string, query: (items: readonly I[]) => Promise<readonly unknown[]>): Gathered {
    const items: I[] = [];
    const shares: Share[] = [];
    const result = async () => {
      // Runs after all pending microtasks, when members with the same progress have added their items.
      await new Promise((resolve) => process.nextTick(resolve));
      this.#group.statements.delete(key);
      try {
        return await query(items);
      } finally {
        // A statement of the batch counts as executed by each of its members.
        if (this.#share.committed) for (const share of shares) share.commit();
      }
    };
    return { items, shares, results: result() };
  }
}

/**
 * Transactions of PostgreSQL. `begin` is pipelined with the first statements. Bodies that may be batched share a transaction:
 * they run concurrently on one connection, with one begin and one commit, and their statements are sent together. If a
 * member fails after a change, the whole transaction is rolled back, and each member runs in a separate one.
 */
export class PostgresTransactions {
  readonly #db: Kysely<Rows>;
  readonly #dialect: Dialect;
  readonly #driver: Driver;
  readonly #onCommit: StoreObserver['commit'];
  /** By queue. */
  readonly #groups = new Map<string, WorkGroups>();

  constructor(db: Kysely<Rows>, dialect: Dialect, onCommit?: StoreObserver['commit']) {
    this.#db = db;
    this.#dialect = dialect;
    this.#driver = dialect.createDriver();
    this.#onCommit = onCommit;
  }

  /** Runs a body in a separate transaction. Errors of the rollback are ignored in favor of the original one. */
  async alone<T>(work: Work<T>): Promise<T> {
    return this.#db.getExecutor().provideConnection(async (connection) => {
      const share = new Share(connection);
      const [started, outcome] = await Promise.allSettled([
        this.#driver.beginTransaction(connection, {}),
        work(transactionOn(share, this.#dialect, this.#driver)).finally(() => share.end()),
      ]);
      if (started.status === 'rejected' || outcome.status === 'rejected') {
        await this.#driver.rollbackTransaction(connection);
        throw outcome.status === 'rejected' ? outcome.reason : (started as PromiseRejectedResult).reason;
      }
      await this.#driver.commitTransaction(connection);
      return outcome.value;
    });
  }

  /**
   * Runs a body together with others that wait in its queue.
   *
   * @throws {@link BatchConflict} if it must run in a separate transaction
   */
  together<T>(work: Work<T>, queue: string): Promise<T> {
    let groups = this.#groups.get(queue);
    if (!groups) {
      groups = new WorkGroups((group) => this.#commit(group), this.#onCommit);
      this.#groups.set(queue, groups);
    }
    return groups.add(work);
  }

  async #commit(group: readonly WaitingWork[]): Promise<void> {
    const [only, ...others] = group;
    if (only && others.length === 0) {
      const { work, resolve, reject } = only;
      await this.alone(work).then(resolve, reject);
      return;
    }
    let committing = false;
    try {
      const outcomes = await this.#db.getExecutor().provideConnection(async (connection) => {
        const shares = group.map(() => new Share(connection));
        const [started, ...done] = await Promise.allSettled([
          this.#driver.beginTransaction(connection, {}),
          ...this.#runConcurrently(group, shares),
        ]);
        const failedAfterCommit = done.find(({ status }, index) => status === 'rejected' && shares[index]?.committed);
        if (failedAfterCommit || started.status === 'rejected') {
          await this.#driver.rollbackTransaction(connection);
          throw ((failedAfterCommit ?? started) as PromiseRejectedResult).reason;
        }
        committing = true;
        await this.#driver.commitTransaction(connection);
        return done;
      });
      for (const [index, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[index] as PromiseSettledResult<unknown>;
        if (outcome.status === 'fulfilled') resolve(outcome.value);
        else reject(outcome.reason);
      }
    } catch (error) {
      // The outcome of a failed commit is unknown, so no member may run again.
      for (const { reject } of group) reject(committing ? error : new BatchConflict('', { cause: error }));
    }
  }

  /** Starts all members of a group. */
  #runConcurrently(group: readonly WaitingWork[], shares: readonly Share[]): Promise<unknown>[] {
    const common: Group = { known: new Map(), holders: new Map(), statements: new Map() };
    return group.map(({ work }, index) => {
      let end = () => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const share = shares[index] as Share;
      return work(
        transactionOn(share, this.#dialect, this.#driver),
        new SingleTransactionBatch(common, share, ended),
      ).finally(() => {
        share.end();
        end();
      });
    });
  }
}
