import { CompiledQuery, sql } from 'kysely';
import type { Context } from '../../context.js';
import type { Core } from '../../core.js';
import { badRequest } from '../../errors.js';
import type { Server } from '../../model/index.js';
import type { HostMap } from '../../scheduler/infrastructure.js';
import type { Session } from '../../store/database.js';
import type { RowQuery } from '../../store/document-table.js';
import { tables } from '../../store/tables.js';
import { nextTurn } from '../../store/turns.js';
import {
  canMatch,
  narrow,
  partsOf,
  recordPredicate,
  type ServerFilters,
  type ServerPredicate,
} from './list-filters.js';
import { isIndexed } from './list-indexes.js';
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
  const list = new Listing(core, hosts, query, filters, (rows) =>
    hidden.length === 0 ? rows : rows.where((eb) => eb.or([eb('host', 'is', null), eb('host', 'not in', hidden)])),
  );
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

const ANY_UNSCHEDULED = `select 1 from servers where deleted = 0 and vm_state = 'building' and task_state = 'scheduling'`;

/** Almost always there is none, and one look into an index tells. Part of every list, so its text is ready. */
async function anyUnscheduled({ store }: Core, projectId: string | undefined): Promise<boolean> {
  const ofProject = projectId === undefined ? '' : ` and project_id = ${store.kind === 'postgres' ? '$1' : '?'}`;
  const query = CompiledQuery.raw(`${ANY_UNSCHEDULED}${ofProject} limit 1`, projectId === undefined ? [] : [projectId]);
  return (await store.db.executeQuery(query)).rows.length > 0;
}

/** Reads servers in an order: by the database alone where it can, else in pieces, letting others work in between. */
class Listing {
  readonly #core: Core;
  readonly #order: ServerOrder;
  /** In which servers are read that the database cannot sort: one that has an index. */
  readonly #reading: ServerOrder;
  readonly #predicate: ServerPredicate | undefined;
  readonly #parts: readonly ServerFilters[];
  readonly #visible: Narrow;
  /** Where rows are looked for: what may take long, where nobody waits for it. */
  readonly #reads: Session;
  #filteringMs = 0;

  constructor(core: Core, hosts: HostMap, query: ServerQuery, filters: ServerFilters, visible: Narrow) {
    const free = filters.changedSince !== undefined;
    this.#core = core;
    const projectId = core.store.kind === 'postgres' ? filters.projectId : undefined;
    this.#order = new ServerOrder(query.sort ?? [], hosts, free, projectId);
    this.#reading = new ServerOrder([], hosts, free, projectId);
    this.#predicate = recordPredicate(filters, hosts);
    this.#visible = visible;
    // Only where it does not matter how databases compare texts.
    const numbers = (query.sort ?? []).every(({ key }) => key === 'created_at');
    this.#parts = numbers ? partsOf(filters) : [filters];
    const indexed = this.#parts.every((part) => isIndexed(part, query.sort ?? []));
    this.#reads = indexed ? core.store : { ...core.store, db: core.store.longReads };
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
    const { kind } = this.#core.store;
    const pages = this.#parts.map((filters) =>
      tables.servers.find(
        this.#core.store,
        (rows) => order.apply(part(this.#visible(narrow(rows, filters, kind))), after).limit(limit),
        this.#reads,
      ),
    );
    const [page = [], ...others] = await Promise.all(pages);
    return others.length === 0
      ? page
      : [page, ...others]
          .flat()
          .sort((a, b) => order.compare(a, b))
          .slice(0, limit);
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
