import { randomUUID } from 'node:crypto';
import { Notices, type Store } from '@apistrata/record-store';
import { databaseError, isOutage } from '@apistrata/record-store/errors';
import { Batches } from './batches.js';
import type { HostOrders, NewHostOrder } from './host-orders.js';
import { answerValue, type HostAnswer } from './host-question.js';

interface Waiting {
  readonly order: NewHostOrder;
  readonly tell: (answer: HostAnswer) => void;
  readonly fail: (error: unknown) => void;
}

/** How often answers are looked for: where notices of them arrive, and where they do not. */
const LOOK_MS = { listening: 2_000, deaf: 50 } as const;

/** How often it is looked at most whether requests have disappeared: a host removes those that were superseded. */
const MISSING_MS = 1_000;

/** Where this process asks hosts, and waits for what they answer. Nothing of it runs before the first question. */
export class HostDesk {
  readonly #orders: HostOrders;
  readonly #id = randomUUID();
  readonly #notices: Notices;
  readonly #posts: Batches<NewHostOrder>;
  readonly #waiting = new Map<string, Set<Waiting>>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #missingSoughtAt = 0;

  /** @param url of the PostgreSQL database */
  constructor(url: string, store: Store, orders: HostOrders) {
    this.#orders = orders;
    this.#notices = new Notices({ url, session: store, receiver: this.#id, hear: () => void this.#look() });
    this.#posts = new Batches(async (given) => {
      if (await orders.post(this.#id, given)) void this.#look();
    }, isOutage);
  }

  /**
   * Asks a host and waits. Rejects with what the host threw, and with the signal's reason when that ends. An order whose
   * asker is being stopped stays: whoever goes on with its work finds it.
   * @param stays whether an order that nobody waits for any more stays, by the reason why
   */
  async ask(order: NewHostOrder, signal: AbortSignal, stays: (reason: unknown) => boolean): Promise<unknown> {
    signal.throwIfAborted();
    this.#notices.start();
    const known = this.#waiting.get(order.id) ?? new Set();
    this.#waiting.set(order.id, known);
    let waiting: Waiting | undefined;
    let end = () => {};
    const answered = new Promise<HostAnswer>((tell, fail) => {
      waiting = { order, tell, fail };
      known.add(waiting);
      end = () => fail(signal.reason);
    });
    signal.addEventListener('abort', end, { once: true });
    this.#schedule();
    try {
      const [answer] = await Promise.all([answered, this.#posts.add(order)]);
      return answerValue(answer);
    } catch (error) {
      if (signal.aborted && !stays(signal.reason)) await this.#orders.cancel(order.id).catch(() => {});
      throw error;
    } finally {
      signal.removeEventListener('abort', end);
      if (waiting) known.delete(waiting);
      if (known.size === 0 && this.#waiting.get(order.id) === known) this.#waiting.delete(order.id);
    }
  }

  /** Tells a host something that nobody waits for. */
  async tell(order: NewHostOrder): Promise<void> {
    await this.#orders.post(null, [order]);
  }

  /** Waits no longer. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#notices.stop();
    await this.#looking;
  }

  #schedule(): void {
    if (this.#timer || this.#stopped || this.#waiting.size === 0) return;
    const ms = this.#notices.listening ? LOOK_MS.listening : LOOK_MS.deaf;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#look(true);
    }, ms).unref();
  }

  /** One look at a time; what happens meanwhile is seen by another one. */
  #look(thorough = false): Promise<void> {
    if (this.#looking) this.#again = true;
    else {
      this.#looking = this.#collect(thorough).finally(() => {
        this.#looking = undefined;
        const again = this.#again && !this.#stopped;
        this.#again = false;
        if (again) void this.#look();
        else this.#schedule();
      });
    }
    return this.#looking ?? Promise.resolve();
  }

  async #collect(thorough: boolean): Promise<void> {
    if (this.#waiting.size === 0 || this.#stopped) return;
    try {
      const asked = [...this.#waiting.keys()];
      const told = await this.#orders.collect(this.#id);
      for (const { id, answer } of told) for (const waiting of this.#waiting.get(id) ?? []) waiting.tell(answer);
      if (thorough && Date.now() - this.#missingSoughtAt >= MISSING_MS) await this.#askAgain(asked);
    } catch (error) {
      // A database that is away is asked again; anything else is no matter of waiting.
      const known = databaseError(error);
      if (known !== error || (known as { code?: string }).code === 'DATABASE_UNAVAILABLE') return;
      for (const all of this.#waiting.values()) for (const { fail } of all) fail(error);
    }
  }

  /** An order that is gone was answered to somebody who had been given up, or was lost with the last moments of a database. */
  async #askAgain(asked: readonly string[]): Promise<void> {
    this.#missingSoughtAt = Date.now();
    for (const id of await this.#orders.missing(asked)) {
      const [waiting] = this.#waiting.get(id) ?? [];
      if (waiting) await this.#posts.add(waiting.order);
    }
  }
}
