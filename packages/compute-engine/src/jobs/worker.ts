import { randomUUID } from 'node:crypto';
import { Lookups, type Store, type Tx } from '@apistrata/record-store';
import { EngineError } from '../errors/engine-error.js';
import type { EngineObserver, JobOutcome } from '../observation/observer.js';
import { type Job, type Jobs, type Lease, type NewJob, retryDelayMs } from './jobs.js';

export interface WorkerOptions {
  readonly store: Store;
  readonly jobs: Jobs;
  /** Executes a job and returns the outcome. If it throws, the job is retried, with increasing delays. */
  readonly run: (job: Job, signal: AbortSignal) => Promise<JobOutcome>;
  /** Called if a job throws, or without a job if polling fails, because of a bug or an unavailable database. */
  readonly onError: (error: unknown, job: Job | undefined) => void;
  readonly observer?: EngineObserver;
  /** Maximum number of concurrent jobs; default 256. */
  readonly concurrency?: number;
  /** Duration of a job's lease, which a live process renews; default 10,000 ms. */
  readonly leaseMs?: number;
  /**
   * Interval at which the worker polls for jobs that other processes left behind; default 500 ms. While the worker
   * finds no jobs, the interval grows up to fourfold.
   */
  readonly pollMs?: number;
  /** Delay before a failed job is retried; doubles with each failure, up to 32 times this value. Default 1000 ms. */
  readonly retryMs?: number;
}

/** Maximum polling interval of an idle worker, as a multiple of `pollMs`. */
const MAX_IDLE_POLL_FACTOR = 4;

export const workerDefaults = { concurrency: 256, leaseMs: 10_000, pollMs: 500, retryMs: 1000 } as const;

interface RunningJob {
  readonly job: Job;
  readonly done: Promise<void>;
  readonly ending: AbortController;
}

/**
 * Executes jobs. Jobs that this process stores are executed directly after their commit. The worker polls for jobs that
 * other processes left behind, such as deferred jobs and those of a crashed process.
 */
export class Worker {
  readonly #options: Required<Omit<WorkerOptions, 'observer'>>;
  readonly #observer: EngineObserver;
  readonly #owner = randomUUID();
  readonly #running = new Map<string, RunningJob>();
  readonly #waiting: Job[] = [];
  /** Combines concurrent lease renewals into one statement. */
  readonly #renewals = new Lookups();
  /** Jobs that this process still runs although they are already deleted from the database. */
  readonly #completed = new Set<string>();
  #stopping = false;
  readonly #idle = new Set<() => void>();
  /** The timer of the next poll; undefined before the start. */
  #timer: NodeJS.Timeout | undefined;
  #pollIntervalMs = 0;
  #renewedAt = 0;
  #polling: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = { ...workerDefaults, ...options };
    this.#observer = options.observer ?? {};
  }

  async start(): Promise<void> {
    // Only one process uses a SQLite database at a time, so all existing leases belong to a process that has ended.
    if (this.#options.store.kind === 'sqlite') await this.#options.jobs.release();
    this.#renewedAt = Date.now();
    this.#resetPollInterval();
    void this.#poll();
  }

  /** Whether this process executes jobs; otherwise, other processes do. */
  get isActive(): boolean {
    return this.#timer !== undefined && !this.#stopping;
  }

  /** Stores a job in the transaction, and executes it in this process after the commit. */
  async add(tx: Tx, job: NewJob): Promise<Job> {
    const wasActive = this.isActive;
    const traceContext = this.#observer.traceContext?.();
    const tracedJob = traceContext ? { ...job, payload: { ...job.payload, traceContext } } : job;
    const storedJob = await this.#options.jobs.add(tx, tracedJob, wasActive ? this.#lease() : undefined, wasActive);
    if (wasActive) tx.afterCommit(() => this.#start(storedJob));
    return storedJob;
  }

  /** Deletes a job in the transaction of its last write, so that it is not retried. */
  async complete(tx: Tx, id: string): Promise<void> {
    await this.#options.jobs.remove(tx, id);
    tx.afterCommit(() => this.#completed.add(id));
  }

  /**
   * Returns whether this process still has the lease of the job, as seen by the transaction. If not, a later attempt
   * executes the job or has completed it.
   */
  hasLease(tx: Tx, id: string): Promise<boolean> {
    return this.#options.jobs.isLeased(tx, id, this.#owner);
  }

  /**
   * Renews the lease of a job. Called before effects outside the database, which a rollback cannot undo.
   * @throws LeaseLost if another process has claimed the job
   */
  async renewLease(id: string): Promise<void> {
    const renewed = await this.#renewals.find('jobs', id, async (ids) => {
      const renewed = await this.#options.jobs.renew(this.#lease(), ids);
      return new Map([...renewed].map((each) => [each, each]));
    });
    if (renewed === undefined) throw new LeaseLost(id);
  }

  /** Resolves when no job is left that this worker could execute now. */
  async idle(): Promise<void> {
    for (;;) {
      if (this.#running.size === 0 && this.#waiting.length === 0) {
        await this.#poll();
        if (this.#running.size === 0 && this.#waiting.length === 0) return;
      }
      await new Promise<void>((resolve) => this.#idle.add(resolve));
    }
  }

  /** Returns the number of jobs across all processes. */
  pending(): Promise<number> {
    return this.#options.jobs.count();
  }

  /** Stops the worker: running jobs are aborted at their next step, and all leases are released. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#stopping = true;
    for (const { ending: abortController } of this.#running.values())
      abortController.abort(new WorkerStopping('the worker is stopping'));
    await this.#polling;
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
    this.#waiting.length = 0;
    await this.#options.jobs.release(this.#owner);
  }

  /** Returns a new lease, based on the system clock: advancing a manual clock in tests must not expire leases. */
  #lease(): Lease {
    return { owner: this.#owner, until: Date.now() + this.#options.leaseMs };
  }

  #resetPollInterval(): void {
    if (this.#pollIntervalMs === this.#options.pollMs) return;
    this.#pollIntervalMs = this.#options.pollMs;
    this.#scheduleNextPoll();
  }

  #scheduleNextPoll(): void {
    clearTimeout(this.#timer);
    if (this.#stopping) return;
    this.#timer = setTimeout(async () => {
      await this.#poll();
      const { pollMs } = this.#options;
      this.#pollIntervalMs =
        this.#running.size > 0 ? pollMs : Math.min(this.#pollIntervalMs * 2, pollMs * MAX_IDLE_POLL_FACTOR);
      this.#scheduleNextPoll();
    }, this.#pollIntervalMs);
    this.#timer.unref();
  }

  /** Polls once. A call during a poll waits for that poll. */
  #poll(): Promise<void> {
    if (this.#stopping) return Promise.resolve();
    this.#polling ??= this.#claim().finally(() => {
      this.#polling = undefined;
    });
    return this.#polling;
  }

  async #claim(): Promise<void> {
    const { jobs, concurrency, leaseMs, onError } = this.#options;
    try {
      if (this.#running.size > 0 && Date.now() - this.#renewedAt > leaseMs / 3) await this.#renew();
      const freeSlots = concurrency - this.#running.size - this.#waiting.length;
      if (freeSlots > 0) for (const job of await jobs.claim(this.#lease(), freeSlots)) this.#start(job);
    } catch (error) {
      onError(error, undefined);
    }
  }

  /**
   * Renews the leases of jobs that this process runs or has queued, and aborts jobs that another process has claimed.
   */
  async #renew(): Promise<void> {
    const ownIds = [...this.#running.keys(), ...this.#waiting.map(({ id }) => id)];
    const renewed = await this.#options.jobs.renew(this.#lease(), ownIds);
    this.#renewedAt = Date.now();
    const lostIds = new Set(ownIds.filter((id) => !renewed.has(id)));
    for (const id of lostIds) this.#running.get(id)?.ending.abort(new LeaseLost(id));
    const waiting = this.#waiting.filter(({ id }) => !lostIds.has(id));
    this.#waiting.splice(0, this.#waiting.length, ...waiting);
  }

  #start(job: Job): void {
    if (this.#stopping) return;
    if (this.#running.has(job.id) || this.#waiting.some(({ id }) => id === job.id)) return;
    if (this.#running.size >= this.#options.concurrency) this.#waiting.push(job);
    else this.#startJob(job);
  }

  #startJob(job: Job): void {
    this.#resetPollInterval();
    const abortController = new AbortController();
    const done = this.#runObserved(job, abortController.signal).finally(() => {
      this.#running.delete(job.id);
      const next = this.#stopping ? undefined : this.#waiting.shift();
      if (next) this.#startJob(next);
      else if (this.#running.size === 0) {
        for (const resolve of this.#idle) resolve();
        this.#idle.clear();
      }
    });
    this.#running.set(job.id, { job, done, ending: abortController });
  }

  async #runObserved(job: Job, signal: AbortSignal): Promise<void> {
    const { around } = this.#observer;
    if (!around) return this.#runTimed(job, signal);
    const { id, kind, serverId, attempts: attempt, payload } = job;
    const { traceContext } = payload;
    const { requestId } = payload.context;
    await around({ type: 'job', kind, id, serverId, requestId, attempt, traceContext }, () =>
      this.#runTimed(job, signal),
    );
  }

  async #runTimed(job: Job, signal: AbortSignal): Promise<void> {
    const observe = this.#observer.job;
    if (!observe) return void (await this.#run(job, signal));
    const { kind, attempts: attempt } = job;
    const waitedMs = Math.max(0, Date.now() - job.dueAt);
    const startedAt = performance.now();
    const outcome = await this.#run(job, signal);
    observe({ kind, outcome, attempt, ms: performance.now() - startedAt, waitedMs });
  }

  async #run(job: Job, signal: AbortSignal): Promise<JobOutcome> {
    const { run, store, jobs, onError } = this.#options;
    try {
      const outcome = await run(job, signal);
      // The job is deleted in a transaction, so that the deletion shares a commit with other transactions.
      if (!this.#completed.has(job.id)) await store.transaction((tx) => jobs.removeLeased(tx, job.id, this.#owner));
      return outcome;
    } catch (error) {
      if (error instanceof WorkerStopping) return 'stopped';
      onError(error, job);
      await this.#requeue(job);
      return 'retried';
    } finally {
      this.#completed.delete(job.id);
    }
  }

  /** Schedules a retry of a failed job. If the schedule cannot be stored, the retry starts when the lease expires. */
  async #requeue(job: Job): Promise<void> {
    const { jobs, retryMs, onError } = this.#options;
    const runAt = Date.now() + retryDelayMs(job.attempts, retryMs);
    await jobs.defer(this.#owner, job.id, runAt).catch((error) => onError(error, job));
    // The due time is known, so the job need not wait for the next poll.
    setTimeout(() => void this.#poll(), Math.max(0, runAt - Date.now())).unref();
  }
}

/** The abort reason of a job whose worker is stopping or has lost the lease. Another attempt continues the job. */
export class WorkerStopping extends EngineError<'WORKER_STOPPING'> {
  constructor(message: string) {
    super('WORKER_STOPPING', message);
  }
}

/** The abort reason of an attempt that lost its lease to a later attempt. The attempt ends without further writes. */
export class LeaseLost extends WorkerStopping {
  constructor(jobId: string) {
    super(`the lease of the job ${jobId} expired, and another attempt has taken over the job`);
  }
}
