import { type Context, ownWork } from '../core/context.js';
import type { Core } from '../core/core.js';
import type { Server, VmState } from '../model/index.js';
import { LIVE, tables } from '../schema/tables.js';
import type { Servers } from '../servers/servers.js';

/** What is done with servers that were put aside for long enough. */
interface PeriodicTask {
  readonly vmState: VmState;
  /** How long they are kept; not above 0: this task rests. */
  readonly seconds: number;
  readonly act: (context: Context, server: Server) => Promise<unknown>;
}

/** How often it is looked for them at the most, and how many are dealt with at once. */
const LONGEST_PAUSE_MS = 60_000;
const BATCH = 100;

/**
 * Ends what owners left: soft-deleted servers whose time to be restored is over, and shelved ones that keep their host
 * for too long. Several processes may look at once; the rules of the action let only one of them act.
 */
export class Housekeeping {
  readonly #core: Core;
  readonly #tasks: readonly PeriodicTask[];
  readonly #stopping = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(core: Core, servers: Servers) {
    this.#core = core;
    const { reclaimSeconds, shelvedOffloadSeconds } = core.settings;
    const all: readonly PeriodicTask[] = [
      {
        vmState: 'soft-delete',
        seconds: reclaimSeconds,
        act: (context, { id }) => servers.act(context, id, 'forceDelete'),
      },
      {
        vmState: 'shelved',
        seconds: shelvedOffloadSeconds,
        act: (context, { id }) => servers.act(context, id, 'shelveOffload'),
      },
    ];
    this.#tasks = all.filter(({ seconds }) => seconds > 0);
  }

  /** Looks again and again, if there is anything to look for. */
  start(onError: (error: unknown) => void): void {
    if (this.#tasks.length > 0) this.#ended = this.#repeat(onError);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  /** Looks once. What is found is done in the background. */
  async run(): Promise<void> {
    for (const task of this.#tasks) for (const server of await this.#due(task)) await this.#do(task, server);
  }

  async #repeat(onError: (error: unknown) => void): Promise<void> {
    const pause = Math.min(LONGEST_PAUSE_MS, ...this.#tasks.map(({ seconds }) => seconds * 1000));
    const { signal } = this.#stopping;
    for (;;) {
      await this.#core.clock.sleep(pause, signal).catch(() => {});
      if (signal.aborted) return;
      await this.run().catch(onError);
    }
  }

  async #due({ vmState, seconds }: PeriodicTask): Promise<readonly Server[]> {
    const before = this.#core.clock.now() - seconds * 1000;
    const aside = await tables.servers.find(this.#core.store, (q) =>
      q.where(LIVE).where('vm_state', '=', vmState).where('task_state', 'is', null).orderBy('seq'),
    );
    return aside.filter(({ setAsideAt }) => setAsideAt !== null && setAsideAt <= before).slice(0, BATCH);
  }

  /** Somebody else may have been faster: then there is nothing left to do. */
  async #do(task: PeriodicTask, server: Server): Promise<void> {
    const current = await tables.servers.get(this.#core.store, server.id);
    if (current?.vmState !== task.vmState || current.deleted || current.taskState !== null) return;
    await task.act(ownWork(server), server).catch((error) => {
      if (error?.status === undefined) throw error;
    });
  }
}
