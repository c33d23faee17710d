import type { Core } from '../core.js';
import { closeEvents, dropOpenEvents } from '../history/actions.js';
import type { Job } from '../lifecycle/jobs.js';
import { WorkerStopping } from '../lifecycle/worker.js';
import { tables } from '../store/tables.js';
import { SideRun, type SideTask } from './side-run.js';
import { faultOf } from './task.js';
import { Superseded } from './task-run.js';

/** Runs the jobs that work beside a server's own one: any number of them at once. */
export class SideRunner {
  readonly #running = new Map<string, Set<AbortController>>();

  /** Tells those of a server in this process to end: it is being deleted, and they shall not hold on to it. */
  end(serverId: string): void {
    for (const running of this.#running.get(serverId) ?? [])
      running.abort(new Superseded(`${serverId} is being deleted`));
  }

  async run(core: Core, task: SideTask, job: Job, stopping: AbortSignal, mostAttempts: number): Promise<void> {
    const server = await tables.servers.get(core.store, job.serverId!);
    if (!server) return;
    // Another process may have the key. Where none has, nobody can say what was to be done or undone.
    if (job.unreadable && job.attempts < mostAttempts) throw job.unreadable;
    const ending = new AbortController();
    const known = this.#running.get(server.id) ?? new Set();
    this.#running.set(server.id, known.add(ending));
    const run = new SideRun(core, job, server, AbortSignal.any([stopping, ending.signal]));
    try {
      if (job.unreadable) throw job.unreadable;
      if (server.deleted) throw new Superseded(`${server.id} is deleted`);
      if (job.attempts > 1) await dropOpenEvents(core.store, server.id, run.context.requestId);
      if (job.attempts > mostAttempts) throw new Error(`gave up after ${mostAttempts} attempts`);
      await task.run(run);
    } catch (error) {
      if (error instanceof WorkerStopping) throw error;
      if (stopping.aborted) throw stopping.reason;
      if (!job.unreadable) await task.undo(run);
      if (!(error instanceof Superseded || ending.signal.aborted)) await this.#fail(run, error as Error);
      await closeEvents(core.store, server.id, run.context.requestId, 'Error', core.clock.now());
    } finally {
      known.delete(ending);
      if (known.size === 0) this.#running.delete(server.id);
    }
  }

  /** The failure is in the history and on the server, which is otherwise as it was. */
  async #fail(run: SideRun, error: Error): Promise<void> {
    try {
      await run.finish({ fault: faultOf(error, run.core.clock.now()) });
    } catch (cause) {
      if (!(cause instanceof Superseded)) throw cause;
    }
  }
}
