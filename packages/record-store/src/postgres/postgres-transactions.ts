import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  Transaction,
} from 'kysely';
import type { Ask } from '../batching/lookups.js';
import { type Waiting, type Work, WorkGroups } from '../batching/work-groups.js';
import { StoreError } from '../errors/store-error.js';
import type { StoreObserver } from '../observation/store-observer.js';
import type { Mates, Rows } from '../store/database.js';

/** Nothing of a work was kept, and it is to be done in a transaction of its own. */
export class ToBeDoneAlone extends StoreError<'TO_BE_DONE_ALONE'> {
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

/** What works of one transaction are about to ask by one statement. */
interface Gathered {
  readonly items: unknown[];
  readonly shares: Share[];
  readonly answers: Promise<readonly unknown[]>;
}

/** What works of one transaction know of each other. */
interface Group {
  readonly known: Map<string, Promise<unknown>>;
  /** Until when somebody holds a name. */
  readonly holders: Map<string, Promise<void>>;
  readonly gathered: Map<string, Gathered>;
}

/** The others as one work sees them: names that it holds until its end, what was found out, and what is asked together. */
class MatesOfOne implements Mates {
  readonly #group: Group;
  readonly #share: Share;
  readonly #ended: Promise<void>;
  readonly #held = new Set<string>();

  constructor(group: Group, share: Share, ended: Promise<void>) {
    this.#group = group;
    this.#share = share;
    this.#ended = ended;
  }

  async take(name: string): Promise<void> {
    if (this.#held.has(name)) return;
    const { holders } = this.#group;
    const before = holders.get(name);
    holders.set(name, this.#ended);
    this.#held.add(name);
    await before;
  }

  once<T>(key: string, find: () => Promise<T>): Promise<T> {
    const { known } = this.#group;
    let found = known.get(key) as Promise<T> | undefined;
    if (!found) known.set(key, (found = find()));
    return found;
  }

  async gather<I, O>(key: string, item: I, ask: (items: readonly I[]) => Promise<readonly O[]>): Promise<O> {
    const { gathered } = this.#group;
    let gathering = gathered.get(key);
    if (!gathering) gathered.set(key, (gathering = this.#gathering(key, ask)));
    gathering.shares.push(this.#share);
    const place = gathering.items.push(item) - 1;
    return (await gathering.answers)[place] as O;
  }

  find<T>(table: string, id: string, ask: Ask<T>): Promise<T | undefined> {
    return this.gather(`find ${table}`, id, async (ids: readonly string[]) => {
      const found = await ask(ids);
      return ids.map((one) => found.get(one));
    });
  }

  #gathering<I>(key: string, ask: (items: readonly I[]) => Promise<readonly unknown[]>): Gathered {
    const items: I[] = [];
    const shares: Share[] = [];
    const answer = async () => {
      // Behind all that goes on by itself: works that have come as far as this one are there then.
      await new Promise((resolve) => process.nextTick(resolve));
      this.#group.gathered.delete(key);
      try {
        return await ask(items);
      } finally {
        // What was done on the connection of one of them was done for each.
        if (this.#share.committed) for (const share of shares) share.committed = true;
      }
    };
    return { items, shares, answers: answer() };
  }
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

  constructor(db: Kysely<Rows>, dialect: Dialect, onCommit?: StoreObserver['commit']) {
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
    const common: Group = { known: new Map(), holders: new Map(), gathered: new Map() };
    return group.map(({ work }, index) => {
      let end = () => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const share = shares[index]!;
      return work(this.#within(share), new MatesOfOne(common, share, ended)).finally(() => {
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
