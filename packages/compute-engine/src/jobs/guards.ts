import { randomUUID } from 'node:crypto';
import type { Tx } from '@apistrata/record-store';
import { type Jobs, type Lease, type NewJob, retryDelayMs } from './jobs.js';

/**
 * Manages guards: jobs that are executed only if the request that stored them never completes. A guard either completes
 * the request or undoes its calls to other services, whose results a crashed process could not store.
 *
 * A process leases its guards, and renews the leases for as long as the request runs. Therefore, the guards of a
 * crashed process become due when their leases expire, but a slow request's guards do not.
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

  exists(tx: Tx, id: string): Promise<boolean> {
    return this.#jobs.exists(tx, id);
  }

  /** Stores a guard, which this process leases until the subsequent call to `renewDuring` ends. */
  async add(tx: Tx, job: NewJob): Promise<void> {
    await this.#jobs.add(tx, job, this.#createLease(), false);
  }

  /**
   * Renews a guard's lease while `work` runs. If the guard has not been released when `work` ends, the guard becomes
   * due.
   */
  async renewDuring<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.#guardIds.add(id);
    this.#timer ??= setInterval(() => void this.#renew(), this.#leaseMs / 3).unref();
    try {
      return await work();
    } finally {
      // If the database is unavailable, the guard becomes due when its lease expires.
      if (this.#guardIds.delete(id))
        await this.#jobs.defer(this.#owner, id, Date.now() + retryDelayMs(1, this.#retryMs)).catch(() => {});
      if (this.#guardIds.size === 0) this.stop();
    }
  }

  /** Deletes the guard. Returns false if its job has already been started or completed. */
  async release(tx: Tx, id: string): Promise<boolean> {
    const removed = await this.#jobs.removeLeased(tx, id, this.#owner);
    tx.afterCommit(() => this.#guardIds.delete(id));
    return removed;
  }

  /** Stops renewing leases, so that the remaining guards become due. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #createLease(): Lease {
    return { owner: this.#owner, until: Date.now() + this.#leaseMs };
  }

  async #renew(): Promise<void> {
    // If the database is unavailable, the renewal is retried after the next interval.
    await this.#jobs.renew(this.#createLease(), [...this.#guardIds]).catch(() => {});
  }
}
