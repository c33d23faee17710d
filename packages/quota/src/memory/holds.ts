import type { Amounts } from '../limits.js';

/** A reservation in this process. */
export interface Held {
  readonly id: string;
  readonly amounts: Amounts;
  /** Milliseconds since the epoch, by the clock of the store. */
  readonly expiresAt: number;
}

/** Dead entries that may stay in the heap beyond as many as there are reservations. */
const SLACK = 64;

/**
 * The reservations of one project, found by id and by what expires first. Looking for expired ones costs what is found,
 * however many others there are: a binary heap by expiry, in which what was settled or renewed stays until it comes up.
 */
export class Holds {
  readonly #byId = new Map<string, Held>();
  #heap: Held[] = [];

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): Held | undefined {
    return this.#byId.get(id);
  }

  /** Adds a reservation; one of the same id is replaced. */
  set(held: Held): void {
    this.#byId.set(held.id, held);
    if (this.#heap.length > 2 * this.#byId.size + SLACK) this.#rebuild();
    else this.#push(held);
  }

  delete(id: string): void {
    this.#byId.delete(id);
  }

  /** Takes out one that has expired, the longest ago first; undefined where there is none. */
  takeExpired(now: number): Held | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined) return undefined;
      const alive = this.#byId.get(first.id) === first;
      if (alive && first.expiresAt > now) return undefined;
      this.#pop();
      if (!alive) continue;
      this.#byId.delete(first.id);
      return first;
    }
  }

  #rebuild(): void {
    // Sorted, which is a heap too.
    this.#heap = [...this.#byId.values()].sort((a, b) => a.expiresAt - b.expiresAt);
  }

  #push(held: Held): void {
    const heap = this.#heap;
    let index = heap.length;
    for (;;) {
      const parent = (index - 1) >> 1;
      const above = heap[parent];
      if (!above || above.expiresAt <= held.expiresAt) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = held;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      let below = heap[child];
      const right = heap[child + 1];
      if (below && right && right.expiresAt < below.expiresAt) {
        child++;
        below = right;
      }
      if (!below || below.expiresAt >= last.expiresAt) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = last;
  }
}
