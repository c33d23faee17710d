import type { Core } from '../core.js';
import { closeEvents, dropOpenEvents } from '../history/actions.js';
import type { Job } from '../lifecycle/jobs.js';
import { WorkerStopping } from '../lifecycle/worker.js';
import { DatabaseUnavailable, databaseError } from '../store/database-unavailable.js';
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
import { failTask, giveUp, type Task } from './task.js';
import { Superseded, TaskRun } from './task-run.js';
import { unfinishedCreate } from './unfinished-create.js';

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

/** Work on what belongs to no server. It is tried until it is done: nobody else could be told of it. */
const cleanups = new Map([unfinishedCreate].map((cleanup) => [cleanup.kind, cleanup]));

/** A job that was begun so often without ending is failed instead of tried again, and its server is in error. */
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

/** Processes died, or a catalog was away, each time that the job was tried. */
async function tooOften(attempts: number): Promise<never> {
  throw new Error(`gave up after ${attempts} attempts`);
}

/** Trouble of the database says nothing of the work: it is tried again. */
function isPassing(error: unknown): boolean {
  return databaseError(error) instanceof DatabaseUnavailable;
}

/** Another process may know what this one does not: a kind of job of a newer version, or the key of what is sealed. */
async function leaveToOthers(run: TaskRun, error: Error): Promise<void> {
  const { core, server, context, job } = run;
  if (job.attempts < MOST_ATTEMPTS) throw error;
  if (server.jobId === job.id) await giveUp(run, error);
  else await closeEvents(core.store, server.id, context.requestId, 'Error', core.clock.now());
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
    const core = this.#core();
    const cleanup = cleanups.get(job.kind);
    if (cleanup && job.unreadable) throw job.unreadable;
    if (cleanup) return cleanup.run(core, job);
    const server = await tables.servers.get(core.store, job.serverId!);
    if (!server) return;
    const task = byAction.get(job.kind);
    const unable = task ? job.unreadable : new Error(`no task is defined for jobs of kind ${job.kind}`);
    if (!task || unable) return leaveToOthers(new TaskRun(core, job, server, stopping), unable!);
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
      if (run.job.attempts > MOST_ATTEMPTS) await run.step('compute_retry_task', () => tooOften(MOST_ATTEMPTS));
      await task.run(run);
    } catch (error) {
      if (error instanceof Superseded || error instanceof WorkerStopping) throw error;
      if (run.signal.aborted) throw run.signal.reason;
      if (isPassing(error) && run.job.attempts < MOST_ATTEMPTS) throw error;
      await this.#fail(task, run, error as Error);
    }
  }
  /** Ends a task that failed. Where even that keeps failing, the server is in error, and its deletion clears up. */
  async #fail(task: Task, run: TaskRun, error: Error): Promise<void> {
    try {
      if (task.fail) await task.fail(run, error);
      else await failTask(run, task.action, error);
    } catch (cause) {
      if (cause instanceof Superseded || run.job.attempts < MOST_ATTEMPTS) throw cause;
      await giveUp(run, cause as Error);
    }
  }
}
