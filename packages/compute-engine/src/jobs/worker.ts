import { randomUUID } from 'node:crypto';
import type { Store, Tx } from '@apistrata/record-store';
import { EngineError } from '../errors/engine-error.js';
import type { EngineObserver, JobOutcome } from '../observation/observer.js';
import { type Job, type Jobs, type Lease, type NewJob, retryDelayMs } from './jobs.js';

export interface WorkerOptions {
  readonly store: Store;
  readonly jobs: Jobs;
  /** Does a job and says how that went. Whatever it throws leaves the job for another try, later each time. */
  readonly run: (job: Job, signal: AbortSignal) => Promise<JobOutcome>;
  /** Told of jobs that threw: defects, or a database that is away. */
  readonly onError: (error: unknown, job: Job | undefined) => void;
  readonly observer?: EngineObserver;
  /** Jobs at once; default 256. */
  readonly concurrency?: number;
  /** How long a job belongs to a process that shows no life; default 10,000 ms. */
  readonly leaseMs?: number;
  /** How often to look for jobs that other processes left; default 500 ms, and down to a quarter as often while there are none. */
  readonly pollMs?: number;
  /** Pause before a job that failed is tried again; it doubles with each failure, up to 32 times. Default 1000 ms. */
  readonly retryMs?: number;
}

/** A worker that has nothing to do and finds nothing looks less and less often; so many times `pollMs` apart at the most. */
const QUIET_POLLS = 4;

export const workerDefaults = { concurrency: 256, leaseMs: 10_000, pollMs: 500, retryMs: 1000 } as const;

interface Running {
  readonly job: Job;
  readonly done: Promise<void>;
  readonly ending: AbortController;
}

/**
 * Runs jobs. Work that this process wrote down comes to it directly when the transaction is durable; what others left
 * behind (a process that died, work scheduled for later) is found by looking now and then.
 */
export class Worker {
  readonly #options: Required<Omit<WorkerOptions, 'observer'>>;
  readonly #observer: EngineObserver;
  readonly #owner = randomUUID();
  readonly #running = new Map<string, Running>();
  readonly #waiting: Job[] = [];
  /** Jobs that run here still and are gone from the database. */
  readonly #completed = new Set<string>();
  #stopping = false;
  readonly #idle = new Set<() => void>();
  /** Of the next look; undefined before the start. */
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = 0;
  #renewedAt = 0;
  #looking: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = { ...workerDefaults, ...options };
    this.#observer = options.observer ?? {};
  }

  async start(): Promise<void> {
    // A SQLite database has one process: whatever is held was held by one that is gone.
    if (this.#options.store.kind === 'sqlite') await this.#options.jobs.release();
    this.#renewedAt = Date.now();
    this.#lookOften();
    void this.#look();
  }

  /** Whether this process does work: otherwise all of it is left to others. */
  get atWork(): boolean {
    return this.#timer !== undefined && !this.#stopping;
  }

  /** Writes a job down in the transaction and runs it in this process once that is durable. */
  async add(tx: Tx, job: NewJob): Promise<Job> {
    const mine = this.atWork;
    const traceContext = this.#observer.traceContext?.();
    const traced = traceContext ? { ...job, payload: { ...job.payload, traceContext } } : job;
    const added = await this.#options.jobs.add(tx, traced, mine ? this.#lease() : undefined, mine);
    if (mine) tx.afterCommit(() => this.#take(added));
    return added;
  }

  /** Removes a job together with its last write: nothing of it is left to be tried again. */
  async complete(tx: Tx, id: string): Promise<void> {
    await this.#options.jobs.remove(tx, id);
    tx.afterCommit(() => this.#completed.add(id));
  }

  /**
   * Whether this process still has the job, as far as the transaction sees. Where it has not, a later attempt does the work, or
   * has done it.
   */
  holds(tx: Tx, id: string): Promise<boolean> {
    return this.#options.jobs.isHeld(tx, id, this.#owner);
  }

  /**
   * Renews the lease of a job, before effects that no transaction can check.
   * @throws LeaseLost where another process has taken the job
   */
  async keep(id: string): Promise<void> {
    if (!(await this.#options.jobs.renew(this.#lease(), [id])).has(id)) throw new LeaseLost(id);
  }

  /** Resolves when no job is left that this worker could run now. */
  async idle(): Promise<void> {
    for (;;) {
      if (this.#running.size === 0 && this.#waiting.length === 0) {
        await this.#look();
        if (this.#running.size === 0 && this.#waiting.length === 0) return;
      }
      await new Promise<void>((resolve) => this.#idle.add(resolve));
    }
  }

  /** Jobs that exist, in all processes. */
  pending(): Promise<number> {
    return this.#options.jobs.count();
  }

  /** Ends: running jobs are told to stop at their next step, and what is left is handed back. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#stopping = true;
    for (const { ending } of this.#running.values()) ending.abort(new WorkerStopping('the worker is stopping'));
    await this.#looking;
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
    this.#waiting.length = 0;
    await this.#options.jobs.release(this.#owner);
  }

  /** Leases are counted in the machine's own time: a clock that tests move must not end them. */
  #lease(): Lease {
    return { owner: this.#owner, until: Date.now() + this.#options.leaseMs };
  }

  #lookOften(): void {
    if (this.#pauseMs === this.#options.pollMs) return;
    this.#pauseMs = this.#options.pollMs;
    this.#lookLater();
  }

  #lookLater(): void {
    clearTimeout(this.#timer);
    if (this.#stopping) return;
    this.#timer = setTimeout(async () => {
      await this.#look();
      const { pollMs } = this.#options;
      this.#pauseMs = this.#running.size > 0 ? pollMs : Math.min(this.#pauseMs * 2, pollMs * QUIET_POLLS);
      this.#lookLater();
    }, this.#pauseMs);
    this.#timer.unref();
  }

  /** One look at a time; whoever wants another one meanwhile waits for that. */
  #look(): Promise<void> {
    if (this.#stopping) return Promise.resolve();
    this.#looking ??= this.#claim().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #claim(): Promise<void> {
    const { jobs, concurrency, leaseMs, onError } = this.#options;
    try {
      if (this.#running.size > 0 && Date.now() - this.#renewedAt > leaseMs / 3) await this.#renew();
      const free = concurrency - this.#running.size - this.#waiting.length;
      if (free > 0) for (const job of await jobs.claim(this.#lease(), free)) this.#take(job);
    } catch (error) {
      onError(error, undefined);
    }
  }

  /** Keeps what runs or waits here, and nothing else; what somebody else has taken over meanwhile is let go. */
  async #renew(): Promise<void> {
    const mine = [...this.#running.keys(), ...this.#waiting.map(({ id }) => id)];
    const kept = await this.#options.jobs.renew(this.#lease(), mine);
    this.#renewedAt = Date.now();
    const lost = new Set(mine.filter((id) => !kept.has(id)));
    for (const id of lost) this.#running.get(id)?.ending.abort(new LeaseLost(id));
    const waiting = this.#waiting.filter(({ id }) => !lost.has(id));
    this.#waiting.splice(0, this.#waiting.length, ...waiting);
  }

  #take(job: Job): void {
    if (this.#stopping) return;
    if (this.#running.has(job.id) || this.#waiting.some(({ id }) => id === job.id)) return;
    if (this.#running.size >= this.#options.concurrency) this.#waiting.push(job);
    else this.#begin(job);
  }

  #begin(job: Job): void {
    this.#lookOften();
    const ending = new AbortController();
    const done = this.#observed(job, ending.signal).finally(() => {
      this.#running.delete(job.id);
      const next = this.#stopping ? undefined : this.#waiting.shift();
      if (next) this.#begin(next);
      else if (this.#running.size === 0) {
        for (const resolve of this.#idle) resolve();
        this.#idle.clear();
      }
    });
    this.#running.set(job.id, { job, done, ending });
  }

  async #observed(job: Job, signal: AbortSignal): Promise<void> {
    const { around } = this.#observer;
    if (!around) return this.#timed(job, signal);
    const { id, kind, serverId, attempts: attempt, payload } = job;
    const { traceContext } = payload;
    const { requestId } = payload.context;
    await around({ type: 'job', kind, id, serverId, requestId, attempt, traceContext }, () => this.#timed(job, signal));
  }

  async #timed(job: Job, signal: AbortSignal): Promise<void> {
    const tell = this.#observer.job;
    if (!tell) return void (await this.#run(job, signal));
    const { kind, attempts: attempt } = job;
    const waitedMs = Math.max(0, Date.now() - job.dueAt);
    const begunAt = performance.now();
    const outcome = await this.#run(job, signal);
    tell({ kind, outcome, attempt, ms: performance.now() - begunAt, waitedMs });
  }

  async #run(job: Job, signal: AbortSignal): Promise<JobOutcome> {
    const { run, store, jobs, onError } = this.#options;
    try {
      const outcome = await run(job, signal);
      // In a transaction, so that it shares a commit with others.
      if (!this.#completed.has(job.id)) await store.transaction((tx) => jobs.removeHeld(tx, job.id, this.#owner));
      return outcome;
    } catch (error) {
      if (error instanceof WorkerStopping) return 'stopped';
      onError(error, job);
      await this.#giveBack(job);
      return 'retried';
    } finally {
      this.#completed.delete(job.id);
    }
  }

  /** Leaves a job that failed for another try. Where not even that can be written, its lease runs out by itself. */
  async #giveBack(job: Job): Promise<void> {
    const { jobs, retryMs, onError } = this.#options;
    const runAt = Date.now() + retryDelayMs(job.attempts, retryMs);
    await jobs.defer(this.#owner, job.id, runAt).catch((error) => onError(error, job));
    // Its time is known: it need not wait for the next look.
    setTimeout(() => void this.#look(), runAt - Date.now()).unref();
  }
}

/** Why a job stopped half-way: its worker is ending, or lost it, and another one goes on with it. */
export class WorkerStopping extends EngineError<'WORKER_STOPPING'> {
  constructor(message: string) {
    super('WORKER_STOPPING', message);
  }
}

/** The lease of a job expired, and a later attempt has it: this one ends without a trace. */
export class LeaseLost extends WorkerStopping {
  constructor(jobId: string) {
    super(`the lease of the job ${jobId} expired, and another attempt has it`);
  }
}
