import type { Core } from '../core.js';
import { closeEvents, dropOpenEvents } from '../history/actions.js';
import type { Job } from '../lifecycle/jobs.js';
import { WorkerStopping } from '../lifecycle/worker.js';
import { tables } from '../store/tables.js';
import { buildTask } from './build.js';
import { deleteTask, forceDeleteTask, softDeleteTask } from './delete.js';
import { cancelTask, forceCompleteTask, liveMigrationTask } from './live-migration.js';
import { changePasswordTask, resetStateTask } from './plain.js';
import { powerTasks } from './power.js';
import { evacuateTask, rebuildTask } from './rebuild.js';
import { rescueTask } from './rescue.js';
import { confirmResizeTask, migrateTask, resizeTask, revertResizeTask } from './resize.js';
import { shelveOffloadTask, shelveTask, unshelveTask } from './shelve.js';
import { SideRunner } from './side-runner.js';
import { sideTasks } from './side-tasks.js';
import { createBackupTask, createImageTask } from './snapshot.js';
import { failTask, type Task } from './task.js';
import { Superseded, TaskRun } from './task-run.js';

const all: readonly Task[] = [
  buildTask,
  deleteTask,
  forceDeleteTask,
  softDeleteTask,
  ...powerTasks,
  rescueTask,
  rebuildTask,
  evacuateTask,
  resizeTask,
  migrateTask,
  confirmResizeTask,
  revertResizeTask,
  liveMigrationTask,
  forceCompleteTask,
  cancelTask,
  createImageTask,
  createBackupTask,
  shelveTask,
  shelveOffloadTask,
  unshelveTask,
  changePasswordTask,
  resetStateTask,
];

const byAction = new Map<string, Task>(all.map((task) => [task.action, task]));

/** A job that was begun so often without ending is failed instead of tried again. */
const MOST_ATTEMPTS = 5;

/** Another job has the server now: what this one began and did not end is no longer under way. */
async function abandon(task: Task, run: TaskRun): Promise<void> {
  const result = (await task.abandoned?.(run)) ?? 'Error';
  const { core, server, context } = run;
  await closeEvents(core.store, server.id, context.requestId, result, core.clock.now());
}

/** How often a job that takes its time looks whether another process has taken its server over. */
const WATCH_MS = 1000;

/** Within one process a newer job ends the older one itself; elsewhere the older one has to notice. */
function watchOwner(core: Core, job: Job, serverId: string, superseded: AbortController): NodeJS.Timeout | undefined {
  if (core.store.kind === 'sqlite') return undefined;
  const look = async () => {
    const server = await tables.servers.get(core.store, serverId);
    if (server?.jobId !== job.id) superseded.abort(new Superseded(`${serverId} belongs to another job`));
  };
  // A database that is away is noticed by the job itself.
  return setInterval(() => look().catch(() => {}), WATCH_MS).unref();
}

/** Runs the jobs that act on servers: one hold on a server at a time, the newest winning. */
export class TaskRunner {
  readonly #core: () => Core;
  readonly #running = new Map<string, AbortController>();
  readonly #side = new SideRunner();

  constructor(core: () => Core) {
    this.#core = core;
  }

  async run(job: Job, stopping: AbortSignal): Promise<void> {
    const beside = sideTasks.get(job.kind);
    if (beside) return this.#side.run(this.#core(), beside, job, stopping, MOST_ATTEMPTS);
    const task = byAction.get(job.kind);
    if (!task) throw new Error(`no task is defined for jobs of kind ${job.kind}`);
    const core = this.#core();
    const server = await tables.servers.get(core.store, job.serverId!);
    if (!server) return;
    if (server.jobId !== job.id) return abandon(task, new TaskRun(core, job, server, stopping));
    const superseded = new AbortController();
    this.#running.get(server.id)?.abort(new Superseded(`${server.id} belongs to another job`));
    this.#running.set(server.id, superseded);
    if (server.taskState === 'deleting') this.#side.end(server.id);
    const run = new TaskRun(core, job, server, AbortSignal.any([stopping, superseded.signal]));
    const watch = watchOwner(core, job, server.id, superseded);
    try {
      await this.#attempt(task, run);
    } catch (error) {
      if (!(error instanceof Superseded)) throw error;
      await abandon(task, run);
    } finally {
      clearInterval(watch);
      if (this.#running.get(server.id) === superseded) this.#running.delete(server.id);
    }
  }

  async #attempt(task: Task, run: TaskRun): Promise<void> {
    const { core, server, context } = run;
    try {
      if (run.job.attempts > 1) await dropOpenEvents(core.store, server.id, context.requestId);
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
