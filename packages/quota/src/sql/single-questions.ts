import type { Excess } from '../limits.js';
import type { ConsumeRequest, ReserveRequest } from '../store.js';
import type { Receipt } from './receipts.js';
import type { SqlDatabase, SqlValue } from './sql-database.js';
import { nowOf, tablesOf } from './statements.js';
import { type Now, type Settlement, verdictOn } from './steps.js';

/** Runs one statement that is a transaction by itself. */
type Ask = NonNullable<SqlDatabase['ask']>;

/**
 * One request about one kind, done in one round trip, and refused in two: what most requests are when a server is not busy. The
 * statement takes the amount where it fits, whatever others do at the same time, because an UPDATE that had to wait for a row checks
 * its condition again. What it cannot decide on is undefined, has changed nothing, and is for the steps.
 */
export class SingleQuestions {
  readonly #ask: Ask;
  readonly #text: ReturnType<typeof textsFor>;
  readonly #now: Now;

  constructor(ask: Ask, prefix: string, now: Now) {
    this.#ask = ask;
    this.#text = textsFor(prefix);
    this.#now = now;
  }

  /** The verdict. Undefined where there is no such counter yet, or expired reservations are in the way. */
  async reserve(request: ReserveRequest): Promise<readonly Excess[] | undefined> {
    const single = onlyEntry(request.amounts);
    if (!single) return undefined;
    const { id, amounts, ttlMs } = request;
    const { count } = await this.#ask(this.#text.reserve, () => [
      ...wantedOf(request, single),
      id,
      JSON.stringify(amounts),
      ttlMs,
      this.#now(),
    ]);
    return count > 0 ? [] : this.#refusal(request, single);
  }

  /** The same, of what is used at once. */
  async consume(request: ConsumeRequest, receipt: Receipt): Promise<readonly Excess[] | undefined> {
    const single = onlyEntry(request.amounts);
    if (!single) return undefined;
    const { count } = await this.#ask(this.#text.consume, () => {
      receipt.taken = [request];
      return [...wantedOf(request, single), receipt.lane, receipt.number];
    });
    return count > 0 ? [] : this.#refusal(request, single);
  }

  /** Whether this ended the reservation. */
  async settle({ hold, outcome }: Settlement): Promise<boolean | undefined> {
    const single = onlyEntry(hold.amounts);
    if (!single) return undefined;
    const [kind, amount] = single;
    const used = outcome === 'commit' ? amount : 0;
    const ended = [hold.project, kind, hold.id, amount, used];
    return (await this.#ask(this.#text.settle, () => [...ended, this.#now()])).count > 0;
  }

  /** Why nothing was taken: a question of its own, for all of its tables would have to be opened where something was. */
  async #refusal(request: ConsumeRequest, [kind]: Entry): Promise<readonly Excess[] | undefined> {
    const { project } = request;
    const { rows } = await this.#ask(this.#text.refusal, () => [project, kind, this.#now()]);
    const [row] = rows;
    // Expired reservations count until they are ended, and the counter may have changed since: then it is looked at once more.
    const exceeded = row && !row.expired ? verdictOn(request, [{ ...row, project, kind }]) : [];
    return exceeded.length > 0 ? exceeded : undefined;
  }
}

type Entry = [kind: string, amount: number];

function onlyEntry(amounts: Readonly<Record<string, number>>): Entry | undefined {
  const entries = Object.entries(amounts);
  return entries.length === 1 ? entries[0] : undefined;
}

/** The parameters that texts have in common which take amounts. */
function wantedOf({ project, defaults }: ConsumeRequest, [kind, amount]: Entry): SqlValue[] {
  return [project, kind, amount, defaults[kind] ?? null];
}

/** Of PostgreSQL only: elsewhere a statement costs no round trip. */
function textsFor(prefix: string) {
  const { limits, counters, holds, receipts } = tablesOf(prefix);
  const limitsOf = `(SELECT own_limits FROM ${limits} AS own WHERE own.project = $1)`;
  /** project, kind, amount, default limit */
  const take = (
    column: 'used' | 'reserved',
  ) => `WITH taken AS (UPDATE ${counters} SET ${column} = ${column} + $3::bigint
      FROM (SELECT coalesce((${limitsOf}::jsonb->>$2)::numeric, $4::numeric) AS top) AS limits
      WHERE project = $1 AND kind = $2 AND used + reserved <= ${Number.MAX_SAFE_INTEGER} - $3::bigint
        AND (top < 0 OR used + reserved + $3::bigint <= top) RETURNING true)`;
  // What takes or ends something says so by the number of rows it wrote, not by rows, which would have to be read.
  return {
    /** project, kind, amount, default limit, lane, number: counts it as used. */
    consume: `${take('used')} INSERT INTO ${receipts} (lane, number) SELECT $5::uuid, $6::bigint FROM taken`,
    /** project, kind, amount, default limit, id, amounts, ttlMs, now: reserves it. */
    reserve: `${take('reserved')} INSERT INTO ${holds} (project, id, amounts, expires_at)
      SELECT $1, $5, $6, ${nowOf('$8')} + $7::bigint FROM taken`,
    // The order makes it search by the index: for any row, PostgreSQL thinks, it would soon come by one without.
    /** project, kind, now: the counter and whether expired reservations may be in the way. */
    refusal: `SELECT used, reserved, ${limitsOf} AS own_limits, (SELECT expires_at FROM ${holds}
        WHERE project = $1 AND expires_at <= ${nowOf('$3')} ORDER BY expires_at LIMIT 1) IS NOT NULL AS expired
      FROM ${counters} WHERE project = $1 AND kind = $2`,
    /** project, kind, id, amount, what becomes used of it, now. Locks the counter first, as all do. */
    settle: `WITH locked AS (SELECT FROM ${counters} WHERE project = $1 AND kind = $2 FOR UPDATE),
      ended AS (DELETE FROM ${holds} WHERE project = $1 AND id = $3 AND expires_at > ${nowOf('$6')}
        AND EXISTS (SELECT FROM locked) RETURNING true)
      UPDATE ${counters} SET reserved = reserved - $4::bigint, used = used + $5::bigint
        FROM ended WHERE project = $1 AND kind = $2`,
  } as const;
}
