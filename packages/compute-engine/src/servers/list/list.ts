import { nextTurn, type RowQuery, type Session } from '@apistrata/record-store';
import { sql } from 'kysely';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest } from '../../errors/refusal.js';
import type { Server } from '../../model/index.js';
import type { HostMap } from '../../scheduler/infrastructure.js';
import { tables } from '../../schema/tables.js';
import {
  canMatch,
  narrow,
  partsOf,
  recordPredicate,
  type ServerFilters,
  type ServerPredicate,
} from './list-filters.js';
import { isIndexed, liveFor } from './list-indexes.js';
import { anyWaits, asksForNewest, type HeadOfPage, newestServers } from './list-newest.js';
import { PartSearch } from './list-parts.js';
import { serversAt } from './list-places.js';
import { ServerOrder, type ServerSort } from './list-sort.js';

/** Which servers, in which order, and how many. */
export interface ServerQuery {
  /** Everybody's, or those of the caller's project. */
  readonly allProjects?: boolean;
  readonly limit: number;
  /** Id of the last server of the page before. */
  readonly marker?: string;
  readonly filters?: ServerFilters;
  /** Default: newest first. */
  readonly sort?: readonly ServerSort[];
  /** Whether servers on hosts that cannot be reached are listed; default true. */
  readonly unreachable?: boolean;
}

type Narrow = (rows: RowQuery) => RowQuery;

/** Rows that are read, filtered and let go at once. */
const CHUNK_ROWS = 500;
/** For so long others wait at the most while rows are filtered. */
const TURN_MS = 4;
/** What one request may spend on filtering rows. */
const MOST_FILTERING_MS = 10_000;

/** Servers that no host was found for yet. */
const UNSCHEDULED = sql<boolean>`(vm_state = 'building' and task_state = 'scheduling')`;
const SCHEDULED = sql<boolean>`not (vm_state = 'building' and coalesce(task_state, '') = 'scheduling')`;

/**
 * A page of servers: those that wait for a host first, the others behind them, each in the order asked for. Without a
 * filter that only records can answer, the cost depends on the page, not on how many servers there are.
 * Throws 400 for a marker that is no server of the caller's.
 */
export async function listServers(core: Core, context: Context, query: ServerQuery): Promise<readonly Server[]> {
  const marker = query.marker === undefined ? undefined : await markerOf(core, context, query.marker);
  const filters: ServerFilters = {
    ...query.filters,
    ...(!query.allProjects && { projectId: context.caller.projectId }),
  };
  if (query.limit === 0 || !canMatch(filters)) return [];
  const hosts = await core.infrastructure.hosts();
  const hidden = query.unreachable === false ? [...hosts.unreachable] : [];
  const newest = hidden.length === 0 && asksForNewest(filters, query.sort);
  if (newest) {
    const rows = await newestServers(core.store, filters.projectId, marker, query.limit);
    const page = await unlessWaiting(core, rows, marker);
    if (page) return page;
  }
  const list = new Listing(core, hosts, query, filters, (rows) =>
    hidden.length === 0 ? rows : rows.where((eb) => eb.or([eb('host', 'is', null), eb('host', 'not in', hidden)])),
  );
  const page = newest ? undefined : await list.readUnlessWaiting(marker, query.limit);
  if (page) return page;
  const waiting = await anyUnscheduled(core, filters.projectId);
  if (!waiting) return list.read(marker, query.limit);
  const behindWaiting = marker !== undefined && !isUnscheduled(marker);
  const first = behindWaiting ? [] : await list.read(marker, query.limit, (rows) => rows.where(UNSCHEDULED));
  if (first.length === query.limit) return first;
  // One that found its host between the two reads must not be listed twice.
  const listed = first.map(({ seq }) => seq);
  const scheduled: Narrow = (rows) => {
    const behind = rows.where(SCHEDULED);
    return listed.length === 0 ? behind : behind.where('seq', 'not in', listed);
  };
  return [...first, ...(await list.read(behindWaiting ? marker : undefined, query.limit - first.length, scheduled))];
}

async function markerOf({ store }: Core, { caller, isAdmin }: Context, id: string): Promise<Server> {
  const server = id.includes('\0') ? undefined : await tables.servers.get(store, id);
  if (!server || (!isAdmin && server.projectId !== caller.projectId)) throw badRequest(`marker [${id}] not found`);
  return server;
}

function isUnscheduled({ vmState, taskState }: Server): boolean {
  return vmState === 'building' && taskState === 'scheduling';
}

/** The records of a page; undefined where servers wait for a host, so that they come first. */
function unlessWaiting(
  { store }: Core,
  rows: readonly HeadOfPage[],
  after: Server | undefined,
): Promise<readonly Server[] | undefined> | readonly Server[] | undefined {
  // Behind a marker there may be some in an order of their own.
  if (rows.length === 0) return after ? undefined : [];
  return rows[0]?.waits ? undefined : tables.servers.read(store, rows, 'if read again');
}

async function anyUnscheduled({ store }: Core, projectId: string | undefined): Promise<boolean> {
  const { waits } = await store.db.selectNoFrom(anyWaits(projectId).as('waits')).executeTakeFirstOrThrow();
  return Boolean(waits);
}

/** Reads servers in an order: by the database alone where it can, else in pieces, letting others work in between. */
class Listing {
  readonly #core: Core;
  readonly #sort: readonly ServerSort[];
  readonly #order: ServerOrder;
  /** In which servers are read that the database cannot sort: one that has an index. */
  readonly #reading: ServerOrder;
  readonly #predicate: ServerPredicate | undefined;
  readonly #parts: readonly ServerFilters[];
  readonly #visible: Narrow;
  readonly #search: PartSearch | undefined;
  /** Where rows are looked for: what may take long, where nobody waits for it. */
  readonly #reads: Session;
  readonly #projectId: string | undefined;
  #filteringMs = 0;

  constructor(core: Core, hosts: HostMap, { sort = [] }: ServerQuery, filters: ServerFilters, visible: Narrow) {
    const free = filters.changedSince !== undefined;
    this.#core = core;
    this.#sort = sort;
    this.#projectId = filters.projectId;
    const projectId = core.store.kind === 'postgres' ? filters.projectId : undefined;
    this.#order = new ServerOrder(sort, hosts, free, projectId);
    this.#reading = new ServerOrder([], hosts, free, projectId);
    this.#predicate = recordPredicate(filters, hosts);
    this.#visible = visible;
    // Only where it does not matter how databases compare texts.
    const numbers = sort.every(({ key }) => key === 'created_at');
    this.#parts = numbers ? partsOf(filters) : [filters];
    const indexed = this.#parts.every((part) => isIndexed(part, sort));
    this.#reads = indexed ? core.store : { ...core.store, db: core.store.longReads };
    const [only, ...several] = this.#parts;
    if (only && several.length === 0)
      this.#search = PartSearch.of(core.store, only, this.#order.inDatabase ? sort : []);
  }

  /**
   * A page that one question answers, which tells too whether servers wait for a host. Undefined where some do, so that
   * they come first, and where it takes more than that.
   */
  async readUnlessWaiting(after: Server | undefined, limit: number): Promise<readonly Server[] | undefined> {
    const { store } = this.#core;
    const [filters, ...others] = this.#parts;
    if (!filters || others.length > 0 || !this.#order.inDatabase || this.#predicate || this.#reads !== store)
      return undefined;
    const rows = await this.#rowsOf(filters, this.#order, after, limit)
      .select(anyWaits(this.#projectId).as('waits'))
      .execute();
    return unlessWaiting(this.#core, rows, after);
  }

  async read(after: Server | undefined, limit: number, part: Narrow = (rows) => rows): Promise<readonly Server[]> {
    const order = this.#order;
    if (!order.inDatabase) return this.#sorted(after, limit, part);
    if (!this.#predicate) return this.#find(order, after, limit, part);
    const page: Server[] = [];
    let last = after;
    for (;;) {
      const chunk = await this.#find(order, last, CHUNK_ROWS, part);
      for (const server of await this.#matching(chunk)) if (page.push(server) === limit) return page;
      if (chunk.length < CHUNK_ROWS) return page;
      last = chunk.at(-1);
    }
  }

  /** Every server that fits is read; the first ones behind `after` are kept. */
  async #sorted(after: Server | undefined, limit: number, part: Narrow): Promise<readonly Server[]> {
    let kept: Server[] = [];
    let last: Server | undefined;
    for (;;) {
      const chunk = await this.#find(this.#reading, last, CHUNK_ROWS, part);
      const behind = (await this.#matching(chunk)).filter((s) => !after || this.#order.compare(s, after) > 0);
      kept = [...kept, ...behind].sort((a, b) => this.#order.compare(a, b)).slice(0, limit);
      if (chunk.length < CHUNK_ROWS) return kept;
      last = chunk.at(-1);
    }
  }

  /** The first servers in an order, as far as the database can tell which fit. */
  async #find(order: ServerOrder, after: Server | undefined, limit: number, part: Narrow): Promise<readonly Server[]> {
    const found = await this.#search?.rows({ order, after, limit, among: (rows) => part(this.#visible(rows)) });
    if (found) return this.#records(found);
    const pages = this.#parts.map(async (filters) =>
      this.#records(await this.#fitting(filters, order, after, limit, part)),
    );
    const [page = [], ...others] = await Promise.all(pages);
    return others.length === 0
      ? page
      : [page, ...others]
          .flat()
          .sort((a, b) => order.compare(a, b))
          .slice(0, limit);
  }

  /** Where it may take long, rows that are only compared need not be read. */
  #fitting(filters: ServerFilters, order: ServerOrder, after: Server | undefined, limit: number, part: Narrow) {
    const { store } = this.#core;
    const rows = this.#rowsOf(filters, order, after, limit, part);
    if (store.kind === 'sqlite' || this.#reads === store) return rows.execute();
    const places = sql`${rows.clearSelect().select('seq')}`;
    return order.apply(serversAt(store.longReads, places), undefined).execute();
  }

  #rowsOf(
    filters: ServerFilters,
    order: ServerOrder,
    after: Server | undefined,
    limit: number,
    part: Narrow = (rows) => rows,
  ) {
    const { store } = this.#core;
    const heads = tables.servers.heads(this.#reads, this.#reads === store ? limit : undefined);
    const narrowed = narrow(heads, filters, store.kind, liveFor(store.kind, filters, this.#sort));
    return order.apply(part(this.#visible(narrowed)), after).limit(limit);
  }

  #records(rows: Awaited<ReturnType<RowQuery['execute']>>): Promise<readonly Server[]> {
    return tables.servers.read(this.#core.store, rows, 'if read again');
  }

  async #matching(servers: readonly Server[]): Promise<readonly Server[]> {
    const predicate = this.#predicate ?? (() => true);
    const fitting: Server[] = [];
    let turn = performance.now();
    for (const server of servers) {
      if (predicate(server)) fitting.push(server);
      if (performance.now() - turn > TURN_MS) turn = await this.#pause(turn);
    }
    await this.#pause(turn);
    return fitting;
  }

  /** Lets others work, and ends what would go on for too long. */
  async #pause(turn: number): Promise<number> {
    this.#filteringMs += performance.now() - turn;
    if (this.#filteringMs > MOST_FILTERING_MS)
      throw badRequest('The filters take too long to compare with every server.');
    await nextTurn();
    return performance.now();
  }
}
