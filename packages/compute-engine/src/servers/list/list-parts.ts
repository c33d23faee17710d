import type { RowQuery, Session } from '@apistrata/record-store';
import { type RawBuilder, sql } from 'kysely';
import type { Server } from '../../model/index.js';
import { LIVE } from '../../schema/tables.js';
import { narrow, patternConditions, type ServerFilters, type ServerPatternField } from './list-filters.js';
import { isIndexed, liveFor } from './list-indexes.js';
import { likeOf } from './list-pattern.js';
import { serversAt } from './list-places.js';
import type { ServerOrder, ServerSort, ServerSortKey } from './list-sort.js';

const PARTS = ['name', 'ip', 'ip6'] as const satisfies readonly ServerPatternField[];

/** Parts of texts that stand in an index of this order, so that rows need not be read; see the store's migrations. */
const COVERED: { readonly [key in ServerSortKey]?: readonly ServerPatternField[] } = {
  created_at: PARTS,
  display_name: ['name'],
};

/** Rows of a page's order that are looked at before trigrams are asked: in an index alone, or in the table. */
const FIRST_COVERED_ROWS = 1000;
const FIRST_ROWS_EACH = 2;

/** Where more servers have the trigrams, the part is no rare one. */
const MOST_CANDIDATES = 1000;

/** Shorter ones have no trigrams. */
const LONG_ENOUGH = /[A-Za-z0-9]{3}/;

/** What the planner cannot see through: it neither guesses how many rows fit nor looks for another index. */
const opaque = (conditions: readonly RawBuilder<boolean>[]) =>
  sql<boolean>`case when ${sql.join(conditions, sql` and `)} then true else false end`;

type Rows = Awaited<ReturnType<RowQuery['execute']>>;

/** Which servers, behind which one, and how many. */
interface PartQuestion {
  readonly order: ServerOrder;
  readonly after: Server | undefined;
  readonly limit: number;
  /** What else has to hold. */
  readonly among: (rows: RowQuery) => RowQuery;
}

/**
 * Parts of names and addresses on PostgreSQL, which guesses how many servers have one: it finds and sorts all that have a
 * common one, or reads everybody's rows for a rare one. So it is left no choice:
 *
 * - A project's servers are looked at in the order of the page, in an index that holds names and addresses. What others
 *   have costs nothing.
 * - Of all servers the first are looked at so, then those that trigrams lead to, where these are few. Otherwise the part is
 *   common, or too short for trigrams, and all are looked at in the order of the page.
 *
 * SQLite does the first by itself, whoever asks.
 */
export class PartSearch {
  readonly #db: Session['db'];
  readonly #parts: NonNullable<ServerFilters['patterns']>;
  readonly #others: ServerFilters;
  readonly #live: RawBuilder<boolean>;
  /** Whether an index in the order of the page holds all that is compared. */
  readonly #covered: boolean;

  /** Undefined where no part is asked for, and where other filters may lead to fewer servers. */
  static of(session: Session, filters: ServerFilters, sort: readonly ServerSort[]): PartSearch | undefined {
    if (session.kind !== 'postgres' || isIndexed(filters, sort)) return undefined;
    const search = new PartSearch(session, filters, sort);
    return search.#conditions().length > 0 && isIndexed(search.#others, sort) ? search : undefined;
  }

  private constructor(session: Session, { patterns = {}, ...filters }: ServerFilters, sort: readonly ServerSort[]) {
    const covered = COVERED[sort[0]?.key ?? 'created_at'];
    const isPart = (name: string) => (covered ?? PARTS).some((part) => part === name);
    // A whole name has an index of its own.
    const isWhole = (name: string, pattern: string) => isIndexed({ patterns: { [name]: pattern } }, []);
    const given = Object.entries(patterns).filter(([, pattern]) => pattern !== undefined);
    const parts = given.filter(([name, pattern]) => isPart(name) && !isWhole(name, pattern));
    const others = given.filter((one) => !parts.includes(one));
    this.#db = session.longReads;
    this.#parts = Object.fromEntries(parts);
    this.#others = { ...filters, patterns: Object.fromEntries(others) };
    this.#live = liveFor('postgres', this.#others, sort);
    const { projectId: _, ...rest } = filters;
    const plain = others.length === 0 && Object.values(rest).every((value) => value === undefined || value === false);
    this.#covered = covered !== undefined && plain;
  }

  /** The first that fit, and fewer where there are no more; undefined where the database should look for them. */
  async rows(question: PartQuestion): Promise<Rows | undefined> {
    const { limit } = question;
    if (this.#covered && this.#others.projectId !== undefined) return this.#walk(question);
    const most = Math.max(this.#covered ? FIRST_COVERED_ROWS : 0, FIRST_ROWS_EACH * limit);
    const first = await this.#walk(question, most);
    if (first.length === limit) return first;
    if (!this.#covered) return undefined;
    const candidates = await this.#candidates();
    if (!candidates) return this.#walk(question);
    return candidates.length === 0 ? [] : this.#pick(question, candidates);
  }

  #conditions(): readonly RawBuilder<boolean>[] {
    return patternConditions({ patterns: this.#parts }, 'postgres');
  }

  #all(): RowQuery {
    return this.#db.selectFrom('servers').selectAll() as unknown as RowQuery;
  }

  /** Those that fit, as they are met in the order of the page, perhaps only among the first ones. */
  async #walk({ order, after, limit, among }: PartQuestion, most?: number): Promise<Rows> {
    const walked = order.apply(among(narrow(this.#all(), this.#others, 'postgres', this.#live)), after);
    const looked = this.#db
      .selectFrom((most === undefined ? walked : walked.limit(most)).as('servers'))
      .select('seq')
      .where(opaque(this.#conditions())) as unknown as RowQuery;
    const fitting = order.apply(looked, undefined).limit(limit);
    return order.apply(serversAt(this.#db, sql`${fitting}`), undefined).execute();
  }

  /** Where the servers are that trigrams of the parts lead to; undefined where these are many, or there are no trigrams. */
  async #candidates(): Promise<readonly string[] | undefined> {
    if (!Object.values(this.#parts).every((part) => LONG_ENOUGH.test(likeOf(part) ?? ''))) return undefined;
    // Revisions are in no index: else one that holds names might be read from its start to its end.
    const live = this.#all().where(LIVE).where('revision', '>=', 0);
    const having = this.#conditions().reduce((rows, condition) => rows.where(condition), live);
    const found = this.#db.selectFrom(having.limit(MOST_CANDIDATES + 1).as('servers')).select('seq');
    const { rows } = await sql<{ readonly seqs: readonly string[] | null }>`
      select case when to_regclass('servers_name_trigrams') is not null
        and to_regclass('servers_address_trigrams') is not null then array(${found}) end as seqs`.execute(this.#db);
    const seqs = rows[0]?.seqs ?? undefined;
    return seqs && seqs.length > MOST_CANDIDATES ? undefined : seqs;
  }

  /** Those of the candidates that fit. */
  async #pick({ order, after, limit, among }: PartQuestion, candidates: readonly string[]): Promise<Rows> {
    const places = sql`select unnest(${candidates}::bigint[])`;
    const rows = among(narrow(serversAt(this.#db, places), this.#others, 'postgres'));
    const fitting = this.#conditions().reduce((narrowed, condition) => narrowed.where(condition), rows);
    return order.apply(fitting, after).limit(limit).execute();
  }
}
