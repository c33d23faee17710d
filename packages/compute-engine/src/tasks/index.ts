import type { Core } from '../core.js';
import type { Job } from '../lifecycle/jobs.js';
import { WorkerStopping } from '../lifecycle/worker.js';
import { tables } from '../store/tables.js';
import { buildTask } from './build.js';
import { deleteTask, forceDeleteTask, softDeleteTask } from './delete.js';
import { powerTasks } from './power.js';
import { failTask, type Task } from './task.js';
import { Superseded, TaskRun } from './task-run.js';

const all: readonly Task[] = [buildTask, deleteTask, forceDeleteTask, softDeleteTask, ...powerTasks];

const byAction = new Map<string, Task>(all.map((task) => [task.action, task]));

/** A job that was begun so often without ending is failed instead of tried again. */
const MOST_ATTEMPTS = 5;

/** Runs the jobs that act on servers: one hold on a server at a time, the newest winning. */
export class TaskRunner {
  readonly #core: () => Core;
  readonly #running = new Map<string, AbortController>();

  constructor(core: () => Core) {
    this.#core = core;
  }

  async run(job: Job, stopping: AbortSignal): Promise<void> {
    const task = byAction.get(job.kind);
    if (!task) throw new Error(`no task is defined for jobs of kind ${job.kind}`);
    const core = this.#core();
    const server = await tables.servers.get(core.store, job.serverId!);
    if (!server || server.jobId !== job.id) return;
    const superseded = new AbortController();
    this.#running.get(server.id)?.abort(new Superseded(`${server.id} belongs to another job`));
    this.#running.set(server.id, superseded);
    try {
      await this.#attempt(task, new TaskRun(core, job, server, AbortSignal.any([stopping, superseded.signal])));
    } catch (error) {
      if (!(error instanceof Superseded)) throw error;
    } finally {
      if (this.#running.get(server.id) === superseded) this.#running.delete(server.id);
    }
  }

  async #attempt(task: Task, run: TaskRun): Promise<void> {
    try {
      if (run.job.attempts > MOST_ATTEMPTS) throw new Error(`gave up after ${MOST_ATTEMPTS} attempts`);
      await task.run(run);
    } catch (error) {
      if (error instanceof Superseded || error instanceof WorkerStopping) throw error;
      if (run.signal.aborted) throw run.signal.reason;
      if (task.fail) await task.fail(run, error as Error);
      else await failTask(run, task.action, error as Error);
    }
  }
}
