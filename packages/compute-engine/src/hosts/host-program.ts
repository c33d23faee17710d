import { Notices, type Store } from '@apistrata/record-store';
import { isOutage } from '@apistrata/record-store/errors';
import { Batches } from './batches.js';
import type { HostHold } from './host-hold.js';
import type { HostOrder, HostOrders, ToldAnswer } from './host-orders.js';
import { HostOrderEnded, HostOrderSuperseded, type HostWork } from './host-work.js';
import type { Leftovers } from './leftovers.js';

export interface HostProgramOptions {
  readonly url: string;
  readonly store: Store;
  readonly orders: HostOrders;
  readonly hold: HostHold;
  readonly owner: string;
  readonly name: string;
  readonly work: HostWork;
  readonly leftovers: Leftovers;
  /** Tells that the host lives; the first time, what it is. */
  readonly register: (started: boolean) => Promise<void>;
  readonly concurrency: number;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  readonly onError: (error: unknown) => void;
  readonly onLost: () => void;
}

/** How often orders are looked for: where notices of them arrive, and where they do not. */
const LOOK_MS = { listening: 1_000, deaf: 50 } as const;
const SWEEP_MS = 60_000;
const RETRY_MS = 500;

/** The rounds of a host: hold, signs of life, orders in, answers out. */
export class HostProgram {
  readonly #options: HostProgramOptions;
  readonly #notices: Notices;
  readonly #answers: Batches<ToldAnswer>;
  readonly #stopping = new AbortController();
  readonly #running = new Map<string, { readonly ending: AbortController; readonly done: Promise<void> }>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #lookTimer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #again = false;
  #sweeping: Promise<void> | undefined;

  constructor(options: HostProgramOptions) {
    const { url, store, name, orders, owner } = options;
    this.#options = options;
    this.#notices = new Notices({ url, session: store, receiver: name, hear: (payload) => this.#hear(payload) });
    this.#answers = new Batches((told) => orders.answer(owner, told), isOutage);
  }

  /** First what was left is removed, then the host is up, then it takes orders. */
  async start(): Promise<void> {
    const { leftovers, register, heartbeatMs, leaseMs } = this.#options;
    this.#every(leaseMs / 3, () => this.#renew());
    try {
      await leftovers.sweep(this.#stopping.signal);
      await register(true);
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#every(heartbeatMs, () => register(false));
    this.#every(SWEEP_MS, () => this.#sweep());
    this.#notices.start();
    void this.#look();
  }

  /** Ends: what runs is told to, and is left to the next process of this name. */
  async stop(): Promise<void> {
    this.#stopping.abort(new HostOrderEnded('the host is being stopped'));
    for (const timer of this.#timers) clearInterval(timer);
    clearTimeout(this.#lookTimer);
    await this.#notices.stop();
    await this.#looking;
    await this.#sweeping;
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
    await this.#options.hold.release().catch(this.#options.onError);
  }

  /** One round at a time; one that fails is told of, and the next one comes. */
  #every(ms: number, round: () => Promise<void>): void {
    let busy = false;
    const timer = setInterval(async () => {
      if (busy) return;
      busy = true;
      try {
        await round();
      } catch (error) {
        if (!this.#stopping.signal.aborted) this.#options.onError(error);
      } finally {
        busy = false;
      }
    }, ms);
    this.#timers.add(timer);
  }

  async #renew(): Promise<void> {
    if ((await this.#options.hold.renew()) || this.#stopping.signal.aborted) return;
    await this.stop();
    this.#options.onLost();
  }

  async #sweep(): Promise<void> {
    const { orders, name, leftovers } = this.#options;
    this.#sweeping = orders.sweep(name).then(() => leftovers.sweep(this.#stopping.signal));
    await this.#sweeping.catch(this.#options.onError);
    this.#sweeping = undefined;
  }

  #hear(payload: string): void {
    const [word, id] = payload.split(' ');
    if (word === 'cancel' && id) this.#running.get(id)?.ending.abort(new HostOrderEnded('nobody waits any more'));
    else void this.#look();
  }

  /** One look at a time; what happens meanwhile is seen by another one. */
  #look(): Promise<void> {
    if (this.#stopping.signal.aborted) return Promise.resolve();
    if (this.#looking) this.#again = true;
    else {
      clearTimeout(this.#lookTimer);
      this.#looking = this.#claim().finally(() => {
        this.#looking = undefined;
        const again = this.#again;
        this.#again = false;
        if (again) void this.#look();
        else this.#schedule();
      });
    }
    return this.#looking ?? Promise.resolve();
  }

  #schedule(): void {
    if (this.#stopping.signal.aborted) return;
    const ms = this.#notices.listening ? LOOK_MS.listening : LOOK_MS.deaf;
    this.#lookTimer = setTimeout(() => void this.#look(), ms);
  }

  async #claim(): Promise<void> {
    const { orders, name, owner, concurrency, onError } = this.#options;
    try {
      const free = concurrency - this.#running.size;
      if (free <= 0) return;
      for (const order of await orders.claim(name, owner, free)) this.#begin(order);
    } catch (error) {
      onError(error);
    }
  }

  #begin(order: HostOrder): void {
    const ending = new AbortController();
    const done = this.#run(order, AbortSignal.any([this.#stopping.signal, ending.signal])).finally(() => {
      this.#running.delete(order.id);
      // The one that could not be taken for want of room.
      if (this.#running.size === this.#options.concurrency - 1) void this.#look();
    });
    this.#running.set(order.id, { ending, done });
  }

  async #run(order: HostOrder, signal: AbortSignal): Promise<void> {
    const { work, orders, owner, onError } = this.#options;
    const { id, awaited } = order;
    try {
      const answer = await work.answer(order, signal);
      await this.#untilTold(() => (awaited ? this.#answers.add({ id, answer }) : orders.end(owner, id)));
    } catch (error) {
      if (error instanceof HostOrderSuperseded) return this.#untilTold(() => orders.end(owner, id)).catch(() => {});
      // Of what was given up, or is left to the next process, nothing is told.
      if (!signal.aborted) onError(error);
    }
  }

  /** The work is done: that is told however long the database is away. */
  async #untilTold(tell: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await tell();
      } catch (error) {
        this.#options.onError(error);
        if (this.#stopping.signal.aborted) throw error;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
}
