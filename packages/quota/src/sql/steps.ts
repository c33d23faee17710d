import { limitFor } from '../limit-for.js';
import { type Amounts, checkLimits, type ExceededLimit } from '../limits.js';
import type { ConsumeRequest, Count, OwnLimits, Page, ProjectLimits, StoredReservation } from '../store.js';
import type { Receipt } from './receipts.js';
import { readStatement, type SqlRow, type Steps, writeStatement } from './sql-database.js';
import { type CounterDelta, formatTuples, readLimits, type Statements } from './statements.js';

/** A reservation to settle: whether to commit or to release it. */
export interface Settlement {
  readonly reservation: StoredReservation;
  readonly outcome: 'commit' | 'release';
}

/** Amounts to subtract from a project's used amounts. */
export type ReleaseRequest = Pick<StoredReservation, 'project' | 'amounts'>;

/** Amounts to reserve or, if `ttlMs` is undefined, to consume. */
export type AddRequest = ConsumeRequest & { readonly ttlMs: number | undefined };

/** The results of a batch of requests; or, if the batch must be retried, the expired reservations to remove first. */
export type ReserveOutcome =
  | { readonly results: readonly (readonly ExceededLimit[])[] }
  | { readonly expired: StoredReservation[] };

/** Returns the current time in milliseconds since 1970, or null to use the database server's clock. */
export type Now = () => number | null;

interface Counter {
  used: number;
  reserved: number;
  readonly own: OwnLimits | undefined;
}

/**
 * The transactions of the SQL store, as generators of statements. To prevent deadlocks, all transactions first lock the
 * counters, in a global order, and then the reservations.
 */
export class QuotaSteps {
  readonly #text: Statements;
  readonly #now: Now;

  constructor(text: Statements, now: Now) {
    this.#text = text;
    this.#now = now;
  }

  /**
   * Reserves or consumes the amounts of requests. A request that would exceed a limit changes nothing.
   *
   * @param receipt the receipt to write in the same transaction
   */
  *add(requests: readonly AddRequest[], receipt?: Receipt): Steps<ReserveOutcome> {
    const counters = countersIn(yield readStatement(this.#text.lockAndRead, countersOf(requests)));
    const deltas = new Map<string, CounterDelta>();
    const outcomes = requests.map((request) => {
      const exceeded = findExceeded(request, counters);
      if (exceeded.length === 0) addToCounters(request, counters, deltas);
      return { request, exceeded };
    });
    const rejectedRequests = outcomes.filter(({ exceeded }) => exceeded.length > 0);
    if (rejectedRequests.length > 0) {
      const projects = [...new Set(rejectedRequests.map(({ request }) => request.project))];
      const expired = yield readStatement(
        this.#text.expiredOf,
        formatTuples(projects.map((project) => [project])),
        this.#now(),
      );
      if (expired.length > 0) return { expired: expired.map(reservationFromRow) };
    }
    yield* this.#writeDeltas(deltas);
    const reservations = outcomes.flatMap(({ request: { id, project, amounts, ttlMs }, exceeded }) =>
      ttlMs === undefined || exceeded.length > 0 ? [] : [[project, id, JSON.stringify(amounts), ttlMs]],
    );
    if (reservations.length > 0)
      yield writeStatement(this.#text.insertReservations, this.#now(), formatTuples(reservations));
    if (receipt && deltas.size > 0) {
      receipt.requests = outcomes.flatMap(({ request, exceeded }) => (exceeded.length > 0 ? [] : [request]));
      yield writeStatement(this.#text.receipt, receipt.lane, receipt.number);
    }
    return { results: outcomes.map(({ exceeded }) => exceeded) };
  }

  /** Undoes a consume operation if it was executed, and otherwise prevents its later execution. Idempotent. */
  *undo({ lane, number, requests }: Receipt): Steps<void> {
    // An operation in progress also locks its counters first, so one of the two transactions waits for the other.
    yield writeStatement(this.#text.lock, countersOf(requests));
    const done = yield readStatement(this.#text.undo, lane, number);
    if (done.length > 0) yield writeStatement(this.#text.release, totalsOf(requests));
    else yield writeStatement(this.#text.forbid, lane, number);
  }

  *clear({ lane, number }: Receipt): Steps<void> {
    yield writeStatement(this.#text.clear, lane, number);
  }

  *clearOld(): Steps<void> {
    yield writeStatement(this.#text.clearOld);
  }

  *settle(settlements: readonly Settlement[]): Steps<readonly boolean[]> {
    const ended = yield* this.#end(settlements, this.#text.end);
    // If a batch settles a reservation twice, the first settlement applies.
    return settlements.map(({ reservation }) => ended.delete(reservation.id));
  }

  *endExpired(reservations: readonly StoredReservation[]): Steps<void> {
    const settlements = reservations.map((reservation): Settlement => ({ reservation, outcome: 'release' }));
    if (reservations.length > 0) yield* this.#end(settlements, this.#text.endExpired);
  }

  /** Returns at most a thousand expired reservations of all projects. */
  *expired(): Steps<readonly StoredReservation[]> {
    return (yield readStatement(this.#text.expired, this.#now())).map(reservationFromRow);
  }

  *renew(reservation: StoredReservation, ttlMs: number): Steps<boolean> {
    return (
      (yield readStatement(this.#text.renew, this.#now(), ttlMs, reservation.project, reservation.id, this.#now()))
        .length > 0
    );
  }

  *counts(project: string): Steps<Readonly<Record<string, Count>>> {
    const rows = yield readStatement(this.#text.counts, project, project, this.#now());
    const counts: Record<string, { used: number; reserved: number }> = {};
    for (const { kind, used, reserved, amounts } of rows) {
      if (amounts === null) counts[String(kind)] = { used: Number(used), reserved: Number(reserved) };
      else
        for (const [kind, amount] of Object.entries(amountsOf(amounts)))
          (counts[kind] ??= { used: 0, reserved: 0 }).reserved -= amount;
    }
    return counts;
  }

  *release(returns: readonly ReleaseRequest[]): Steps<readonly undefined[]> {
    // Locks the counters in the global order first, because an UPDATE of several rows locks them in any order.
    yield writeStatement(this.#text.lock, countersOf(returns));
    yield writeStatement(this.#text.release, totalsOf(returns));
    return returns.map(() => undefined);
  }

  *recount(project: string, kind: string, used: number): Steps<void> {
    yield writeStatement(this.#text.recount, project, kind, used);
  }

  *getLimits(project: string): Steps<OwnLimits | undefined> {
    const [row] = yield readStatement(this.#text.limitsOf, project);
    return row && readLimits(row.own_limits);
  }

  *listLimits({ limit, offset }: Page): Steps<{ entries: ProjectLimits[]; total: number }> {
    const [count] = yield readStatement(this.#text.countLimits);
    const rows = yield readStatement(this.#text.listLimits, limit, offset);
    const entries = rows.map((row) => ({ project: String(row.project), limits: readLimits(row.own_limits) }));
    return { entries, total: Number(count?.total) };
  }

  *#end(settlements: readonly Settlement[], text: string): Steps<Set<string>> {
    yield writeStatement(this.#text.lock, countersOf(settlements.map(({ reservation }) => reservation)));
    const ids = formatTuples(settlements.map(({ reservation }) => [reservation.project, reservation.id]));
    const ended = new Set((yield readStatement(text, ids, this.#now())).map((row) => String(row.id)));
    const deltas = new Map<string, CounterDelta>();
    const done = new Set<string>();
    for (const { reservation, outcome } of settlements) {
      if (!ended.has(reservation.id) || done.has(reservation.id)) continue;
      done.add(reservation.id);
      for (const [kind, amount] of Object.entries(reservation.amounts)) {
        const delta = getOrCreateDelta(deltas, reservation.project, kind);
        delta.reserved -= amount;
        if (outcome === 'commit') delta.used += amount;
      }
    }
    yield* this.#writeDeltas(deltas);
    return ended;
  }

  *#writeDeltas(deltas: ReadonlyMap<string, CounterDelta>): Steps<void> {
    if (deltas.size === 0) return;
    const rows = [...deltas.values()].map(({ project, kind, used, reserved }) => [project, kind, used, reserved]);
    yield writeStatement(this.#text.add, formatTuples(rows));
  }
}

/** Returns a statement parameter with the distinct counters of some amounts, in the global order. */
function countersOf(amountsList: readonly ReleaseRequest[]): string {
  const byKey = new Map<string, readonly [project: string, kind: string]>();
  for (const { project, amounts } of amountsList) {
    for (const kind of Object.keys(amounts)) byKey.set(counterKeyOf(project, kind), [project, kind]);
  }
  // Keys are compared as UTF-16 code units, so that the order is the same in all processes, regardless of locale.
  return formatTuples([...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, counter]) => counter));
}

/** Returns a statement parameter with the total amount to release from each counter. */
function totalsOf(returns: readonly ReleaseRequest[]): string {
  const sums = new Map<string, readonly [string, string, number]>();
  for (const { project, amounts } of returns) {
    for (const [kind, amount] of Object.entries(amounts)) {
      const sum = (sums.get(counterKeyOf(project, kind))?.[2] ?? 0) + amount;
      // A counter never exceeds the largest safe integer, so a larger amount cannot be released.
      sums.set(counterKeyOf(project, kind), [project, kind, Math.min(sum, Number.MAX_SAFE_INTEGER)]);
    }
  }
  return formatTuples([...sums.values()]);
}

/** Returns the kinds of a request that exceed their limit according to counter rows from the database. */
export function findExceededInRows(request: ConsumeRequest, rows: readonly SqlRow[]): readonly ExceededLimit[] {
  return findExceeded(request, countersIn(rows));
}

function countersIn(rows: readonly SqlRow[]): ReadonlyMap<string, Counter> {
  const own = new Map<string, OwnLimits>();
  return new Map(rows.map((row) => [counterKeyOf(String(row.project), String(row.kind)), counterOf(row, own)]));
}

function lockedCounter(counters: ReadonlyMap<string, Counter>, project: string, kind: string): Counter {
  const counter = counters.get(counterKeyOf(project, kind));
  if (!counter) throw new Error(`the database returned no counter for ${kind} in project ${project}`);
  return counter;
}

function findExceeded(request: ConsumeRequest, counters: ReadonlyMap<string, Counter>): readonly ExceededLimit[] {
  const usage: Record<string, number> = {};
  const limits: Record<string, number | bigint> = {};
  for (const kind of Object.keys(request.amounts)) {
    const { used, reserved, own } = lockedCounter(counters, request.project, kind);
    usage[kind] = used + reserved;
    limits[kind] = limitFor(kind, own, request.defaults);
  }
  return checkLimits({ limits, usage, requested: request.amounts }).exceeded;
}

function addToCounters(
  request: AddRequest,
  counters: ReadonlyMap<string, Counter>,
  deltas: Map<string, CounterDelta>,
): void {
  const column = request.ttlMs === undefined ? 'used' : 'reserved';
  for (const [kind, amount] of Object.entries(request.amounts)) {
    lockedCounter(counters, request.project, kind)[column] += amount;
    getOrCreateDelta(deltas, request.project, kind)[column] += amount;
  }
}

function getOrCreateDelta(deltas: Map<string, CounterDelta>, project: string, kind: string): CounterDelta {
  const key = counterKeyOf(project, kind);
  let delta = deltas.get(key);
  if (!delta) {
    delta = { project, kind, used: 0, reserved: 0 };
    deltas.set(key, delta);
  }
  return delta;
}

function counterOf(row: SqlRow, own: Map<string, OwnLimits>): Counter {
  let limits: OwnLimits | undefined;
  if (row.own_limits !== null) {
    const project = String(row.project);
    limits = own.get(project) ?? readLimits(row.own_limits);
    own.set(project, limits);
  }
  return { used: Number(row.used), reserved: Number(row.reserved), own: limits };
}

function reservationFromRow(row: SqlRow): StoredReservation {
  return { id: String(row.id), project: String(row.project), amounts: amountsOf(row.amounts) };
}

function amountsOf(text: unknown): Amounts {
  return JSON.parse(String(text)) as Amounts;
}

/** Returns the map key of a counter. It is unique, because neither part contains NUL. */
function counterKeyOf(project: string, kind: string): string {
  return `${project}\0${kind}`;
}
