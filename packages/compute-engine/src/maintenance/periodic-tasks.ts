import { backgroundContext, type Context } from '../core/context.js';
import type { Core } from '../core/core.js';
import type { Server, VmState } from '../model/index.js';
import { LIVE_SERVERS, tables } from '../schema/tables.js';
import type { Servers } from '../servers/servers.js';

/** A periodic action on servers. */
interface PeriodicTask {
  readonly vmState: VmState;
  /** Number of seconds for which servers are kept; 0 or less disables the task. */
  readonly retentionSeconds: number;
  readonly act: (context: Context, server: Server) => Promise<unknown>;
}

/** Maximum interval between runs. */
const MAX_INTERVAL_MS = 60_000;

/** Maximum number of servers per task and run. */
const BATCH_SIZE = 100;

/**
 * Deletes soft-deleted servers whose restore period has ended, and offloads shelved servers that have been on their
 * host for too long. Several processes may run these tasks concurrently; the preconditions of the actions allow only
 * one process to act on a server.
 */
export class PeriodicTasks {
  readonly #core: Core;
  readonly #tasks: readonly PeriodicTask[];
  readonly #stopping = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(core: Core, servers: Servers) {
    this.#core = core;
    const { reclaimSeconds, shelvedOffloadSeconds } = core.settings;
    const allTasks: readonly PeriodicTask[] = [
      {
        vmState: 'soft-delete',
        retentionSeconds: reclaimSeconds,
        act: (context, { id }) => servers.act(context, id, 'forceDelete'),
      },
      {
        vmState: 'shelved',
        retentionSeconds: shelvedOffloadSeconds,
        act: (context, { id }) => servers.act(context, id, 'shelveOffload'),
      },
    ];
    this.#tasks = allTasks.filter(({ retentionSeconds }) => retentionSeconds > 0);
  }

  /** Starts periodic runs, if any task is enabled. */
  start(onError: (error: unknown) => void): void {
    if (this.#tasks.length > 0) this.#ended = this.#repeat(onError);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  /** Runs each task once. The servers that a task finds are changed in the background. */
  async run(): Promise<void> {
    for (const task of this.#tasks)
      for (const server of await this.#findDueServers(task)) await this.#act(task, server);
  }

  async #repeat(onError: (error: unknown) => void): Promise<void> {
    const intervalMs = Math.min(MAX_INTERVAL_MS, ...this.#tasks.map(({ retentionSeconds }) => retentionSeconds * 1000));
    const { signal } = this.#stopping;
    for (;;) {
      await this.#core.clock.sleep(intervalMs, signal).catch(() => {});
      if (signal.aborted) return;
      await this.run().catch(onError);
    }
  }

  async #findDueServers({ vmState, retentionSeconds }: PeriodicTask): Promise<readonly Server[]> {
    const setAsideBefore = this.#core.clock.now() - retentionSeconds * 1000;
    const candidates = await tables.servers.find(this.#core.store, (q) =>
      q.where(LIVE_SERVERS).where('vm_state', '=', vmState).where('task_state', 'is', null).orderBy('seq'),
    );
    return candidates
      .filter(({ setAsideAt }) => setAsideAt !== null && setAsideAt <= setAsideBefore)
      .slice(0, BATCH_SIZE);
  }

  /** Acts on a server, unless another process has already done so. */
  async #act(task: PeriodicTask, server: Server): Promise<void> {
    const currentServer = await tables.servers.get(this.#core.store, server.id);
    if (currentServer?.vmState !== task.vmState || currentServer.deleted || currentServer.taskState !== null) return;
    await task.act(backgroundContext(server), server).catch((error) => {
      if (error?.status === undefined) throw error;
    });
  }
}
