import { randomUUID } from 'node:crypto';
import type { ConsumeRequest } from '../store.js';

/**
 * A sequence of numbered consume operations that run one after the other. Its receipts show whether the last operation was
 * executed.
 */
export interface Lane {
  readonly id: string;
  /** The number of the last operation that consumed amounts. */
  last: number;
  readonly startedAt: number;
}

/** The record that the Lua script of a consume operation writes, which proves that the operation was executed. */
export interface Receipt {
  readonly key: string;
  readonly number: string;
}

/** A consume operation whose result was lost. */
export interface UncertainConsume {
  readonly receipt: Receipt;
  readonly requests: readonly ConsumeRequest[];
}

/**
 * The lifetime of a lane. It must be shorter than the lifetime of its receipts, which expire a day after the first one
 * was written.
 */
const LANE_LIFETIME_MS = 3_600_000;

/** The lanes of a store. Each concurrent consume operation uses its own lane. */
export class Lanes {
  readonly #free: Lane[] = [];

  /**
   * Returns a lane for the next operation. A lane in which a result was lost is never returned, so that its receipts
   * stay unchanged until they are checked.
   */
  acquire(): Lane {
    const now = Date.now();
    const lane = this.#free.pop();
    return lane && now - lane.startedAt < LANE_LIFETIME_MS ? lane : { id: randomUUID(), last: 0, startedAt: now };
  }

  /** Makes a lane available for other operations. */
  release(lane: Lane): void {
    this.#free.push(lane);
  }
}
