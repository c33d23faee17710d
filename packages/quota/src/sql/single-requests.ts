import type { Excess } from '../limits.js';
import type { ConsumeRequest, ReserveRequest } from '../store.js';
import type { Receipt } from './receipts.js';
import type { SqlDatabase, SqlValue } from './sql-database.js';
import { nowOf, tablesOf } from './statements.js';
import { excessInRows, type Now, type Settlement } from './steps.js';

/** Runs one statement as a transaction. */
type SendRequest = NonNullable<SqlDatabase['query']>;

/**
 * Processes a single request with one kind in one round trip, or in two if it is rejected. Most requests are of this form on a
 * server that is not busy. The statement takes the amount if it fits, also under concurrency, because an UPDATE that waited for
 * a row lock evaluates its condition again. The functions return undefined, without any change, if a transaction with several
 * steps is required.
 */
export class SingleRequests {
  readonly #query: SendRequest;
  readonly #text: ReturnType<typeof textsFor>;
  readonly #now: Now;

  constructor(query: SendRequest, prefix: string, now: Now) {
    this.#query = query;
    this.#text = textsFor(prefix);
    this.#now = now;
  }

  /**
   * Reserves an amount. Returns the kinds that exceed their limit, or undefined if the counter does not exist yet or expired
   * reservations must be removed first.
   */
  async reserve(request: ReserveRequest): Promise<readonly Excess[] | undefined> {
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

  /** Takes an amount permanently. Returns the same as `reserve`. */
  async consume(request: ConsumeRequest, receipt: Receipt): Promise<readonly Excess[] | undefined> {
    const single = onlyEntry(request.amounts);
    if (!single) return undefined;
    const { count } = await this.#query(this.#text.consume, () => {
      receipt.reserved = [request];
      return [...requestedOf(request, single), receipt.lane, receipt.number];
    });
    return count > 0 ? [] : this.#rejection(request, single);
  }

  /** Settles a reservation. Returns whether this call settled it. */
  async settle({ hold, outcome }: Settlement): Promise<boolean | undefined> {
    const single = onlyEntry(hold.amounts);
    if (!single) return undefined;
    const [kind, amount] = single;
    const used = outcome === 'commit' ? amount : 0;
    const parameters = [hold.project, kind, hold.id, amount, used];
    return (await this.#query(this.#text.settle, () => [...parameters, this.#now()])).count > 0;
  }

  /** Returns the reason why no amount was taken. It is a separate query, because its tables would slow down the statement above. */
  async #rejection(request: ConsumeRequest, [kind]: Entry): Promise<readonly Excess[] | undefined> {
    const { project } = request;
    const { rows } = await this.#query(this.#text.rejection, () => [project, kind, this.#now()]);
    const [row] = rows;
    // Expired reservations count until they are removed, and the counter may have changed. A transaction decides in both cases.
    const exceeded = row && !row.expired ? excessInRows(request, [{ ...row, project, kind }]) : [];
    return exceeded.length > 0 ? exceeded : undefined;
  }
}

type Entry = [kind: string, amount: number];

function onlyEntry(amounts: Readonly<Record<string, number>>): Entry | undefined {
  const entries = Object.entries(amounts);
  return entries.length === 1 ? entries[0] : undefined;
}

/** Returns the parameters that all statements for reserving or consuming amounts share. */
function requestedOf({ project, defaults }: ConsumeRequest, [kind, amount]: Entry): SqlValue[] {
  return [project, kind, amount, defaults[kind] ?? null];
}

/** Returns the statements, for PostgreSQL only. */
function textsFor(prefix: string) {
  const { limits, counters, holds, receipts } = tablesOf(prefix);
  const limitsOf = `(SELECT own_limits FROM ${limits} AS own WHERE own.project = $1)`;
  /** Adds an amount to a column of a counter, if it fits. Parameters: project, kind, amount, default limit. */
  const take = (
    column: 'used' | 'reserved',
  ) => `WITH taken AS (UPDATE ${counters} SET ${column} = ${column} + $3::bigint
      FROM (SELECT coalesce((${limitsOf}::jsonb->>$2)::numeric, $4::numeric) AS top) AS limits
      WHERE project = $1 AND kind = $2 AND used + reserved <= ${Number.MAX_SAFE_INTEGER} - $3::bigint
        AND (top < 0 OR used + reserved + $3::bigint <= top) RETURNING true)`;
  // Statements that take or settle report success by their row count instead of rows, which would have to be parsed.
  return {
    /** Takes an amount permanently. Parameters: project, kind, amount, default limit, lane, number. */
    consume: `${take('used')} INSERT INTO ${receipts} (lane, number) SELECT $5::uuid, $6::bigint FROM taken`,
    /** Reserves an amount. Parameters: project, kind, amount, default limit, id, amounts, ttlMs, now. */
    reserve: `${take('reserved')} INSERT INTO ${holds} (project, id, amounts, expires_at)
      SELECT $1, $5, $6, ${nowOf('$8')} + $7::bigint FROM taken`,
    // ORDER BY makes PostgreSQL use the index. Without it, PostgreSQL expects to find a matching row early in a scan.
    /** Returns the counter, and whether the project has an expired reservation. Parameters: project, kind, now. */
    rejection: `SELECT used, reserved, ${limitsOf} AS own_limits, (SELECT expires_at FROM ${holds}
        WHERE project = $1 AND expires_at <= ${nowOf('$3')} ORDER BY expires_at LIMIT 1) IS NOT NULL AS expired
      FROM ${counters} WHERE project = $1 AND kind = $2`,
    /**
     * Settles a reservation. Locks the counter first, as all statements do. Parameters: project, kind, id, amount, the amount to
     * add to used, now.
     */
    settle: `WITH locked AS (SELECT FROM ${counters} WHERE project = $1 AND kind = $2 FOR UPDATE),
      ended AS (DELETE FROM ${holds} WHERE project = $1 AND id = $3 AND expires_at > ${nowOf('$6')}
        AND EXISTS (SELECT FROM locked) RETURNING true)
      UPDATE ${counters} SET reserved = reserved - $4::bigint, used = used + $5::bigint
        FROM ended WHERE project = $1 AND kind = $2`,
  } as const;
}
