import { randomUUID } from 'node:crypto';
import type { Tx } from '../store/database.js';
import type { Store } from '../store/store.js';
import {
  addJob,
  claimJobs,
  countJobs,
  type Job,
  type Lease,
  type NewJob,
  releaseLeases,
  removeJob,
  renewLeases,
} from './jobs.js';

export interface WorkerOptions {
  readonly store: Store;
  /** Does a job. Whatever it throws leaves the job for another try. */
  readonly run: (job: Job, signal: AbortSignal) => Promise<void>;
  /** Told of jobs that threw: defects, or a database that is away. */
  readonly onError: (error: unknown, job: Job | undefined) => void;
  /** Jobs at once; default 256. */
  readonly concurrency?: number;
  /** How long a job belongs to a worker that shows no life; default 15,000 ms. */
  readonly leaseMs?: number;
  /** How often to look for jobs that other processes left; default 500 ms. */
  readonly pollMs?: number;
}

/**
 * Runs jobs. Work that this process wrote down comes to it directly when the transaction is durable; what others left
 * behind (a process that died, work scheduled for later) is found by looking now and then.
 */
export class Worker {
  readonly #options: Required<WorkerOptions>;
  readonly #owner = randomUUID();
  readonly #running = new Map<string, { readonly job: Job; readonly done: Promise<void> }>();
  readonly #waiting: Job[] = [];
  readonly #stopping = new AbortController();
  readonly #idle = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #renewedAt = 0;
  #looking: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    this.#options = { concurrency: 256, leaseMs: 15_000, pollMs: 500, ...options };
  }

  async start(): Promise<void> {
    // A SQLite database has one process: whatever is held was held by one that is gone.
    if (this.#options.store.kind === 'sqlite') await releaseLeases(this.#options.store);
    this.#renewedAt = Date.now();
    this.#timer = setInterval(() => void this.#look(), this.#options.pollMs);
    this.#timer.unref();
    void this.#look();
  }

  /** Writes a job down in the transaction and runs it in this process once that is durable. */
  async add(tx: Tx, job: NewJob): Promise<Job> {
    const mine = this.#timer !== undefined && !this.#stopping.signal.aborted;
    const added = await addJob(tx, job, Date.now(), mine ? this.#lease() : undefined);
    if (mine) tx.afterCommit(() => this.#take(added));
    return added;
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
    return countJobs(this.#options.store);
  }

  /** Ends: running jobs are told to stop at their next step, and what is left is handed back. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopping.abort(new WorkerStopping());
    await this.#looking;
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
    this.#waiting.length = 0;
    await releaseLeases(this.#options.store, this.#owner);
  }

  /** Leases are counted in the machine's own time: a clock that tests move must not end them. */
  #lease(): Lease {
    return { owner: this.#owner, until: Date.now() + this.#options.leaseMs };
  }

  /** One look at a time; whoever wants another one meanwhile waits for that. */
  #look(): Promise<void> {
    if (this.#stopping.signal.aborted) return Promise.resolve();
    this.#looking ??= this.#claim().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #claim(): Promise<void> {
    const { store, concurrency, leaseMs, onError } = this.#options;
    try {
      if (this.#running.size > 0 && Date.now() - this.#renewedAt > leaseMs / 3) {
        this.#renewedAt = Date.now();
        await renewLeases(store, this.#lease());
      }
      const free = concurrency - this.#running.size - this.#waiting.length;
      if (free > 0) for (const job of await claimJobs(store, this.#lease(), Date.now(), free)) this.#take(job);
    } catch (error) {
      onError(error, undefined);
    }
  }

  #take(job: Job): void {
    if (this.#stopping.signal.aborted) return;
    if (this.#running.has(job.id) || this.#waiting.some(({ id }) => id === job.id)) return;
    if (this.#running.size >= this.#options.concurrency) this.#waiting.push(job);
    else this.#begin(job);
  }

  #begin(job: Job): void {
    const done = this.#run(job).finally(() => {
      this.#running.delete(job.id);
      const next = this.#stopping.signal.aborted ? undefined : this.#waiting.shift();
      if (next) this.#begin(next);
      else if (this.#running.size === 0) {
        for (const resolve of this.#idle) resolve();
        this.#idle.clear();
      }
    });
    this.#running.set(job.id, { job, done });
  }

  async #run(job: Job): Promise<void> {
    const { run, store, onError } = this.#options;
    try {
      await run(job, this.#stopping.signal);
      // In a transaction, so that it shares a commit with others.
      await store.transaction((tx) => removeJob(tx, job.id));
    } catch (error) {
      // A worker that is stopping hands the job back; any other reason is somebody's mistake, and the lease's end is the next try.
      if (!(error instanceof WorkerStopping)) onError(error, job);
    }
  }
}

/** Why a job stopped half-way: its worker is ending, and another one goes on with it. */
export class WorkerStopping extends Error {
  readonly code = 'WORKER_STOPPING';

  constructor() {
    super('the worker is stopping');
  }
}
