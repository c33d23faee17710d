import { checkOptions } from '../check-options.js';
import { Coalescer } from '../coalescer.js';
import type { Amounts, Excess } from '../limits.js';
import type {
  ConsumeRequest,
  Count,
  Hold,
  MaybePromise,
  OwnLimits,
  Page,
  QuotaStore,
  ReserveRequest,
} from '../store.js';
import { Undoing } from '../undoing.js';
import { type Receipt, Receipts } from './receipts.js';
import { SingleQuestions } from './single-questions.js';
import { read, type SqlDatabase, type Steps, write } from './sql-database.js';
import { statementsFor, writeLimits } from './statements.js';
import { QuotaSteps, type Return, type Settlement, type Taking } from './steps.js';

/** The database of a store, and how its tables are called. */
export interface SqlStoreOptions {
  /** `postgres(pool)` or `sqlite(connection)`. */
  readonly database: SqlDatabase;
  /** What the names of the tables begin with. Default `quota_`. */
  readonly tablePrefix?: string;
  /** Milliseconds since the epoch. Default: the clock of the PostgreSQL server; `Date.now` on SQLite. */
  readonly clock?: () => number;
}

/** A store in SQL tables, which it can make itself. */
export interface SqlStore extends QuotaStore {
  /** Creates the tables that are missing. May run any number of times, also in several processes at once. */
  createSchema(): Promise<void>;
}

/** One after the other: those about the same counters would only wait for each other, with a connection each. */
const BATCHES = { size: 250, atOnce: 1 };

const PREFIX = /^[A-Za-z_][A-Za-z0-9_]{0,30}$/;

/**
 * Keeps limits and usage in PostgreSQL or SQLite. Call `createSchema()` once before use.
 *
 * @throws TypeError for unknown options and prefixes that need quoting
 *
 * @example
 * ```ts
 * import { postgres, sqlStore } from '@apistrata/quota/sql';
 * import pg from 'pg';
 *
 * const store = sqlStore({ database: postgres(new pg.Pool({ connectionString: 'postgres://localhost/quota' })) });
 * await store.createSchema();
 * ```
 */
export function sqlStore(options: SqlStoreOptions): SqlStore {
  checkOptions('sqlStore', options, { database: true, tablePrefix: true, clock: true });
  if (!options.database) throw new TypeError('sqlStore: a database is needed: postgres(pool) or sqlite(connection)');
  const prefix = options.tablePrefix ?? 'quota_';
  if (!PREFIX.test(prefix)) throw new TypeError('sqlStore: tablePrefix must be up to 31 letters, digits and "_"');
  return new QuotaSqlStore(options, prefix);
}

class QuotaSqlStore implements SqlStore {
  readonly #database: SqlDatabase;
  readonly #text: ReturnType<typeof statementsFor>;
  readonly #steps: QuotaSteps;
  /** Only where a round trip can be saved. */
  readonly #single: SingleQuestions | undefined;
  /** Only where answers can be lost. */
  readonly #receipts: Receipts | undefined;
  readonly #undoing = new Undoing(async (receipt: Receipt) => this.#run(() => this.#steps.undo(receipt)));
  readonly #reserving = new Coalescer<ReserveRequest, readonly Excess[]>(BATCHES, {
    one: async (request) => (await this.#single?.reserve(request)) ?? only(await this.#takeAll([request])),
    many: async (requests) => this.#takeAll(requests),
  });
  readonly #consuming = new Coalescer<ConsumeRequest, readonly Excess[]>(BATCHES, {
    one: (request) => this.#consumeOne(request),
    many: (requests) => this.#consumeAll(requests),
  });
  readonly #settling = new Coalescer<Settlement, boolean>(BATCHES, {
    one: async (settlement) => (await this.#single?.settle(settlement)) ?? only(await this.#settleAll([settlement])),
    many: async (settlements) => this.#settleAll(settlements),
  });
  readonly #returning = new Coalescer<Return, undefined>(BATCHES, {
    one: async (given) => {
      await this.#giveBackAll([given]);
      return undefined;
    },
    many: async (returns) => this.#giveBackAll(returns),
  });

  constructor({ database, clock }: SqlStoreOptions, prefix: string) {
    const serverTime = database.dialect === 'postgres' ? () => null : Date.now;
    this.#database = database;
    this.#text = statementsFor(database.dialect, prefix);
    const now = clock ?? serverTime;
    this.#steps = new QuotaSteps(this.#text, now);
    const ask = database.ask?.bind(database);
    this.#receipts = database.dialect === 'postgres' ? new Receipts() : undefined;
    this.#single = ask && new SingleQuestions(ask, prefix, now);
  }

  async createSchema(): Promise<void> {
    const { dialect } = this.#database;
    const { schema } = this.#text;
    await this.#run(function* () {
      // "IF NOT EXISTS" alone fails in PostgreSQL when two processes do it at the same moment.
      if (dialect === 'postgres') yield read(`SELECT pg_advisory_xact_lock(hashtext('apistrata quota schema'))`);
      for (const sql of schema) yield write(sql);
    });
  }

  // What is asked for inside a transaction of the caller cannot wait for others: it may be over by then.

  reserve(request: ReserveRequest): MaybePromise<readonly Excess[]> {
    if (!this.#database.isInTransaction()) return this.#reserving.add(request);
    return then(this.#takeAll([request]), only);
  }

  consume(request: ConsumeRequest): MaybePromise<readonly Excess[]> {
    if (!this.#database.isInTransaction()) return this.#consuming.add(request);
    return then(this.#takeAll([forGood(request)]), only);
  }

  settle(hold: Hold, outcome: 'commit' | 'release'): MaybePromise<boolean> {
    if (!this.#database.isInTransaction()) return this.#settling.add({ hold, outcome });
    return then(this.#settleAll([{ hold, outcome }]), only);
  }

  renew(hold: Hold, ttlMs: number): MaybePromise<boolean> {
    return this.#run(() => this.#steps.renew(hold, ttlMs));
  }

  counts(project: string): MaybePromise<Readonly<Record<string, Count>>> {
    return this.#run(() => this.#steps.counts(project));
  }

  giveBack(project: string, amounts: Amounts): MaybePromise<void> {
    if (!this.#database.isInTransaction()) return this.#returning.add({ project, amounts });
    return then(this.#giveBackAll([{ project, amounts }]), () => undefined);
  }

  recount(project: string, kind: string, used: number): MaybePromise<void> {
    return this.#run(() => this.#steps.recount(project, kind, used));
  }

  getLimits(project: string): MaybePromise<OwnLimits | undefined> {
    return this.#run(() => this.#steps.getLimits(project));
  }

  setLimits(project: string, limits: OwnLimits): MaybePromise<void> {
    const statement = write(this.#text.setLimits, project, writeLimits(limits));
    return this.#run(function* () {
      yield statement;
    });
  }

  removeLimits(project: string): MaybePromise<boolean> {
    const statement = read(this.#text.removeLimits, project);
    return this.#run(function* () {
      return (yield statement).length > 0;
    });
  }

  listLimits(page: Page) {
    return this.#run(() => this.#steps.listLimits(page));
  }

  sweep(): MaybePromise<void> {
    return then(
      this.#run(() => this.#steps.expired()),
      (expired) => {
        if (expired.length === 0) return this.#receipts && this.#run(() => this.#steps.clearOld());
        return then(
          this.#run(() => this.#steps.endExpired(expired)),
          () => this.sweep(),
        );
      },
    );
  }

  #takeAll(requests: readonly Taking[], receipt?: Receipt): MaybePromise<readonly (readonly Excess[])[]> {
    return then(
      this.#run(() => this.#steps.take(requests, receipt)),
      (outcome) => {
        if ('verdicts' in outcome) return outcome.verdicts;
        // In a transaction of its own: expired reservations may hold kinds that this one has not locked.
        return then(
          this.#run(() => this.#steps.endExpired(outcome.expired)),
          () => this.#takeAll(requests, receipt),
        );
      },
    );
  }

  async #consumeOne(request: ConsumeRequest): Promise<readonly Excess[]> {
    const single = this.#single;
    const verdict = single && (await this.#withReceipt((receipt) => receipt && single.consume(request, receipt)));
    return verdict ?? only(await this.#consumeAll([request]));
  }

  #consumeAll(requests: readonly ConsumeRequest[]): Promise<readonly (readonly Excess[])[]> {
    const takings = requests.map(forGood);
    return this.#withReceipt((receipt) => this.#takeAll(takings, receipt));
  }

  /** An act that is undone where its answer is lost. */
  async #withReceipt<T>(act: (receipt?: Receipt) => MaybePromise<T>): Promise<T> {
    const receipts = this.#receipts;
    if (!receipts) return act();
    const receipt = receipts.next();
    try {
      const answer = await act(receipt);
      // Only tidying: what is not cleared away now is with the next.
      if (receipts.clearsAt(receipt)) this.#clear(receipt).catch(() => undefined);
      return answer;
    } catch (error) {
      // What was never sent needs no undoing: a server that is down is not asked about each request.
      if (receipt.taken.length > 0) {
        receipts.leaveLane();
        this.#undoing.add(receipt);
      }
      throw error;
    }
  }

  async #clear(receipt: Receipt): Promise<void> {
    await this.#run(() => this.#steps.clear(receipt));
  }

  #settleAll(settlements: readonly Settlement[]): MaybePromise<readonly boolean[]> {
    return this.#run(() => this.#steps.settle(settlements));
  }

  #giveBackAll(returns: readonly Return[]): MaybePromise<readonly undefined[]> {
    return this.#run(() => this.#steps.giveBack(returns));
  }

  #run<T>(work: () => Steps<T>): MaybePromise<T> {
    return this.#database.transaction(work);
  }
}

function forGood({ id, project, amounts, defaults }: ConsumeRequest): Taking {
  return { id, project, amounts, defaults, ttlMs: undefined };
}

/** The answer to a single question. */
function only<T>(answers: readonly T[]): T {
  const [answer] = answers;
  if (answers.length !== 1 || answer === undefined) throw new RangeError(`${answers.length} answers to one question`);
  return answer;
}

/** Goes on at once where the answer is there at once. */
function then<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
