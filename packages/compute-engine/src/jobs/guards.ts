import { randomUUID } from 'node:crypto';
import type { Tx } from '@apistrata/record-store';
import { type Jobs, type Lease, type NewJob, retryDelayMs } from './jobs.js';

/**
 * Guards: jobs that are executed only if the request that stored them never completes. They undo calls of other
 * services whose results a crashed process could not store.
 *
 * A guard belongs to its process by a lease, which is renewed while the request runs, for any duration. So the guards
 * of a crashed process become due when their leases expire, and those of a slow request do not.
 */
export class Guards {
  readonly #jobs: Jobs;
  readonly #leaseMs: number;
  readonly #retryMs: number;
  readonly #owner = randomUUID();
  readonly #guardIds = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(jobs: Jobs, { leaseMs, retryMs }: { readonly leaseMs: number; readonly retryMs: number }) {
    this.#jobs = jobs;
    this.#leaseMs = leaseMs;
    this.#retryMs = retryMs;
  }

  /** Stores a guard. It belongs to this process until the subsequent `hold` ends. */
  async add(tx: Tx, job: NewJob): Promise<void> {
    await this.#jobs.add(tx, job, this.#lease(), false);
  }

  /**
   * Keeps a guard's lease while the request works. If the request has not released the guard at its end, the guard
   * becomes due.
   */
  async hold<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.#guardIds.add(id);
    this.#timer ??= setInterval(() => void this.#renew(), this.#leaseMs / 3).unref();
    try {
      return await work();
    } finally {
      // If the database is unavailable, the lease expires by itself.
      if (this.#guardIds.delete(id))
        await this.#jobs.defer(this.#owner, id, Date.now() + retryDelayMs(1, this.#retryMs)).catch(() => {});
      if (this.#guardIds.size === 0) this.stop();
    }
  }

  /** Deletes the guard; false if it has already started or ended. */
  async release(tx: Tx, id: string): Promise<boolean> {
    const removed = await this.#jobs.removeLeased(tx, id, this.#owner);
    tx.afterCommit(() => this.#guardIds.delete(id));
    return removed;
  }

  /** Stops renewing leases: remaining guards become due. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #lease(): Lease {
    return { owner: this.#owner, until: Date.now() + this.#leaseMs };
  }

  async #renew(): Promise<void> {
    // If the database is unavailable, the next interval retries.
    await this.#jobs.renew(this.#lease(), [...this.#guardIds]).catch(() => {});
  }
}
