import { isOutage } from '@apistrata/record-store/errors';
import type { Core } from '../../core/core.js';
import { attemptOf } from '../../jobs/attempt-of.js';
import type { Job } from '../../jobs/jobs.js';
import { LeaseLost, WorkerStopping } from '../../jobs/worker.js';
import type { Server } from '../../model/index.js';
import type { JobOutcome } from '../../observation/observer.js';
import { tables } from '../../schema/tables.js';
import { closeEvents, dropOpenEvents } from '../../servers/action-history/actions.js';
import type { Action, AnyAction, ConcurrentAction } from './action.js';
import type { Cleanup } from './cleanup.js';
import { ConcurrentRun } from './concurrent-run.js';
import { failRun, faultOf, giveUp } from './fail-run.js';
import { ServerRun } from './server-run.js';
import { ifStillThere, Superseded } from './superseded.js';

type ExclusiveAction = Action<string, any, any, any>;
type BesideAction = ConcurrentAction<string, any, any, any>;

/** A job that was begun so often without ending is failed instead of tried again, and its server is in error. */
const MOST_ATTEMPTS = 5;

/** How often a job that takes its time looks whether another process has taken its server over. */
const WATCH_MS = 1000;

/** Processes died, or a catalog was away, each time that the job was tried. */
const tooOften = () => new Error(`gave up after ${MOST_ATTEMPTS} attempts`);

/** Another process may know what this one does not: a kind of job of a newer version, or the key of what is sealed. */
async function leaveToOthers(run: ServerRun, error: Error): Promise<JobOutcome> {
  const { core, server, context, job } = run;
  if (job.attempts < MOST_ATTEMPTS) throw error;
  if (server.jobId === job.id) await giveUp(run, error);
  else await closeEvents(core.store, server.id, context.requestId, 'Error', core.clock.now());
  return 'failed';
}

/** The server of a job. What was written with the job will do: each write of the work looks again. */
async function serverOf(core: Core, job: Job, id: string): Promise<Server | undefined> {
  const written = tables.servers.remembered(core.store, id);
  const server = written?.jobId === job.id ? written : await tables.servers.get(core.store, id);
  return job.attempts > 1 && server?.jobId === job.id ? takeOver(core, job, id) : server;
}

/** Makes an attempt of a job the one that may write to its server: from now on those before it may not. */
function takeOver({ store }: Core, job: Job, id: string): Promise<Server | undefined> {
  return store.transaction(async (tx) => {
    const server = await tables.servers.lock(tx, id);
    if (server?.jobId !== job.id || attemptOf(server) === job.attempts) return server;
    if (attemptOf(server) > job.attempts) throw new LeaseLost(job.id);
    return tables.servers.update(tx, { ...server, jobAttempt: job.attempts });
  });
}

/** Another job has the server now: what this one began and did not end is no longer under way. */
async function abandon(action: ExclusiveAction, run: ServerRun): Promise<JobOutcome> {
  await run.core.worker.keep(run.job.id);
  const result = (await action.abandoned?.(run)) ?? 'Error';
  const { core, server, context } = run;
  await closeEvents(core.store, server.id, context.requestId, result, core.clock.now());
  return 'superseded';
}

/** Within one process a newer job ends the older one itself; elsewhere the older one has to notice. */
function watchOwner(core: Core, job: Job, serverId: string, superseded: AbortController): NodeJS.Timeout | undefined {
  if (core.store.kind === 'sqlite') return undefined;
  const look = async () => {
    const server = await tables.servers.get(core.store, serverId);
    if (server?.jobId !== job.id) superseded.abort(new Superseded(`${serverId} belongs to another job`));
    else if (attemptOf(server) !== job.attempts) superseded.abort(new LeaseLost(job.id));
  };
  // A database that is away is noticed by the job itself.
  return setInterval(() => look().catch(() => {}), WATCH_MS).unref();
}

/** A running job that owns its server. */
interface Owner {
  /** Position among all jobs that have begun here. */
  readonly position: number;
  readonly superseded: AbortController;
}

/**
 * Does the work of actions. One job at a time has a server to itself, the newest winning; any number of concurrent ones
 * work beside it.
 */
export class ActionRunner {
  readonly #core: () => Core;
  readonly #actions: ReadonlyMap<string, AnyAction>;
  readonly #cleanups: ReadonlyMap<string, Cleanup>;
  /** The job that owns a server, by the server. */
  readonly #exclusive = new Map<string, Owner>();
  /** How many jobs have begun. */
  #begun = 0;
  readonly #concurrent = new Map<string, Set<AbortController>>();

  constructor(core: () => Core, actions: ReadonlyMap<string, AnyAction>, cleanups: ReadonlyMap<string, Cleanup>) {
    this.#core = core;
    this.#actions = actions;
    this.#cleanups = cleanups;
  }

  /** Throws what leaves the job for another try. */
  async run(job: Job, stopping: AbortSignal): Promise<JobOutcome> {
    const core = this.#core();
    const position = ++this.#begun;
    const cleanup = this.#cleanups.get(job.kind);
    if (cleanup && job.unreadable) throw job.unreadable;
    if (cleanup) return cleanup.run(core, job).then(() => 'done');
    const server = job.serverId === null ? undefined : await serverOf(core, job, job.serverId);
    if (!server) return 'superseded';
    const action = this.#actions.get(job.kind);
    const unknown = () => new Error(`no action is defined for jobs of kind ${job.kind}`);
    if (!action) return leaveToOthers(new ServerRun(core, job, server, stopping, null), unknown());
    if (action.concurrent) return this.#runBeside(core, action, job, server, stopping);
    return this.#runExclusively(core, action, job, server, stopping, position);
  }

  async #runExclusively(
    core: Core,
    action: ExclusiveAction,
    job: Job,
    server: Server,
    stopping: AbortSignal,
    position: number,
  ): Promise<JobOutcome> {
    if (job.unreadable) return leaveToOthers(new ServerRun(core, job, server, stopping, action), job.unreadable);
    // A job that began after this one read the server, and owns it, is the newer one: its request came later.
    const owner = this.#exclusive.get(server.id);
    if (server.jobId !== job.id || (owner && owner.position > position))
      return abandon(action, new ServerRun(core, job, server, stopping, action));
    const superseded = new AbortController();
    owner?.superseded.abort(new Superseded(`${server.id} belongs to another job`));
    this.#exclusive.set(server.id, { position, superseded });
    if (server.taskState === 'deleting') this.#endConcurrent(server.id);
    const run = new ServerRun<any>(core, job, server, AbortSignal.any([stopping, superseded.signal]), action);
    const watch = watchOwner(core, job, server.id, superseded);
    try {
      return await this.#attempt(action, run);
    } catch (error) {
      if (!(error instanceof Superseded)) throw error;
      return await abandon(action, run);
    } finally {
      clearInterval(watch);
      if (this.#exclusive.get(server.id)?.superseded === superseded) this.#exclusive.delete(server.id);
    }
  }

  async #attempt(action: ExclusiveAction, run: ServerRun<any>): Promise<JobOutcome> {
    const { core, server, context, job } = run;
    try {
      if (job.attempts > 1) await dropOpenEvents(core.store, server.id, context.requestId);
      if (job.attempts > MOST_ATTEMPTS) await run.step('compute_retry_task', () => Promise.reject(tooOften()));
      run.begin();
      await action.run(run);
      return 'done';
    } catch (error) {
      if (error instanceof Superseded || error instanceof WorkerStopping) throw error;
      if (run.signal.aborted) throw run.signal.reason;
      // It says nothing of the work.
      if (isOutage(error) && job.attempts < MOST_ATTEMPTS) throw error;
      await core.worker.keep(job.id);
      await this.#fail(action, run, error as Error);
      return 'failed';
    }
  }

  /** Ends work that failed. Where even that keeps failing, the server is in error, and its deletion clears up. */
  async #fail(action: ExclusiveAction, run: ServerRun<any>, error: Error): Promise<void> {
    try {
      if (action.fail) await action.fail(run, error);
      else await failRun(run, action.onFailure, error);
    } catch (cause) {
      if (cause instanceof Superseded || run.job.attempts < MOST_ATTEMPTS) throw cause;
      await giveUp(run, cause as Error);
    }
  }

  async #runBeside(
    core: Core,
    action: BesideAction,
    job: Job,
    server: Server,
    stopping: AbortSignal,
  ): Promise<JobOutcome> {
    // Another process may have the key. Where none has, nobody can say what was to be done or undone.
    if (job.unreadable && job.attempts < MOST_ATTEMPTS) throw job.unreadable;
    const ending = new AbortController();
    const known = this.#concurrent.get(server.id) ?? new Set();
    this.#concurrent.set(server.id, known.add(ending));
    const run = new ConcurrentRun<any>(core, job, server, AbortSignal.any([stopping, ending.signal]), action);
    try {
      if (job.unreadable) throw job.unreadable;
      if (server.deleted) throw new Superseded(`${server.id} is deleted`);
      if (job.attempts > 1) await dropOpenEvents(core.store, server.id, run.context.requestId);
      if (job.attempts > MOST_ATTEMPTS) throw tooOften();
      run.begin();
      await action.run(run);
      await run.tellRest();
      return 'done';
    } catch (error) {
      if (error instanceof WorkerStopping) throw error;
      if (stopping.aborted) throw stopping.reason;
      await core.worker.keep(job.id);
      if (!job.unreadable) await action.undo?.(run);
      // The failure is in the history and on the server, which is otherwise as it was.
      const superseded = error instanceof Superseded || ending.signal.aborted;
      if (!superseded) await ifStillThere(() => run.finish({ fault: faultOf(error as Error, core.clock.now()) }));
      await closeEvents(core.store, server.id, run.context.requestId, 'Error', core.clock.now());
      return superseded ? 'superseded' : 'failed';
    } finally {
      known.delete(ending);
      if (known.size === 0) this.#concurrent.delete(server.id);
    }
  }

  /** Tells those of a server in this process to end: it is being deleted, and they shall not hold on to it. */
  #endConcurrent(serverId: string): void {
    for (const running of this.#concurrent.get(serverId) ?? [])
      running.abort(new Superseded(`${serverId} is being deleted`));
  }
}
