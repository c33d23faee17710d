import type { Amounts } from '../limits.js';

/** A reservation in the memory store. */
export interface ReservationEntry {
  readonly id: string;
  readonly amounts: Amounts;
  /** When the reservation expires, in milliseconds since 1970 according to the store's clock. */
  readonly expiresAt: number;
}

/** The heap is rebuilt when its stale entries outnumber the reservations by more than this. */
const MAX_STALE_ENTRIES = 64;

/**
 * The reservations of one project, indexed by id and by expiry. The index by expiry is a binary heap, so that finding
 * expired reservations does not require a scan of the others. Settled and renewed reservations remain in the heap as
 * stale entries until they reach the top.
 */
export class ReservationHeap {
  readonly #byId = new Map<string, ReservationEntry>();
  #heap: ReservationEntry[] = [];

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): ReservationEntry | undefined {
    return this.#byId.get(id);
  }

  /** Adds a reservation, or replaces the one with the same id. */
  set(entry: ReservationEntry): void {
    this.#byId.set(entry.id, entry);
    if (this.#heap.length > 2 * this.#byId.size + MAX_STALE_ENTRIES) this.#rebuild();
    else this.#push(entry);
  }

  delete(id: string): void {
    this.#byId.delete(id);
  }

  /** Removes and returns the reservation that expired first, or undefined if none has expired. */
  removeExpired(now: number): ReservationEntry | undefined {
    for (;;) {
      const earliestEntry = this.#heap[0];
      if (earliestEntry === undefined) return undefined;
      const isCurrent = this.#byId.get(earliestEntry.id) === earliestEntry;
      if (isCurrent && earliestEntry.expiresAt > now) return undefined;
      this.#pop();
      if (!isCurrent) continue;
      this.#byId.delete(earliestEntry.id);
      return earliestEntry;
    }
  }

  #rebuild(): void {
    // A sorted array is a valid heap.
    this.#heap = [...this.#byId.values()].sort((a, b) => a.expiresAt - b.expiresAt);
  }

  #push(entry: ReservationEntry): void {
    const heap = this.#heap;
    let index = heap.length;
    for (;;) {
      const parentIndex = (index - 1) >> 1;
      const parentEntry = heap[parentIndex];
      if (!parentEntry || parentEntry.expiresAt <= entry.expiresAt) break;
      heap[index] = parentEntry;
      index = parentIndex;
    }
    heap[index] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const lastEntry = heap.pop();
    if (!lastEntry || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let childIndex = 2 * index + 1;
      let childEntry = heap[childIndex];
      const rightEntry = heap[childIndex + 1];
      if (childEntry && rightEntry && rightEntry.expiresAt < childEntry.expiresAt) {
        childIndex++;
        childEntry = rightEntry;
      }
      if (!childEntry || childEntry.expiresAt >= lastEntry.expiresAt) break;
      heap[index] = childEntry;
      index = childIndex;
    }
    heap[index] = lastEntry;
  }
}
