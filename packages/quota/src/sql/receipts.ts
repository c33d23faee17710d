import { randomUUID } from 'node:crypto';
import type { StoredReservation } from '../store.js';

/** Obsolete receipts are deleted after each operation whose number is a multiple of this interval. */
const CLEANUP_INTERVAL = 1_000;

/** The record that a consume operation writes in its transaction, which proves that the transaction was committed. */
export interface Receipt {
  /** The id of the sequence of consecutive operations to which the receipt belongs. */
  readonly lane: string;
  readonly number: number;
  /** The amounts that the operation consumes; empty until the operation is sent to the database. */
  requests: readonly Pick<StoredReservation, 'project' | 'amounts'>[];
}

/**
 * Assigns numbers to the consecutive consume operations of a store. If the result of an operation is lost, its receipt
 * shows whether the operation was committed.
 */
export class Receipts {
  #lane = randomUUID();
  #last = 0;

  /** Returns a receipt for the next operation. */
  nextReceipt(): Receipt {
    return { lane: this.#lane, number: ++this.#last, requests: [] };
  }

  /** Returns whether this receipt and all earlier ones should be deleted. Called when the operation's result arrives. */
  isCleanupDue({ number }: Receipt): boolean {
    return number % CLEANUP_INTERVAL === 0;
  }

  /**
   * Starts a new lane after the result of an operation was lost, so that its receipt is not deleted together with later ones.
   */
  startLane(): void {
    this.#lane = randomUUID();
    this.#last = 0;
  }
}
