import type { Excess } from '../limits.js';
import type { ReserveRequest } from '../store.js';
import type { SqlDatabase } from './sql-database.js';
import { nowOf, tablesOf } from './statements.js';
import { type Now, type Settlement, verdictOn } from './steps.js';

/** Runs one statement that is a transaction by itself. */
type Ask = NonNullable<SqlDatabase['ask']>;

/**
 * One request about one kind, answered in one round trip: what most requests are when a server is not busy. The statement
 * takes the amount where it fits, whatever others do at the same time, because an UPDATE that had to wait for a row checks
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

  /** The verdict; a refusal takes no lock. Undefined where there is no such counter yet, or expired reservations are in the way. */
  async reserve(request: ReserveRequest): Promise<readonly Excess[] | undefined> {
    const single = onlyEntry(request.amounts);
    if (!single) return undefined;
    const { id, project, amounts, defaults, ttlMs } = request;
    const [kind, amount] = single;
    const parameters = [project, kind, amount, defaults[kind] ?? null, this.#now()];
    const [row] =
      ttlMs === undefined
        ? await this.#ask(this.#text.use, parameters)
        : await this.#ask(this.#text.reserve, [...parameters, id, JSON.stringify(amounts), ttlMs]);
    if (row?.taken) return [];
    // Expired reservations count until they are ended, and the counter may have changed since: then it is looked at once more.
    const exceeded = row && !row.expired ? verdictOn(request, [{ ...row, project, kind }]) : [];
    return exceeded.length > 0 ? exceeded : undefined;
  }

  /** Whether this ended the reservation. */
  async settle({ hold, outcome }: Settlement): Promise<boolean | undefined> {
    const single = onlyEntry(hold.amounts);
    if (!single) return undefined;
    const [kind, amount] = single;
    const used = outcome === 'commit' ? amount : 0;
    const rows = await this.#ask(this.#text.settle, [hold.project, kind, hold.id, amount, used, this.#now()]);
    return rows.length > 0;
  }
}

function onlyEntry(amounts: Readonly<Record<string, number>>): [string, number] | undefined {
  const entries = Object.entries(amounts);
  return entries.length === 1 ? entries[0] : undefined;
}

/** Of PostgreSQL only: elsewhere a statement costs no round trip. */
function textsFor(prefix: string) {
  const { limits, counters, holds } = tablesOf(prefix);
  const limitsOf = `(SELECT own_limits FROM ${limits} AS own WHERE own.project = $1)`;
  const take = (column: 'used' | 'reserved') => `taken AS (UPDATE ${counters} SET ${column} = ${column} + $3::bigint
      FROM (SELECT coalesce((${limitsOf}::jsonb->>$2)::numeric, $4::numeric) AS top) AS limits
      WHERE project = $1 AND kind = $2 AND used + reserved <= ${Number.MAX_SAFE_INTEGER} - $3::bigint
        AND (top < 0 OR used + reserved + $3::bigint <= top) RETURNING 1)`;
  // The order makes it search by the index: for any row, PostgreSQL thinks, it would soon come by one without.
  const found = `SELECT true AS taken, NULL::bigint AS used, NULL::bigint AS reserved, NULL::text AS own_limits,
        false AS expired FROM taken
      UNION ALL SELECT false, used, reserved, ${limitsOf},
        (SELECT expires_at FROM ${holds} WHERE project = $1 AND expires_at <= ${nowOf('$5')} ORDER BY expires_at LIMIT 1) IS NOT NULL
      FROM ${counters} WHERE project = $1 AND kind = $2 AND NOT EXISTS (SELECT FROM taken)`;
  return {
    /** project, kind, amount, default limit, now: counts it as used. */
    use: `WITH ${take('used')} ${found}`,
    /** The same, and id, amounts, ttlMs: reserves it. */
    reserve: `WITH ${take('reserved')}, held AS (INSERT INTO ${holds} (project, id, amounts, expires_at)
        SELECT $1, $6, $7, ${nowOf('$5')} + $8::bigint FROM taken) ${found}`,
    /** project, kind, id, amount, what becomes used of it, now. Locks the counter first, as all do. */
    settle: `WITH locked AS (SELECT FROM ${counters} WHERE project = $1 AND kind = $2 FOR UPDATE),
      ended AS (DELETE FROM ${holds} WHERE project = $1 AND id = $3 AND expires_at > ${nowOf('$6')}
        AND EXISTS (SELECT FROM locked) RETURNING id),
      moved AS (UPDATE ${counters} SET reserved = reserved - $4::bigint, used = used + $5::bigint
        FROM ended WHERE project = $1 AND kind = $2)
      SELECT id FROM ended`,
  } as const;
}
