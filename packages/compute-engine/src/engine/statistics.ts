import type { ReplicaState } from '@apistrata/record-store';
import type { Core } from '../core/core.js';
import { oldestOverdueJob } from '../jobs/jobs.js';
import type { VmState } from '../model/index.js';

/** Jobs that exist, in all processes of this database. */
export interface JobStatistics {
  readonly pending: number;
  /** How long the oldest job that nobody works on has been due, in milliseconds; 0 when there is none. */
  readonly overdueMs: number;
}

/** Rows that one question counts at the most where counting is done in this process: a few milliseconds. */
const COUNTED_AT_ONCE = 20_000;

/** What counting may take of the time: an answer is kept for so many times as long as it took. */
const SHARE = 50;

/** An answer is kept at least so long. */
const LEAST_KEPT_MS = 5_000;

type StatisticsCore = Pick<Core, 'store' | 'worker'>;
type ByState = Readonly<Partial<Record<VmState, number>>>;

/**
 * How much there is. Questions for dashboards, which ask every few seconds from several sides: answers are kept for some
 * seconds, longer the longer it took to find them, and finding them never holds up what is served.
 */
export class Statistics {
  readonly #core: StatisticsCore;
  #servers: { readonly answer: Promise<ByState>; keptUntil: number } | undefined;

  constructor(core: StatisticsCore) {
    this.#core = core;
  }

  /** Servers of all projects by `vm_state`, without those that are deleted. States that no server is in are left out. */
  servers(): Promise<ByState> {
    const known = this.#servers;
    if (known && performance.now() < known.keptUntil) return known.answer;
    const begunAt = performance.now();
    const counting = { answer: this.#countServers(), keptUntil: Number.POSITIVE_INFINITY };
    this.#servers = counting;
    const keep = () => {
      const now = performance.now();
      counting.keptUntil = now + Math.max(LEAST_KEPT_MS, SHARE * (now - begunAt));
    };
    counting.answer.then(keep, () => {
      if (this.#servers === counting) this.#servers = undefined;
    });
    return counting.answer;
  }

  async jobs(): Promise<JobStatistics> {
    const { store, worker } = this.#core;
    return { pending: await worker.pending(), overdueMs: await oldestOverdueJob(store, Date.now()) };
  }

  /** How the replicas of the database are that requests may be sent to; none without the option `databaseRead`. */
  async replicas(): Promise<readonly ReplicaState[]> {
    return (await this.#core.store.replicas?.states()) ?? [];
  }

  async #countServers(): Promise<ByState> {
    const states = await this.#states();
    const counts: Partial<Record<VmState, number>> = {};
    for (const state of states) counts[state] = await this.#countIn(state);
    return counts;
  }

  /** The states there are: one step through the index for each. */
  async #states(): Promise<readonly VmState[]> {
    const { db } = this.#core.store;
    const vmStates: VmState[] = [];
    for (let last = ''; ; ) {
      const next = await db
        .selectFrom('servers')
        .select('vm_state')
        .where('deleted', '=', 0)
        .where('vm_state', '>', last)
        .orderBy('vm_state')
        .limit(1)
        .executeTakeFirst();
      if (!next) return vmStates;
      vmStates.push((last = next.vm_state));
    }
  }

  /** Counts along the index. SQLite does so in this process: in pieces, with room for others in between. */
  async #countIn(state: VmState): Promise<number> {
    const { db, kind } = this.#core.store;
    const those = () => db.selectFrom('servers').where('deleted', '=', 0).where('vm_state', '=', state);
    let after: { readonly created_at: number; readonly seq: number } | undefined;
    const rest = () => {
      const last = after;
      if (!last) return those();
      return those().where(({ eb, refTuple, tuple }) =>
        eb(refTuple('created_at', 'seq'), '>', tuple(last.created_at, last.seq)),
      );
    };
    let counted = 0;
    while (kind === 'sqlite') {
      const page = rest().select(['created_at', 'seq']).orderBy('created_at').orderBy('seq');
      const mark = await page
        .limit(1)
        .offset(COUNTED_AT_ONCE - 1)
        .executeTakeFirst();
      if (!mark) break;
      counted += COUNTED_AT_ONCE;
      after = { created_at: Number(mark.created_at), seq: Number(mark.seq) };
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { n } = await rest()
      .select(({ fn }) => fn.countAll().as('n'))
      .executeTakeFirstOrThrow();
    return counted + Number(n);
  }
}
