import { isOutage } from '@apistrata/record-store/errors';
import type { Core } from '../../core/core.js';
import { currentAttempt } from '../../jobs/attempt-of.js';
import type { Job } from '../../jobs/jobs.js';
import { LeaseLost, WorkerStopping } from '../../jobs/worker.js';
import type { Server } from '../../model/index.js';
import type { JobOutcome } from '../../observation/observer.js';
import { tables } from '../../schema/tables.js';
import { movePortsAndVolumesToCurrentHost } from '../../server-migrations/follow-server.js';
import { closeEvents, dropOpenEvents } from '../../servers/action-history/actions.js';
import type { Action, AnyAction, ConcurrentAction } from './action.js';
import type { Cleanup } from './cleanup.js';
import { ConcurrentRun } from './concurrent-run.js';
import { abandonRun, failRun, faultOf } from './fail-run.js';
import { ServerRun } from './server-run.js';
import { ignoreIfDeleted, Superseded } from './superseded.js';

type ExclusiveAction = Action<string, any, any, any>;
type AnyConcurrentAction = ConcurrentAction<string, any, any, any>;

/** Maximum number of attempts per job. If all attempts fail, the job's server is set to ERROR. */
const MAX_ATTEMPTS = 5;

/** Interval in milliseconds at which a running job checks whether another process has taken over its server. */
const OWNER_CHECK_INTERVAL_MS = 1000;

/** Returns the error for a job whose attempts all failed because the process crashed or a catalog was unavailable. */
const createTooManyAttemptsError = () => new Error(`gave up after ${MAX_ATTEMPTS} attempts`);

/**
 * Leaves a job to another process that can execute it. The job's kind may belong to a newer version, or this process
 * may lack the key that decrypts the job. After the last attempt, the job fails.
 */
async function leaveToOtherProcess(run: ServerRun, error: Error): Promise<JobOutcome> {
  const { core, server, context, job } = run;
  if (job.attempts < MAX_ATTEMPTS) throw error;
  if (server.jobId === job.id) await abandonRun(run, error);
  else await closeEvents(core.store, server.id, context.requestId, 'Error', core.clock.now());
  return 'failed';
}

/**
 * Returns the server that a job changes. A stale record is sufficient, because each write of the job reads the record
 * again.
 */
async function readServer(core: Core, job: Job, id: string): Promise<Server | undefined> {
  const cachedServer = tables.servers.cached(core.store, id);
  const server = cachedServer?.jobId === job.id ? cachedServer : await tables.servers.get(core.store, id);
  return job.attempts > 1 && server?.jobId === job.id ? fenceEarlierAttempts(core, job, id) : server;
}

/** Stores the number of a job's current attempt in the server record. This fences earlier attempts of the job. */
function fenceEarlierAttempts({ store }: Core, job: Job, id: string): Promise<Server | undefined> {
  return store.transaction(async (tx) => {
    const server = await tables.servers.lock(tx, id);
    if (server?.jobId !== job.id || currentAttempt(server) === job.attempts) return server;
    if (currentAttempt(server) > job.attempts) throw new LeaseLost(job.id);
    return tables.servers.update(tx, { ...server, jobAttempt: job.attempts });
  });
}

/**
 * Cleans up after a job whose server has been taken over by another job: moves the ports and volumes to the server's
 * current host, and closes the open history events.
 */
async function cleanUpSuperseded(action: ExclusiveAction, run: ServerRun): Promise<JobOutcome> {
  const { core, server, context } = run;
  await core.worker.renewLease(run.job.id);
  const result = (await action.cleanUpAfterTakeover?.(run)) ?? 'Error';
  await movePortsAndVolumesToCurrentHost(run).catch((error: unknown) => {
    if (isOutage(error) && run.job.attempts < MAX_ATTEMPTS) throw error;
  });
  await closeEvents(core.store, server.id, context.requestId, result, core.clock.now());
  return 'superseded';
}

/**
 * Aborts a job when another process takes over the job's server. Within one process, the newer job aborts the older
 * one directly.
 */
function watchOwnership(
  core: Core,
  job: Job,
  serverId: string,
  abortController: AbortController,
): NodeJS.Timeout | undefined {
  if (core.store.kind === 'sqlite') return undefined;
  const check = async () => {
    const server = await tables.servers.get(core.store, serverId);
    if (server?.jobId !== job.id) abortController.abort(new Superseded(`server ${serverId} belongs to another job`));
    else if (currentAttempt(server) !== job.attempts) abortController.abort(new LeaseLost(job.id));
  };
  // Failed checks are ignored. If the database is unavailable, the job's own writes also fail.
  return setInterval(() => check().catch(() => {}), OWNER_CHECK_INTERVAL_MS).unref();
}

/** A running job that owns its server. */
interface Owner {
  /** Position of the job in the order in which jobs started in this process. */
  readonly position: number;
  readonly abortController: AbortController;
}

/**
 * Executes the jobs of server actions. At most one exclusive job owns a server at any time, and a newer job takes over
 * from an older one. Any number of concurrent jobs may change the same server at the same time.
 */
export class ActionRunner {
  readonly #core: () => Core;
  readonly #actions: ReadonlyMap<string, AnyAction>;
  readonly #cleanups: ReadonlyMap<string, Cleanup>;
  /** The exclusive job that owns each server, by server id. */
  readonly #exclusiveOwners = new Map<string, Owner>();
  /** Number of jobs that this process has started. */
  #startedCount = 0;
  /** Abort controllers of the running concurrent jobs, by server id. */
  readonly #concurrentControllers = new Map<string, Set<AbortController>>();

  constructor(core: () => Core, actions: ReadonlyMap<string, AnyAction>, cleanups: ReadonlyMap<string, Cleanup>) {
    this.#core = core;
    this.#actions = actions;
    this.#cleanups = cleanups;
  }

  /** Executes an attempt of a job. If the returned promise is rejected, the job is retried. */
  async run(job: Job, stopSignal: AbortSignal): Promise<JobOutcome> {
    const core = this.#core();
    const position = ++this.#startedCount;
    const cleanup = this.#cleanups.get(job.kind);
    if (cleanup && job.unreadable) throw job.unreadable;
    if (cleanup) return cleanup.run(core, job).then(() => 'done');
    const server = job.serverId === null ? undefined : await readServer(core, job, job.serverId);
    if (!server) return 'superseded';
    const action = this.#actions.get(job.kind);
    const createUnknownKindError = () => new Error(`no action is defined for jobs of kind ${job.kind}`);
    if (!action)
      return leaveToOtherProcess(new ServerRun(core, job, server, stopSignal, null), createUnknownKindError());
    if (action.concurrent) return this.#runConcurrently(core, action, job, server, stopSignal);
    return this.#runExclusively(core, action, job, server, stopSignal, position);
  }

  async #runExclusively(
    core: Core,
    action: ExclusiveAction,
    job: Job,
    server: Server,
    stopSignal: AbortSignal,
    position: number,
  ): Promise<JobOutcome> {
    if (job.unreadable)
      return leaveToOtherProcess(new ServerRun(core, job, server, stopSignal, action), job.unreadable);
    // A server's owner that started after this job executes a later request, which supersedes this job.
    const owner = this.#exclusiveOwners.get(server.id);
    if (server.jobId !== job.id || (owner && owner.position > position))
      return cleanUpSuperseded(action, new ServerRun(core, job, server, stopSignal, action));
    const abortController = new AbortController();
    owner?.abortController.abort(new Superseded(`server ${server.id} belongs to another job`));
    this.#exclusiveOwners.set(server.id, { position, abortController });
    if (server.taskState === 'deleting') this.#endConcurrent(server.id);
    const run = new ServerRun<any>(core, job, server, AbortSignal.any([stopSignal, abortController.signal]), action);
    const watchTimer = watchOwnership(core, job, server.id, abortController);
    try {
      return await this.#attempt(action, run);
    } catch (error) {
      if (!(error instanceof Superseded)) throw error;
      return await cleanUpSuperseded(action, run);
    } finally {
      clearInterval(watchTimer);
      if (this.#exclusiveOwners.get(server.id)?.abortController === abortController)
        this.#exclusiveOwners.delete(server.id);
    }
  }

  async #attempt(action: ExclusiveAction, run: ServerRun<any>): Promise<JobOutcome> {
    const { core, server, context, job } = run;
    try {
      if (job.attempts > 1) await dropOpenEvents(core.store, server.id, context.requestId);
      if (job.attempts > MAX_ATTEMPTS)
        await run.step('compute_retry_task', () => Promise.reject(createTooManyAttemptsError()));
      run.begin();
      await action.run(run);
      return 'done';
    } catch (error) {
      if (error instanceof Superseded || error instanceof WorkerStopping) throw error;
      if (run.signal.aborted) throw run.signal.reason;
      // An outage of another service does not make the action fail. Instead, the job is retried.
      if (isOutage(error) && job.attempts < MAX_ATTEMPTS) throw error;
      await core.worker.renewLease(job.id);
      await this.#fail(action, run, error as Error);
      return 'failed';
    }
  }

  /**
   * Runs the failure handler of an action. If the handler itself fails repeatedly, the server is set to ERROR and keeps
   * its resources until it is deleted.
   */
  async #fail(action: ExclusiveAction, run: ServerRun<any>, error: Error): Promise<void> {
    try {
      if (action.fail) await action.fail(run, error);
      else await failRun(run, action.onFailure, error);
    } catch (cause) {
      if (cause instanceof Superseded || run.job.attempts < MAX_ATTEMPTS) throw cause;
      await abandonRun(run, cause as Error);
    }
  }

  async #runConcurrently(
    core: Core,
    action: AnyConcurrentAction,
    job: Job,
    server: Server,
    stopSignal: AbortSignal,
  ): Promise<JobOutcome> {
    // Another process may have the key that decrypts the job. Without the key, the action can be neither executed nor
    // undone.
    if (job.unreadable && job.attempts < MAX_ATTEMPTS) throw job.unreadable;
    const abortController = new AbortController();
    const controllers = this.#concurrentControllers.get(server.id) ?? new Set();
    this.#concurrentControllers.set(server.id, controllers.add(abortController));
    const run = new ConcurrentRun<any>(
      core,
      job,
      server,
      AbortSignal.any([stopSignal, abortController.signal]),
      action,
    );
    try {
      if (job.unreadable) throw job.unreadable;
      if (server.deleted) throw new Superseded(`server ${server.id} is deleted`);
      if (job.attempts > 1) await dropOpenEvents(core.store, server.id, run.context.requestId);
      if (job.attempts > MAX_ATTEMPTS) throw createTooManyAttemptsError();
      run.begin();
      await action.run(run);
      await run.notifyRemainingEnds();
      return 'done';
    } catch (error) {
      if (error instanceof WorkerStopping) throw error;
      if (stopSignal.aborted) throw stopSignal.reason;
      await core.worker.renewLease(job.id);
      if (!job.unreadable) await action.undo?.(run);
      // The failure is stored in the action history and as the server's fault. Other fields of the server are
      // unchanged.
      const superseded = error instanceof Superseded || abortController.signal.aborted;
      if (!superseded) await ignoreIfDeleted(() => run.finish({ fault: faultOf(error as Error, core.clock.now()) }));
      await closeEvents(core.store, server.id, run.context.requestId, 'Error', core.clock.now());
      return superseded ? 'superseded' : 'failed';
    } finally {
      controllers.delete(abortController);
      if (controllers.size === 0) this.#concurrentControllers.delete(server.id);
    }
  }

  /** Aborts this process's concurrent jobs on a server that is being deleted. */
  #endConcurrent(serverId: string): void {
    for (const controller of this.#concurrentControllers.get(serverId) ?? [])
      controller.abort(new Superseded(`server ${serverId} is being deleted`));
  }
}
