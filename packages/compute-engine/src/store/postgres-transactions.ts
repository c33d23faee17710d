import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  Transaction,
} from 'kysely';
import { EngineError } from '../engine-error.js';
import type { EngineObserver } from '../observation/observer.js';
import type { Mates, Rows } from './database.js';
import { type Waiting, type Work, WorkGroups } from './work-groups.js';

/** Nothing of a work was kept, and it is to be done in a transaction of its own. */
export class ToBeDoneAlone extends EngineError<'TO_BE_DONE_ALONE'> {
  constructor(message: string, options?: ErrorOptions) {
    super('TO_BE_DONE_ALONE', message, options);
  }
}

/** What one work does on the connection that it may share. */
class Share implements DatabaseConnection {
  readonly #connection: DatabaseConnection;
  #ended = false;
  /** It has changed something, or the server has given the transaction up: its failure is everybody's. */
  committed = false;

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#ended) throw new Error('the transaction has ended already');
    if (query.query.kind !== 'SelectQueryNode') this.committed = true;
    try {
      return await this.#connection.executeQuery<R>(query);
    } catch (error) {
      this.committed = true;
      throw error;
    }
  }

  streamQuery<R>(query: CompiledQuery, size: number): AsyncIterableIterator<QueryResult<R>> {
    return this.#connection.streamQuery<R>(query, size);
  }

  end(): void {
    this.#ended = true;
  }
}

/** Names that works of one transaction hold, each until its work ends, and what they have found out. */
class MatesOfOne implements Mates {
  readonly #known: Map<string, Promise<unknown>>;
  readonly #holders: Map<string, Promise<void>>;
  readonly #ended: Promise<void>;
  readonly #held = new Set<string>();

  constructor(group: Pick<Group, 'known' | 'holders'>, ended: Promise<void>) {
    this.#known = group.known;
    this.#holders = group.holders;
    this.#ended = ended;
  }

  async take(name: string): Promise<void> {
    if (this.#held.has(name)) return;
    const before = this.#holders.get(name);
    this.#holders.set(name, this.#ended);
    this.#held.add(name);
    await before;
  }

  once<T>(key: string, find: () => Promise<T>): Promise<T> {
    let found = this.#known.get(key) as Promise<T> | undefined;
    if (!found) this.#known.set(key, (found = find()));
    return found;
  }
}

interface Group {
  readonly known: Map<string, Promise<unknown>>;
  readonly holders: Map<string, Promise<void>>;
}

/**
 * Transactions of PostgreSQL. Nothing waits for `begin`: it travels with the first statements. Works that say that they
 * can be done beside others share a transaction: they run at the same time on one connection, so that there is one
 * begin and one commit for all of them and their statements travel together. When one of them fails after it has
 * changed something, nothing of any is kept, and each is done alone.
 */
export class PostgresTransactions {
  readonly #db: Kysely<Rows>;
  readonly #dialect: Dialect;
  readonly #driver: Driver;
  readonly #groups: WorkGroups;

  constructor(db: Kysely<Rows>, dialect: Dialect, onCommit?: EngineObserver['commit']) {
    this.#db = db;
    this.#dialect = dialect;
    this.#driver = dialect.createDriver();
    this.#groups = new WorkGroups((group) => this.#commit(group), onCommit);
  }

  /** Runs a work in a transaction of its own. What made it fail is what counts, not how that was undone. */
  async alone<T>(work: Work<T>): Promise<T> {
    return this.#db.getExecutor().provideConnection(async (connection) => {
      const share = new Share(connection);
      const [begun, outcome] = await Promise.allSettled([
        this.#driver.beginTransaction(connection, {}),
        work(this.#within(share)).finally(() => share.end()),
      ]);
      if (begun.status === 'rejected' || outcome.status === 'rejected') {
        await this.#driver.rollbackTransaction(connection);
        throw outcome.status === 'rejected' ? outcome.reason : (begun as PromiseRejectedResult).reason;
      }
      await this.#driver.commitTransaction(connection);
      return outcome.value;
    });
  }

  /** Runs a work beside others that wait now. Throws {@link ToBeDoneAlone} where that was not possible. */
  together<T>(work: Work<T>): Promise<T> {
    return this.#groups.add(work);
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    if (group.length === 1) {
      const { work, resolve, reject } = group[0]!;
      await this.alone(work).then(resolve, reject);
      return;
    }
    let committing = false;
    try {
      const outcomes = await this.#db.getExecutor().provideConnection(async (connection) => {
        const shares = group.map(() => new Share(connection));
        const [begun, ...done] = await Promise.allSettled([
          this.#driver.beginTransaction(connection, {}),
          ...this.#beside(group, shares),
        ]);
        const spoilt = done.find(({ status }, index) => status === 'rejected' && shares[index]!.committed);
        if (spoilt || begun.status === 'rejected') {
          await this.#driver.rollbackTransaction(connection);
          throw ((spoilt ?? begun) as PromiseRejectedResult).reason;
        }
        committing = true;
        await this.#driver.commitTransaction(connection);
        return done;
      });
      for (const [index, outcome] of outcomes.entries()) {
        const { resolve, reject } = group[index]!;
        if (outcome.status === 'fulfilled') resolve(outcome.value);
        else reject(outcome.reason);
      }
    } catch (error) {
      // Nobody knows what came of a commit that failed: then nothing may be done once more.
      for (const { reject } of group) reject(committing ? error : new ToBeDoneAlone('', { cause: error }));
    }
  }

  /** Begins all works of a group. */
  #beside(group: readonly Waiting[], shares: readonly Share[]): Promise<unknown>[] {
    const common: Group = { known: new Map(), holders: new Map() };
    return group.map(({ work }, index) => {
      let end = () => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const share = shares[index]!;
      return work(this.#within(share), new MatesOfOne(common, ended)).finally(() => {
        share.end();
        end();
      });
    });
  }

  #within(connection: DatabaseConnection): Transaction<Rows> {
    const executor = this.#db.getExecutor().withConnectionProvider({ provideConnection: (use) => use(connection) });
    const [dialect, driver] = [this.#dialect, this.#driver];
    return new Transaction<Rows>({ config: { dialect }, dialect, driver, executor });
  }
}
