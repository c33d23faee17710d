import { type ReplicaState, yieldToEventLoop } from '@apistrata/record-store';
import type { Core } from '../core/core.js';
import { ComputerReader } from '../hosts/computer-figures.js';
import { GuestReader, type GuestStatistics } from '../hosts/guest-statistics.js';
import type { HostFigures, HostStatistics } from '../hosts/host-figures.js';
import { oldestOverdueMs } from '../jobs/jobs.js';
import type { VmState } from '../model/index.js';
import type { DriverWatches } from './driver-watches.js';

/** Figures about the jobs of all processes that share the database. */
export interface JobStatistics {
  readonly pending: number;
  /** How long the oldest due job has been waiting for a worker, in milliseconds; 0 if no job is due. */
  readonly overdueMs: number;
}

/** Maximum number of rows that one query counts on SQLite. Such a query blocks this process for a few milliseconds. */
const COUNT_BATCH_ROWS = 20_000;

/**
 * Limits the share of time spent on counting: a result is cached for the duration of its query multiplied by this
 * factor.
 */
const CACHE_DURATION_FACTOR = 50;

/** Minimum time for which a result is cached. */
const MIN_CACHE_MS = 5_000;

type StatisticsCore = Pick<Core, 'store' | 'worker' | 'driver'>;
type ServerCounts = Readonly<Partial<Record<VmState, number>>>;

/**
 * Counts of records for dashboards. Several dashboards may poll every few seconds, so results are cached for a few
 * seconds, or longer if they took longer to compute. Computing them never blocks requests.
 */
export class Statistics implements HostStatistics {
  readonly #core: StatisticsCore;
  readonly #watches: Pick<DriverWatches, 'latest'>;
  readonly #guests: GuestReader;
  readonly #computer = new ComputerReader();
  #servers: { readonly count: Promise<ServerCounts>; retainedUntil: number } | undefined;

  constructor(core: StatisticsCore, watches: Pick<DriverWatches, 'latest'>) {
    this.#core = core;
    this.#watches = watches;
    this.#guests = new GuestReader(core);
  }

  /** Counts the servers of all projects by `vm_state`, without deleted ones. States without servers are omitted. */
  servers(): Promise<ServerCounts> {
    const cachedCount = this.#servers;
    if (cachedCount && performance.now() < cachedCount.retainedUntil) return cachedCount.count;
    const startedAt = performance.now();
    const pendingCount = { count: this.#countServers(), retainedUntil: Number.POSITIVE_INFINITY };
    this.#servers = pendingCount;
    const cacheResult = () => {
      const now = performance.now();
      pendingCount.retainedUntil = now + Math.max(MIN_CACHE_MS, CACHE_DURATION_FACTOR * (now - startedAt));
    };
    pendingCount.count.then(cacheResult, () => {
      if (this.#servers === pendingCount) this.#servers = undefined;
    });
    return pendingCount.count;
  }

  /** Returns figures about the jobs of all processes. */
  async jobs(): Promise<JobStatistics> {
    const { store, worker } = this.#core;
    return { pending: await worker.pending(), overdueMs: await oldestOverdueMs(store, Date.now()) };
  }

  /**
   * Returns figures about the guests that this process's driver runs, not about guests on other hosts. Takes at most
   * two seconds; for machines that do not respond in that time, only their number is returned. Concurrent callers share
   * one round of queries.
   */
  guests(): Promise<GuestStatistics> {
    return this.#guests.read();
  }

  /**
   * Returns figures about the host whose machines this process's driver runs. Undefined for drivers that do not report
   * on their computer, such as the simulated one, and in processes without a worker. If several hosts share the
   * computer, the figures contain the name of the first host.
   */
  async host(): Promise<HostFigures | undefined> {
    const { hosts, report } = this.#watches.latest();
    const [name] = hosts;
    return name === undefined ? undefined : { name, computer: await this.#computer.read(), report, process: undefined };
  }

  /** Returns the states of the replicas; an empty list without the option `databaseRead`. */
  async replicas(): Promise<readonly ReplicaState[]> {
    return (await this.#core.store.replicas?.states()) ?? [];
  }

  async #countServers(): Promise<ServerCounts> {
    const states = await this.#states();
    const counts: Partial<Record<VmState, number>> = {};
    for (const state of states) counts[state] = await this.#countServersInState(state);
    return counts;
  }

  /** Finds the distinct states with one index seek per state. */
  async #states(): Promise<readonly VmState[]> {
    const { db } = this.#core.store;
    const vmStates: VmState[] = [];
    for (let last = ''; ; ) {
      const nextState = await db
        .selectFrom('servers')
        .select('vm_state')
        .where('deleted', '=', 0)
        .where('vm_state', '>', last)
        .orderBy('vm_state')
        .limit(1)
        .executeTakeFirst();
      if (!nextState) return vmStates;
      vmStates.push((last = nextState.vm_state));
    }
  }

  /**
   * Counts the servers in a state, in index order. SQLite runs in this process, so rows are counted in batches,
   * yielding to the event loop after each batch.
   */
  async #countServersInState(state: VmState): Promise<number> {
    const { db, kind } = this.#core.store;
    const serversInState = () => db.selectFrom('servers').where('deleted', '=', 0).where('vm_state', '=', state);
    let after: { readonly created_at: number; readonly seq: number } | undefined;
    const remainingServers = () => {
      const last = after;
      if (!last) return serversInState();
      return serversInState().where(({ eb, refTuple, tuple }) =>
        eb(refTuple('created_at', 'seq'), '>', tuple(last.created_at, last.seq)),
      );
    };
    let counted = 0;
    while (kind === 'sqlite') {
      const page = remainingServers().select(['created_at', 'seq']).orderBy('created_at').orderBy('seq');
      const batchEnd = await page
        .limit(1)
        .offset(COUNT_BATCH_ROWS - 1)
        .executeTakeFirst();
      if (!batchEnd) break;
      counted += COUNT_BATCH_ROWS;
      after = { created_at: Number(batchEnd.created_at), seq: Number(batchEnd.seq) };
      await yieldToEventLoop();
    }
    const { n } = await remainingServers()
      .select(({ fn }) => fn.countAll().as('n'))
      .executeTakeFirstOrThrow();
    return counted + Number(n);
  }
}
