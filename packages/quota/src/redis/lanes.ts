import { randomUUID } from 'node:crypto';
import type { ConsumeRequest } from '../store.js';

/** A sequence of numbered operations. The receipts of a lane record whether its last operation was executed. */
export interface Lane {
  readonly id: string;
  /** The number of the last operation that took an amount. */
  last: number;
  readonly startedAt: number;
}

/** The record that an operation writes in its own script, as proof that it was executed. */
export interface Receipt {
  readonly key: string;
  readonly number: string;
}

/** A consume operation whose result was lost. */
export interface Act {
  readonly receipt: Receipt;
  readonly requests: readonly ConsumeRequest[];
}

/** Receipts are kept for a day after the first one, so a lane must be shorter. */
const LANE_MS = 3_600_000;

/** The lanes of a store: as many as there are concurrent operations. */
export class Lanes {
  readonly #free: Lane[] = [];

  /**
   * Returns a lane for the next operation. A lane with a lost result is never returned, so that its receipts stay
   * unchanged until they are checked.
   */
  take(): Lane {
    const now = Date.now();
    const lane = this.#free.pop();
    return lane && now - lane.startedAt < LANE_MS ? lane : { id: randomUUID(), last: 0, startedAt: now };
  }

  release(lane: Lane): void {
    this.#free.push(lane);
  }
}
