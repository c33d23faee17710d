import type { RowQuery, Session } from '@apistrata/record-store';
import { type RawBuilder, sql } from 'kysely';
import type { Server } from '../../model/index.js';
import { LIVE_SERVERS } from '../../schema/tables.js';
import { applyFilters, patternConditions, type ServerFilters, type ServerPatternField } from './list-filters.js';
import { isIndexed, liveServersCondition } from './list-indexes.js';
import { likePatternOf } from './list-pattern.js';
import { selectBySeq } from './list-places.js';
import type { ServerOrder, ServerSort, ServerSortKey } from './list-sort.js';

const SUBSTRING_FIELDS = ['name', 'ip', 'ip6'] as const satisfies readonly ServerPatternField[];

/**
 * The fields that the index for each sort key contains, so that a substring search need not read table rows. See the
 * schema migrations.
 */
const COVERED_FIELDS: { readonly [key in ServerSortKey]?: readonly ServerPatternField[] } = {
  created_at: SUBSTRING_FIELDS,
  display_name: ['name'],
};

/**
 * Number of rows that are searched in page order before trigrams are used, if an index contains the compared fields.
 */
const MAX_SEARCHED_INDEX_ROWS = 1000;

/** The number of rows, for each row of the page, that are searched in page order before trigrams are used. */
const SEARCHED_ROWS_PER_PAGE_ROW = 2;

/** Maximum number of servers that may match by trigram. If more servers match, the substring is not rare. */
const MAX_CANDIDATES = 1000;

/** Matches substrings that contain a trigram of letters and digits. */
const TRIGRAM_PATTERN = /[A-Za-z0-9]{3}/;

/** Hides conditions from the planner, which then neither estimates their selectivity nor selects an index for them. */
const hideFromPlanner = (conditions: readonly RawBuilder<boolean>[]) =>
  sql<boolean>`case when ${sql.join(conditions, sql` and `)} then true else false end`;

type Rows = Awaited<ReturnType<RowQuery['execute']>>;

/** Sort order, marker, limit and additional conditions of a page. */
interface PageQuery {
  readonly db: Session['db'];
  readonly order: ServerOrder;
  readonly after: Server | undefined;
  readonly limit: number;
  /** Adds the page's additional conditions to a query. */
  readonly addConditions: (rows: RowQuery) => RowQuery;
}

/**
 * Searches for substrings of names and addresses on PostgreSQL. PostgreSQL's planner estimates poorly how many servers
 * match. For a common substring, the planner would find and sort all matches; for a rare substring, it would read the
 * rows of all servers. Therefore, this class determines how to search:
 *
 * - The servers of one project are searched in page order, in an index that contains names and addresses. Servers of
 *   other projects are not read.
 * - In a list of all projects, a limited number of servers is searched in page order first. If that does not fill the
 *   page and few servers match by trigram, only these servers are searched. Otherwise, the substring is common or too
 *   short for trigrams, and all servers are searched in page order.
 *
 * SQLite's planner chooses an index in page order in both cases.
 */
export class SubstringSearch {
  readonly #substringPatterns: NonNullable<ServerFilters['patterns']>;
  readonly #otherPatterns: ServerFilters;
  readonly #live: RawBuilder<boolean>;
  /** Whether an index in page order contains all compared fields. */
  readonly #hasCoveringIndex: boolean;

  /**
   * Creates a substring search. Returns undefined if the filters contain no substring, or if other filters may select
   * fewer servers.
   */
  static of(session: Session, filters: ServerFilters, sort: readonly ServerSort[]): SubstringSearch | undefined {
    if (session.kind !== 'postgres' || isIndexed(filters, sort)) return undefined;
    const search = new SubstringSearch(filters, sort);
    return search.#conditions().length > 0 && isIndexed(search.#otherPatterns, sort) ? search : undefined;
  }

  private constructor({ patterns = {}, ...filters }: ServerFilters, sort: readonly ServerSort[]) {
    const coveredFields = COVERED_FIELDS[sort[0]?.key ?? 'created_at'];
    const isSubstringField = (name: string) => (coveredFields ?? SUBSTRING_FIELDS).some((part) => part === name);
    // A pattern for a complete name can use the index on names.
    const isIndexedPattern = (name: string, pattern: string) => isIndexed({ patterns: { [name]: pattern } }, []);
    const activePatterns = Object.entries(patterns).filter(([, pattern]) => pattern !== undefined);
    const substringPatterns = activePatterns.filter(
      ([name, pattern]) => isSubstringField(name) && !isIndexedPattern(name, pattern),
    );
    const otherPatterns = activePatterns.filter((one) => !substringPatterns.includes(one));
    this.#substringPatterns = Object.fromEntries(substringPatterns);
    this.#otherPatterns = { ...filters, patterns: Object.fromEntries(otherPatterns) };
    this.#live = liveServersCondition('postgres', this.#otherPatterns, sort);
    const { projectId: _, ...rest } = filters;
    const hasNoOtherFilters =
      otherPatterns.length === 0 && Object.values(rest).every((value) => value === undefined || value === false);
    this.#hasCoveringIndex = coveredFields !== undefined && hasNoOtherFilters;
  }

  /**
   * Returns the first matching rows. If there are fewer rows than the limit, no other rows match. Returns undefined if
   * a plain query is faster.
   */
  async rows(pageQuery: PageQuery): Promise<Rows | undefined> {
    const { db, limit } = pageQuery;
    if (this.#hasCoveringIndex && this.#otherPatterns.projectId !== undefined) return this.#searchInOrder(pageQuery);
    const max = Math.max(this.#hasCoveringIndex ? MAX_SEARCHED_INDEX_ROWS : 0, SEARCHED_ROWS_PER_PAGE_ROW * limit);
    const firstRows = await this.#searchInOrder(pageQuery, max);
    if (firstRows.length === limit) return firstRows;
    if (!this.#hasCoveringIndex) return undefined;
    const candidates = await this.#candidates(db);
    if (!candidates) return this.#searchInOrder(pageQuery);
    return candidates.length === 0 ? [] : this.#filterCandidates(pageQuery, candidates);
  }

  #conditions(): readonly RawBuilder<boolean>[] {
    return patternConditions({ patterns: this.#substringPatterns }, 'postgres');
  }

  #all(db: Session['db']): RowQuery {
    return db.selectFrom('servers').selectAll() as unknown as RowQuery;
  }

  /** Returns matching rows in page order, optionally only among the first `max` rows. */
  async #searchInOrder({ db, order, after, limit, addConditions }: PageQuery, max?: number): Promise<Rows> {
    const orderedRows = order.apply(
      addConditions(applyFilters(this.#all(db), this.#otherPatterns, 'postgres', this.#live)),
      after,
    );
    const matches = db
      .selectFrom((max === undefined ? orderedRows : orderedRows.limit(max)).as('servers'))
      .select('seq')
      .where(hideFromPlanner(this.#conditions())) as unknown as RowQuery;
    const matching = order.apply(matches, undefined).limit(limit);
    return order.apply(selectBySeq(db, sql`${matching}`), undefined).execute();
  }

  /**
   * Returns the `seq` of the servers that match by trigram. Returns undefined if too many servers match, or if no
   * trigram index exists.
   */
  async #candidates(db: Session['db']): Promise<readonly string[] | undefined> {
    if (!Object.values(this.#substringPatterns).every((part) => TRIGRAM_PATTERN.test(likePatternOf(part) ?? '')))
      return undefined;
    // The condition on `revision` is always true, but no index contains this column. Without the condition, the planner
    // might scan an entire index on names.
    const live = this.#all(db).where(LIVE_SERVERS).where('revision', '>=', 0);
    const matching = this.#conditions().reduce((rows, condition) => rows.where(condition), live);
    const candidateSeqs = db.selectFrom(matching.limit(MAX_CANDIDATES + 1).as('servers')).select('seq');
    const { rows } = await sql<{ readonly seqs: readonly string[] | null }>`
      select case when to_regclass('servers_name_trigrams') is not null
        and to_regclass('servers_address_trigrams') is not null then array(${candidateSeqs}) end as seqs`.execute(db);
    const seqs = rows[0]?.seqs ?? undefined;
    return seqs && seqs.length > MAX_CANDIDATES ? undefined : seqs;
  }

  /** Returns the matching rows among the candidates. */
  async #filterCandidates(
    { db, order, after, limit, addConditions }: PageQuery,
    candidates: readonly string[],
  ): Promise<Rows> {
    const seqs = sql`select unnest(${candidates}::bigint[])`;
    const rows = addConditions(applyFilters(selectBySeq(db, seqs), this.#otherPatterns, 'postgres'));
    const matching = this.#conditions().reduce((filtered, condition) => filtered.where(condition), rows);
    return order.apply(matching, after).limit(limit).execute();
  }
}
