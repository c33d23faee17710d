import { randomUUID } from 'node:crypto';
import type { Tx } from '@apistrata/record-store';
import { type Jobs, type Lease, type NewJob, retryDelayMs } from './jobs.js';

/**
 * Guards: jobs that nobody runs unless the request that wrote them down never comes to its end. What a request does to
 * another service before it can write the result here would otherwise be known to nobody when the process dies.
 *
 * A guard is held by its process, by a lease that is renewed while the request lives, however long that takes. So the
 * guards of a process that died fall due when their leases run out, and those of a slow request do not.
 */
export class Guards {
  readonly #jobs: Jobs;
  readonly #leaseMs: number;
  readonly #retryMs: number;
  readonly #owner = randomUUID();
  readonly #held = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(jobs: Jobs, { leaseMs, retryMs }: { readonly leaseMs: number; readonly retryMs: number }) {
    this.#jobs = jobs;
    this.#leaseMs = leaseMs;
    this.#retryMs = retryMs;
  }

  /** Writes a guard down. It belongs to this process until `hold` ends, which follows. */
  async add(tx: Tx, job: NewJob): Promise<void> {
    await this.#jobs.add(tx, job, this.#lease(), false);
  }

  /**
   * Keeps a guard from its work while the request does its own. If that has not released it by its end, the guard's
   * time has come.
   */
  async hold<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.#held.add(id);
    this.#timer ??= setInterval(() => void this.#renew(), this.#leaseMs / 3).unref();
    try {
      return await work();
    } finally {
      // Where the database cannot be told, the lease runs out by itself.
      if (this.#held.delete(id))
        await this.#jobs.defer(this.#owner, id, Date.now() + retryDelayMs(1, this.#retryMs)).catch(() => {});
      if (this.#held.size === 0) this.stop();
    }
  }

  /** Takes the guard away; false when it was late and has begun its work, or has done it. */
  async release(tx: Tx, id: string): Promise<boolean> {
    const removed = await this.#jobs.removeHeld(tx, id, this.#owner);
    tx.afterCommit(() => this.#held.delete(id));
    return removed;
  }

  /** Renews nothing more: whatever is still held falls due. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #lease(): Lease {
    return { owner: this.#owner, until: Date.now() + this.#leaseMs };
  }

  async #renew(): Promise<void> {
    // A database that is away is asked again next time.
    await this.#jobs.renew(this.#lease(), [...this.#held]).catch(() => {});
  }
}
