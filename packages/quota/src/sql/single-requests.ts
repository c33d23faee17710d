import type { ExceededLimit } from '../limits.js';
import type { ConsumeRequest, ReserveRequest } from '../store.js';
import type { Receipt } from './receipts.js';
import type { SqlDatabase, SqlValue } from './sql-database.js';
import { currentTimeExpression, tableNamesOf } from './statements.js';
import { findExceededInRows, type Now, type Settlement } from './steps.js';

/** Sends one SQL statement, which runs as a transaction. */
type SendRequest = NonNullable<SqlDatabase['query']>;

/**
 * Processes a single request for one resource kind in one round trip, or in two if it is rejected. Without load, most
 * requests are not batched and take this path. The statement adds the amount only if it fits within the limit. This is
 * also correct under concurrency, because an UPDATE that has waited for a row lock evaluates its condition again. If a
 * transaction with several statements is required, the methods change nothing and return undefined.
 */
export class SingleRequests {
  readonly #query: SendRequest;
  readonly #text: ReturnType<typeof sqlTextsFor>;
  readonly #now: Now;

  constructor(query: SendRequest, prefix: string, now: Now) {
    this.#query = query;
    this.#text = sqlTextsFor(prefix);
    this.#now = now;
  }

  /**
   * Reserves an amount. Returns the kinds that exceed their limit, or undefined if the counter does not exist yet or expired
   * reservations must be removed first.
   */
  async reserve(request: ReserveRequest): Promise<readonly ExceededLimit[] | undefined> {
    const single = onlyEntry(request.amounts);
    if (!single) return undefined;
    const { id, amounts, ttlMs } = request;
    const { count } = await this.#query(this.#text.reserve, () => [
      ...requestedOf(request, single),
      id,
      JSON.stringify(amounts),
      ttlMs,
      this.#now(),
    ]);
    return count > 0 ? [] : this.#rejection(request, single);
  }

  /** Adds an amount to the used amount. Returns the same as `reserve`. */
  async consume(request: ConsumeRequest, receipt: Receipt): Promise<readonly ExceededLimit[] | undefined> {
    const single = onlyEntry(request.amounts);
    if (!single) return undefined;
    const { count } = await this.#query(this.#text.consume, () => {
      receipt.requests = [request];
      return [...requestedOf(request, single), receipt.lane, receipt.number];
    });
    return count > 0 ? [] : this.#rejection(request, single);
  }

  /** Settles a reservation. Returns whether this call settled it. */
  async settle({ reservation, outcome }: Settlement): Promise<boolean | undefined> {
    const single = onlyEntry(reservation.amounts);
    if (!single) return undefined;
    const [kind, amount] = single;
    const usedDelta = outcome === 'commit' ? amount : 0;
    const parameters = [reservation.project, kind, reservation.id, amount, usedDelta];
    return (await this.#query(this.#text.settle, () => [...parameters, this.#now()])).count > 0;
  }

  /**
   * Determines why the amount was not added. The query is separate, because the additional tables would slow down the
   * usual case.
   */
  async #rejection(request: ConsumeRequest, [kind]: AmountEntry): Promise<readonly ExceededLimit[] | undefined> {
    const { project } = request;
    const { rows } = await this.#query(this.#text.rejection, () => [project, kind, this.#now()]);
    const [row] = rows;
    // Expired reservations count until they are removed, and the counter may have changed. In both cases, the decision
    // requires a transaction.
    const exceeded = row && !row.expired ? findExceededInRows(request, [{ ...row, project, kind }]) : [];
    return exceeded.length > 0 ? exceeded : undefined;
  }
}

type AmountEntry = [kind: string, amount: number];

function onlyEntry(amounts: Readonly<Record<string, number>>): AmountEntry | undefined {
  const entries = Object.entries(amounts);
  return entries.length === 1 ? entries[0] : undefined;
}

/** Returns the parameters that the reserve and consume statements have in common. */
function requestedOf({ project, defaults }: ConsumeRequest, [kind, amount]: AmountEntry): SqlValue[] {
  return [project, kind, amount, defaults[kind] ?? null];
}

/** Returns the SQL statements for single requests, for PostgreSQL only. */
function sqlTextsFor(prefix: string) {
  const { limits, counters, reservations, receipts } = tableNamesOf(prefix);
  const ownLimitsQuery = `(SELECT own_limits FROM ${limits} AS own WHERE own.project = $1)`;
  /** Adds an amount to a counter column, if it fits within the limit. Parameters: project, kind, amount, default limit. */
  const addStatement = (
    column: 'used' | 'reserved',
  ) => `WITH added AS (UPDATE ${counters} SET ${column} = ${column} + $3::bigint
      FROM (SELECT coalesce((${ownLimitsQuery}::jsonb->>$2)::numeric, $4::numeric) AS top) AS limits
      WHERE project = $1 AND kind = $2 AND used + reserved <= ${Number.MAX_SAFE_INTEGER} - $3::bigint
        AND (top < 0 OR used + reserved + $3::bigint <= top) RETURNING true)`;
  // Except for `rejection`, a statement has succeeded if its row count is above 0. It returns no rows, because parsing
  // them would take time.
  return {
    /** Consumes an amount. Parameters: project, kind, amount, default limit, lane, number. */
    consume: `${addStatement('used')} INSERT INTO ${receipts} (lane, number) SELECT $5::uuid, $6::bigint FROM added`,
    /** Reserves an amount. Parameters: project, kind, amount, default limit, id, amounts, ttlMs, now. */
    reserve: `${addStatement('reserved')} INSERT INTO ${reservations} (project, id, amounts, expires_at)
      SELECT $1, $5, $6, ${currentTimeExpression('$8')} + $7::bigint FROM added`,
    // ORDER BY makes PostgreSQL use the index. Without it, the planner expects to find a matching row early in a scan.
    /**
     * Returns the counter, the project's own limits, and whether the project has an expired reservation. Parameters:
     * project, kind, now.
     */
    rejection: `SELECT used, reserved, ${ownLimitsQuery} AS own_limits, (SELECT expires_at FROM ${reservations}
        WHERE project = $1 AND expires_at <= ${currentTimeExpression('$3')} ORDER BY expires_at LIMIT 1) IS NOT NULL AS expired
      FROM ${counters} WHERE project = $1 AND kind = $2`,
    /**
     * Settles a reservation. Locks the counter first, as all statements do. Parameters: project, kind, id, amount,
     * amount to add to `used`, now.
     */
    settle: `WITH locked AS (SELECT FROM ${counters} WHERE project = $1 AND kind = $2 FOR UPDATE),
      ended AS (DELETE FROM ${reservations} WHERE project = $1 AND id = $3 AND expires_at > ${currentTimeExpression('$6')}
        AND EXISTS (SELECT FROM locked) RETURNING true)
      UPDATE ${counters} SET reserved = reserved - $4::bigint, used = used + $5::bigint
        FROM ended WHERE project = $1 AND kind = $2`,
  } as const;
}
