import { type RowQuery, type Session, yieldToEventLoop } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { Core } from '../../core/core.js';
import { badRequest } from '../../errors/rejection.js';
import type { Server } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { applyFilters, type ServerFilters } from './list-filters.js';
import { liveServersCondition } from './list-indexes.js';
import { isAnyPending, type PageRow } from './list-newest.js';
import { selectBySeq } from './list-places.js';
import type { RowsPlan } from './list-plan.js';
import type { ServerOrder } from './list-sort.js';

/** Adds conditions to a query. */
export type AddConditions = (rows: RowQuery) => RowQuery;

type Page = readonly Server[];

/** Number of rows that are read at a time if this process filters or sorts the rows. */
const CHUNK_ROWS = 500;
/** Maximum time in milliseconds that this process filters servers before it yields to the event loop. */
const MAX_FILTER_SLICE_MS = 4;
/** Maximum time in milliseconds that one request may spend on filtering servers. */
const MAX_FILTERING_MS = 10_000;

/** Reads pages of servers by executing the plan of a list. */
export class ListReader {
  readonly #core: Core;
  readonly #plan: RowsPlan;
  /** The session that executes queries without an index. */
  readonly #db: Session['db'];
  #filteringMs = 0;

  /** @param isShort whether queries without an index read so few rows that other queries may wait for them */
  constructor(core: Core, plan: RowsPlan, { isShort }: { readonly isShort: boolean }) {
    this.#core = core;
    this.#plan = plan;
    this.#db = isShort ? core.store.db : core.store.longReads;
  }

  /**
   * Returns the rows of a page. Each row also shows whether servers wait for the scheduler. Only for plans in which
   * `single` is true.
   */
  rowsOfPage(after: Server | undefined, limit: number): Promise<readonly PageRow[]> {
    const { order, alternatives, projectId } = this.#plan;
    const [filters = {}] = alternatives;
    return this.#rowsOf(filters, order, after, limit).select(isAnyPending(projectId).as('waits')).execute();
  }

  /**
   * Reads a page of servers. If the database filters and sorts the rows, reads exactly one page. If this process
   * filters or sorts, reads chunks of rows in the plan's reading order.
   *
   * @param addConditions adds further conditions to the query
   * @throws Rejection (400) if the filters of this process take too long
   */
  async read(after: Server | undefined, limit: number, addConditions: AddConditions = (rows) => rows): Promise<Page> {
    const { order, readingOrder: reading, residualFilter } = this.#plan;
    const sortsInMemory = order !== reading;
    const rows = sortsInMemory || residualFilter ? CHUNK_ROWS : limit;
    let page: Server[] = [];
    let last = sortsInMemory ? undefined : after;
    for (;;) {
      const chunk = await this.#find(last, rows, addConditions);
      const matching = residualFilter || sortsInMemory ? await this.#applyPredicate(chunk) : chunk;
      page.push(...(sortsInMemory && after ? matching.filter((server) => order.compare(server, after) > 0) : matching));
      if (sortsInMemory) page.sort((a, b) => order.compare(a, b));
      page = page.slice(0, limit);
      // If this process sorts, all rows must be read, because any later row may belong on the page.
      if (chunk.length < rows || (!sortsInMemory && page.length === limit)) return page;
      last = chunk.at(-1);
    }
  }

  /** Returns the first servers that the database finds, in the plan's reading order. */
  async #find(after: Server | undefined, limit: number, addConditions: AddConditions): Promise<Page> {
    const { search, readingOrder: order, alternatives } = this.#plan;
    const foundRows = await search?.rows({
      db: this.#db,
      order,
      after,
      limit,
      addConditions: (rows) => addConditions(this.#excludeHidden(rows)),
    });
    if (foundRows) return this.#records(foundRows);
    const pages = await Promise.all(
      alternatives.map(async (filters) =>
        this.#records(await this.#executeQuery(filters, after, limit, addConditions)),
      ),
    );
    if (pages.length === 1) return pages[0] ?? [];
    return pages
      .flat()
      .sort((a, b) => order.compare(a, b))
      .slice(0, limit);
  }

  /**
   * Executes a query. On PostgreSQL, a query without a suitable index first selects the `seq` of the matching servers
   * and then reads only their rows.
   */
  #executeQuery(filters: ServerFilters, after: Server | undefined, limit: number, addConditions: AddConditions) {
    const { store } = this.#core;
    const { readingOrder: reading, indexed } = this.#plan;
    const rows = this.#rowsOf(filters, reading, after, limit, addConditions);
    if (store.kind === 'sqlite' || indexed) return rows.execute();
    const seqs = sql`${rows.clearSelect().select('seq')}`;
    return reading.apply(selectBySeq(this.#db, seqs), undefined).execute();
  }

  #rowsOf(
    filters: ServerFilters,
    order: ServerOrder,
    after: Server | undefined,
    limit: number,
    addConditions: AddConditions = (rows) => rows,
  ) {
    const { store } = this.#core;
    const { indexed, sort } = this.#plan;
    const heads = indexed
      ? tables.servers.selectHeads(store, limit)
      : tables.servers.selectHeads({ ...store, db: this.#db }, undefined);
    const filteredQuery = applyFilters(heads, filters, store.kind, liveServersCondition(store.kind, filters, sort));
    return order.apply(addConditions(this.#excludeHidden(filteredQuery)), after).limit(limit);
  }

  #excludeHidden(rows: RowQuery): RowQuery {
    const { hidden } = this.#plan;
    if (hidden.length === 0) return rows;
    return rows.where((eb) => eb.or([eb('host', 'is', null), eb('host', 'not in', hidden)]));
  }

  #records(rows: Awaited<ReturnType<RowQuery['execute']>>): Promise<Page> {
    return tables.servers.read(this.#core.store, rows, 'second read');
  }

  async #applyPredicate(servers: Page): Promise<Page> {
    const predicate = this.#plan.residualFilter ?? (() => true);
    const matching: Server[] = [];
    let sliceStart = performance.now();
    for (const server of servers) {
      if (predicate(server)) matching.push(server);
      if (performance.now() - sliceStart > MAX_FILTER_SLICE_MS) sliceStart = await this.#pause(sliceStart);
    }
    await this.#pause(sliceStart);
    return matching;
  }

  /** Yields to the event loop, and throws 400 if the request has spent too much time on filtering. */
  async #pause(sliceStart: number): Promise<number> {
    this.#filteringMs += performance.now() - sliceStart;
    if (this.#filteringMs > MAX_FILTERING_MS) throw badRequest('Applying the filters to every server takes too long.');
    await yieldToEventLoop();
    return performance.now();
  }
}
