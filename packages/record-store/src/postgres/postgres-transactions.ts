import type { CompiledQuery, Dialect, Driver, Kysely, QueryResult } from 'kysely';
import type { LookupQuery } from '../batching/lookups.js';
import { type TransactionWork, type WaitingTransaction, WorkGroups } from '../batching/work-groups.js';
import { StoreError } from '../errors/store-error.js';
import type { StoreObserver } from '../observation/store-observer.js';
import type { Rows, TransactionBatch } from '../store/database.js';
import { createTransactionOn, TransactionConnection } from '../store/transaction-on.js';

/** Thrown if a shared transaction was rolled back. Each transaction body must run again in a separate transaction. */
export class BatchConflict extends StoreError<'BATCH_CONFLICT'> {
  constructor(message: string, options?: ErrorOptions) {
    super('BATCH_CONFLICT', message, options);
  }
}

/**
 * The connection of a shared transaction, as one transaction body uses it. Tracks whether the body changed something.
 */
class MemberConnection extends TransactionConnection {
  #changed = false;
  /** The number of statements in progress that may change something. */
  #changesInProgress = 0;

  /**
   * Whether this body may have changed something, or the server has aborted the transaction. A failure of this body
   * then fails all bodies in the transaction.
   */
  get affectsAll(): boolean {
    return this.#changed || this.#changesInProgress > 0;
  }

  /** Records that this body may have changed something, so that its failure fails all bodies in the transaction. */
  markChanged(): void {
    this.#changed = true;
  }

  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const mayChange = query.query.kind !== 'SelectQueryNode';
    if (mayChange) this.#changesInProgress++;
    try {
      const result = await super.executeQuery<R>(query);
      // An update that matches no row changes nothing.
      if (mayChange && result.numAffectedRows !== 0n) this.markChanged();
      return result;
    } catch (error) {
      this.markChanged();
      throw error;
    } finally {
      if (mayChange) this.#changesInProgress--;
    }
  }
}

/** A batched statement, with the items of all transaction bodies that share the statement. */
interface SharedStatement {
  readonly items: unknown[];
  readonly members: MemberConnection[];
  readonly results: Promise<readonly unknown[]>;
}

/** The state that all bodies in a shared transaction have in common. */
interface SharedState {
  readonly results: Map<string, Promise<unknown>>;
  /** For each locked name, a promise that resolves when the last body that acquired the name has ended. */
  readonly holders: Map<string, Promise<void>>;
  readonly statements: Map<string, SharedStatement>;
}

/**
 * One body's view of a shared transaction: names that it locks until it ends, shared results, and batched statements.
 */
class SingleTransactionBatch implements TransactionBatch {
  readonly #group: SharedState;
  readonly #member: MemberConnection;
  readonly #memberEnd: Promise<void>;
  readonly #lockedNames = new Set<string>();

  constructor(group: SharedState, member: MemberConnection, memberEnd: Promise<void>) {
    this.#group = group;
    this.#member = member;
    this.#memberEnd = memberEnd;
  }

  async acquire(name: string): Promise<void> {
    if (this.#lockedNames.has(name)) return;
    const { holders } = this.#group;
    const previousHolder = holders.get(name);
    holders.set(name, this.#memberEnd);
    this.#lockedNames.add(name);
    await previousHolder;
  }

  once<T>(key: string, find: () => Promise<T>): Promise<T> {
    const { results } = this.#group;
    let found = results.get(key) as Promise<T> | undefined;
    if (!found) results.set(key, (found = find()));
    return found;
  }

  async runInBatch<I, O>(key: string, item: I, query: (items: readonly I[]) => Promise<readonly O[]>): Promise<O> {
    const { statements } = this.#group;
    let statement = statements.get(key);
    if (!statement) statements.set(key, (statement = this.#startStatement(key, query)));
    statement.members.push(this.#member);
    const itemIndex = statement.items.push(item) - 1;
    return (await statement.results)[itemIndex] as O;
  }

  find<T>(table: string, id: string, query: LookupQuery<T>): Promise<T | undefined> {
    return this.runInBatch(`find ${table}`, id, async (ids: readonly string[]) => {
      const found = await query(ids);
      return ids.map((id) => found.get(id));
    });
  }

  #startStatement<I>(key: string, query: (items: readonly I[]) => Promise<readonly unknown[]>): SharedStatement {
    const items: I[] = [];
    const members: MemberConnection[] = [];
    const result = async () => {
      // Runs after all pending microtasks, so that all transaction bodies that are ready to execute this statement have
      // added their items.
      await new Promise((resolve) => process.nextTick(resolve));
      this.#group.statements.delete(key);
      try {
        return await query(items);
      } finally {
        // A batched statement counts as executed by each transaction body that added an item to the batch.
        if (this.#member.affectsAll) for (const member of members) member.markChanged();
      }
    };
    return { items, members, results: result() };
  }
}

/**
 * Runs transactions on PostgreSQL. `begin` is pipelined with the first statements. With `together`, transaction bodies
 * share a transaction: they run concurrently on one connection, with one begin and one commit, and their statements are
 * sent together. If a body fails after a change, the whole transaction is rolled back, and each body runs again in a
 * separate transaction.
 */
export class PostgresTransactions {
  readonly #db: Kysely<Rows>;
  readonly #dialect: Dialect;
  readonly #driver: Driver;
  readonly #onCommit: StoreObserver['commit'];
  /** Waiting transaction bodies, by queue. */
  readonly #groups = new Map<string, WorkGroups>();

  constructor(db: Kysely<Rows>, dialect: Dialect, onCommit?: StoreObserver['commit']) {
    this.#db = db;
    this.#dialect = dialect;
    this.#driver = dialect.createDriver();
    this.#onCommit = onCommit;
  }

  /** Runs a body in a separate transaction. Rollback errors are ignored in favor of the original error. */
  async alone<T>(work: TransactionWork<T>): Promise<T> {
    return this.#db.getExecutor().provideConnection(async (connection) => {
      const member = new MemberConnection(connection);
      const [started, outcome] = await Promise.allSettled([
        this.#driver.beginTransaction(connection, {}),
        work(createTransactionOn(member, this.#dialect, this.#driver)).finally(() => member.end()),
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
   * Runs a body in one transaction with other bodies that wait in the same queue.
   *
   * @throws {@link BatchConflict} if the body must run in a separate transaction
   */
  together<T>(work: TransactionWork<T>, queue: string): Promise<T> {
    let groups = this.#groups.get(queue);
    if (!groups) {
      groups = new WorkGroups((group) => this.#commit(group), this.#onCommit);
      this.#groups.set(queue, groups);
    }
    return groups.add(work);
  }

  async #commit(group: readonly WaitingTransaction[]): Promise<void> {
    const [onlyWaiting, ...others] = group;
    if (onlyWaiting && others.length === 0) {
      const { work, resolve, reject } = onlyWaiting;
      await this.alone(work).then(resolve, reject);
      return;
    }
    let isCommitting = false;
    try {
      const outcomes = await this.#db.getExecutor().provideConnection(async (connection) => {
        const members = group.map(() => new MemberConnection(connection));
        const [started, ...bodyOutcomes] = await Promise.allSettled([
          this.#driver.beginTransaction(connection, {}),
          ...this.#runConcurrently(group, members),
        ]);
        const failureAfterChange = bodyOutcomes.find(
          ({ status }, index) => status === 'rejected' && members[index]?.affectsAll,
        );
        if (failureAfterChange || started.status === 'rejected') {
          await this.#driver.rollbackTransaction(connection);
          throw ((failureAfterChange ?? started) as PromiseRejectedResult).reason;
        }
        isCommitting = true;
        await this.#driver.commitTransaction(connection);
        return bodyOutcomes;
      });
      for (const [index, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[index] as PromiseSettledResult<unknown>;
        if (outcome.status === 'fulfilled') resolve(outcome.value);
        else reject(outcome.reason);
      }
    } catch (error) {
      // After a failed commit, it is unknown whether the changes were stored, so no transaction body may run again.
      for (const { reject } of group) reject(isCommitting ? error : new BatchConflict('', { cause: error }));
    }
  }

  /** Starts all transaction bodies of a group concurrently. */
  #runConcurrently(group: readonly WaitingTransaction[], members: readonly MemberConnection[]): Promise<unknown>[] {
    const sharedState: SharedState = { results: new Map(), holders: new Map(), statements: new Map() };
    return group.map(({ work }, index) => {
      let end = () => {};
      const memberEnd = new Promise<void>((resolve) => {
        end = resolve;
      });
      const member = members[index] as MemberConnection;
      return work(
        createTransactionOn(member, this.#dialect, this.#driver),
        new SingleTransactionBatch(sharedState, member, memberEnd),
      ).finally(() => {
        member.end();
        end();
      });
    });
  }
}
