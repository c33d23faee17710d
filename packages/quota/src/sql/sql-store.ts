import { BatchQueue } from '../batch-queue.js';
import { checkOptions } from '../check-options.js';
import { Compensation } from '../compensation.js';
import type { Amounts, ExceededLimit } from '../limits.js';
import type {
  ConsumeRequest,
  Count,
  MaybePromise,
  OwnLimits,
  Page,
  QuotaStore,
  ReserveRequest,
  StoredReservation,
} from '../store.js';
import { mysqlStatements } from './mysql-statements.js';
import { type Receipt, Receipts } from './receipts.js';
import { SingleRequests } from './single-requests.js';
import { readStatement, type SqlDatabase, type Steps, writeStatement } from './sql-database.js';
import { type Statements, statementsFor, writeLimits } from './statements.js';
import { type AddRequest, QuotaSteps, type ReleaseRequest, type Settlement } from './steps.js';

/** Options for `sqlStore()`. */
export interface SqlStoreOptions {
  /** The database to use: `postgres(pool)`, `mysql(pool)` or `sqlite(connection)`. */
  readonly database: SqlDatabase;
  /** The prefix of table names. Default `quota_`. */
  readonly tablePrefix?: string;
  /** Returns the current time in milliseconds since 1970. Default: the clock of the database server; `Date.now` on SQLite. */
  readonly clock?: () => number;
}

/** A quota store that uses SQL tables, which it can create. */
export interface SqlStore extends QuotaStore {
  /** Creates missing tables. Idempotent; several processes may call it concurrently. */
  createSchema(): Promise<void>;
}

/** One batch at a time, because concurrent batches would wait for locks on the same counters, each on its own connection. */
const BATCH_LIMITS = { size: 250, maxInFlight: 1 };

const PREFIX_PATTERN = /^[A-Za-z_][A-Za-z0-9_]{0,30}$/;

/**
 * Creates a store in PostgreSQL, MariaDB, MySQL or SQLite. Call `createSchema()` once before use.
 *
 * @throws TypeError for unknown options and prefixes that are not plain identifiers
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
  if (!options.database)
    throw new TypeError('sqlStore: a database is required: postgres(pool), mysql(pool) or sqlite(connection)');
  const prefix = options.tablePrefix ?? 'quota_';
  if (!PREFIX_PATTERN.test(prefix))
    throw new TypeError('sqlStore: tablePrefix must be up to 31 letters, digits and "_"');
  return new QuotaSqlStore(options, prefix);
}

class QuotaSqlStore implements SqlStore {
  readonly #database: SqlDatabase;
  readonly #text: Statements;
  readonly #steps: QuotaSteps;
  /** A faster path for requests that are not batched; undefined if the database has no `query` function. */
  readonly #single: SingleRequests | undefined;
  /** Undefined for SQLite: a database in the same process cannot lose results. */
  readonly #receipts: Receipts | undefined;
  readonly #compensation = new Compensation(async (receipt: Receipt) => this.#run(() => this.#steps.undo(receipt)));
  readonly #reserveQueue = new BatchQueue<ReserveRequest, readonly ExceededLimit[]>(BATCH_LIMITS, {
    one: async (request) => (await this.#single?.reserve(request)) ?? onlyResult(await this.#addBatch([request])),
    many: async (requests) => this.#addBatch(requests),
  });
  readonly #consumeQueue = new BatchQueue<ConsumeRequest, readonly ExceededLimit[]>(BATCH_LIMITS, {
    one: (request) => this.#consumeOne(request),
    many: (requests) => this.#consumeAll(requests),
  });
  readonly #settleQueue = new BatchQueue<Settlement, boolean>(BATCH_LIMITS, {
    one: async (settlement) =>
      (await this.#single?.settle(settlement)) ?? onlyResult(await this.#settleAll([settlement])),
    many: async (settlements) => this.#settleAll(settlements),
  });
  readonly #releaseQueue = new BatchQueue<ReleaseRequest, undefined>(BATCH_LIMITS, {
    one: async (request) => {
      await this.#releaseAll([request]);
      return undefined;
    },
    many: async (requests) => this.#releaseAll(requests),
  });

  constructor({ database, clock }: SqlStoreOptions, prefix: string) {
    const isLocal = database.dialect === 'sqlite';
    const defaultClock = isLocal ? Date.now : () => null;
    this.#database = database;
    this.#text = statementsOf(database.dialect, prefix);
    const now = clock ?? defaultClock;
    this.#steps = new QuotaSteps(this.#text, now);
    const query = database.query?.bind(database);
    this.#receipts = isLocal ? undefined : new Receipts();
    this.#single = query && new SingleRequests(query, prefix, now);
  }

  async createSchema(): Promise<void> {
    const { dialect } = this.#database;
    const { schema } = this.#text;
    await this.#run(function* () {
      // The lock is necessary because IF NOT EXISTS fails in PostgreSQL if two processes create a table at the same time.
      if (dialect === 'postgres')
        yield readStatement(`SELECT pg_advisory_xact_lock(hashtext('apistrata quota schema'))`);
      for (const sql of schema) yield writeStatement(sql);
    });
  }

  // A call in the caller's transaction is not batched, because that transaction may end before the batch does.

  reserve(request: ReserveRequest): MaybePromise<readonly ExceededLimit[]> {
    if (!this.#database.isInTransaction()) return this.#reserveQueue.add(request);
    return andThen(this.#addBatch([request]), onlyResult);
  }

  consume(request: ConsumeRequest): MaybePromise<readonly ExceededLimit[]> {
    if (!this.#database.isInTransaction()) return this.#consumeQueue.add(request);
    return andThen(this.#addBatch([addRequestOf(request)]), onlyResult);
  }

  settle(reservation: StoredReservation, outcome: 'commit' | 'release'): MaybePromise<boolean> {
    if (!this.#database.isInTransaction()) return this.#settleQueue.add({ reservation, outcome });
    return andThen(this.#settleAll([{ reservation, outcome }]), onlyResult);
  }

  renew(reservation: StoredReservation, ttlMs: number): MaybePromise<boolean> {
    return this.#run(() => this.#steps.renew(reservation, ttlMs));
  }

  counts(project: string): MaybePromise<Readonly<Record<string, Count>>> {
    return this.#run(() => this.#steps.counts(project));
  }

  release(project: string, amounts: Amounts): MaybePromise<void> {
    if (!this.#database.isInTransaction()) return this.#releaseQueue.add({ project, amounts });
    return andThen(this.#releaseAll([{ project, amounts }]), () => undefined);
  }

  recount(project: string, kind: string, used: number): MaybePromise<void> {
    return this.#run(() => this.#steps.recount(project, kind, used));
  }

  getLimits(project: string): MaybePromise<OwnLimits | undefined> {
    return this.#run(() => this.#steps.getLimits(project));
  }

  setLimits(project: string, limits: OwnLimits): MaybePromise<void> {
    const statement = writeStatement(this.#text.setLimits, project, writeLimits(limits));
    return this.#run(function* () {
      yield statement;
    });
  }

  removeLimits(project: string): MaybePromise<boolean> {
    const statement = readStatement(this.#text.removeLimits, project);
    return this.#run(function* () {
      return (yield statement).length > 0;
    });
  }

  listLimits(page: Page) {
    return this.#run(() => this.#steps.listLimits(page));
  }

  sweep(): MaybePromise<void> {
    return andThen(
      this.#run(() => this.#steps.expired()),
      (expired) => {
        if (expired.length === 0) return this.#receipts && this.#run(() => this.#steps.clearOld());
        return andThen(
          this.#run(() => this.#steps.endExpired(expired)),
          () => this.sweep(),
        );
      },
    );
  }

  #addBatch(requests: readonly AddRequest[], receipt?: Receipt): MaybePromise<readonly (readonly ExceededLimit[])[]> {
    return andThen(
      this.#run(() => this.#steps.add(requests, receipt)),
      (outcome) => {
        if ('results' in outcome) return outcome.results;
        // Expired reservations are removed in a separate transaction, because they may have kinds whose counters the
        // first transaction has not locked.
        return andThen(
          this.#run(() => this.#steps.endExpired(outcome.expired)),
          () => this.#addBatch(requests, receipt),
        );
      },
    );
  }

  async #consumeOne(request: ConsumeRequest): Promise<readonly ExceededLimit[]> {
    const single = this.#single;
    const result = single && (await this.#withReceipt((receipt) => receipt && single.consume(request, receipt)));
    return result ?? onlyResult(await this.#consumeAll([request]));
  }

  #consumeAll(requests: readonly ConsumeRequest[]): Promise<readonly (readonly ExceededLimit[])[]> {
    const addRequests = requests.map(addRequestOf);
    return this.#withReceipt((receipt) => this.#addBatch(addRequests, receipt));
  }

  /** Runs a consume operation, and undoes it if its result is lost. */
  async #withReceipt<T>(execute: (receipt?: Receipt) => MaybePromise<T>): Promise<T> {
    const receipts = this.#receipts;
    if (!receipts) return execute();
    const receipt = receipts.nextReceipt();
    try {
      const result = await execute(receipt);
      // Errors are ignored, because the next cleanup also deletes these receipts.
      if (receipts.isCleanupDue(receipt)) this.#clear(receipt).catch(() => undefined);
      return result;
    } catch (error) {
      // An operation that was never sent is not undone, so that an unavailable server does not cause one undo attempt
      // per request.
      if (receipt.requests.length > 0) {
        receipts.startLane();
        this.#compensation.add(receipt);
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

  #releaseAll(requests: readonly ReleaseRequest[]): MaybePromise<readonly undefined[]> {
    return this.#run(() => this.#steps.release(requests));
  }

  #run<T>(work: () => Steps<T>): MaybePromise<T> {
    return this.#database.transaction(work);
  }
}

function statementsOf(dialect: SqlDatabase['dialect'], prefix: string): Statements {
  return dialect === 'mysql' ? mysqlStatements(prefix) : statementsFor(dialect, prefix);
}

function addRequestOf({ id, project, amounts, defaults }: ConsumeRequest): AddRequest {
  return { id, project, amounts, defaults, ttlMs: undefined };
}

/** Returns the only element of a list. @throws RangeError if the list does not have exactly one element */
function onlyResult<T>(results: readonly T[]): T {
  const [result] = results;
  if (results.length !== 1 || result === undefined) throw new RangeError(`Expected 1 result, got ${results.length}`);
  return result;
}

/** Calls `next` with a value, immediately or, if the value is a promise, after it has resolved. */
function andThen<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
