import { randomUUID } from 'node:crypto';
import type { StoredReservation } from '../store.js';

/** The number of receipts of a lane after which obsolete ones are deleted. */
const CLEANUP_INTERVAL = 1_000;

/** The record that an operation writes in its own transaction, as proof that it was committed. */
export interface Receipt {
  /** The lane of the receipt. The receipts of a lane belong to consecutive operations. */
  readonly lane: string;
  readonly number: number;
  /** The amounts that the operation has taken so far. */
  reserved: readonly Pick<StoredReservation, 'project' | 'amounts'>[];
}

/**
 * Numbers the consecutive operations of a store. If the result of an operation was lost, its receipt shows whether it was
 * committed.
 */
export class Receipts {
  #lane = randomUUID();
  #last = 0;

  /** Returns a receipt for the next operation. */
  next(): Receipt {
    return { lane: this.#lane, number: ++this.#last, reserved: [] };
  }

  /** Returns whether the receipts up to this one, whose result has arrived, should be deleted now. */
  isCleanupDue({ number }: Receipt): boolean {
    return number % CLEANUP_INTERVAL === 0;
  }

  /**
   * Starts a new lane after an operation with an unknown result, so that its receipt is not deleted with later ones.
   */
  startLane(): void {
    this.#lane = randomUUID();
    this.#last = 0;
  }
}
