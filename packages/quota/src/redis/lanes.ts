import { randomUUID } from 'node:crypto';
import type { ConsumeRequest } from '../store.js';

/** Acts that follow each other, each that took something with a number: receipts of a lane tell whether the last was done. */
export interface Lane {
  readonly id: string;
  /** The number of the last act that took something. */
  last: number;
  readonly begun: number;
}

/** What an act writes in the same script, so that it can be told whether it was done. */
export interface Receipt {
  readonly key: string;
  readonly number: string;
}

/** What was used at once, of which the answer was lost. */
export interface Act {
  readonly receipt: Receipt;
  readonly requests: readonly ConsumeRequest[];
}

/** Receipts are kept for a day from the first one on, so a lane has to be shorter. */
const LANE_MS = 3_600_000;

/** The lanes of a store: as many as there are acts under way at a time. */
export class Lanes {
  readonly #free: Lane[] = [];

  /** For the next act. A lane in doubt is never given back: its receipts stay as they are until they were looked at. */
  take(): Lane {
    const now = Date.now();
    const lane = this.#free.pop();
    return lane && now - lane.begun < LANE_MS ? lane : { id: randomUUID(), last: 0, begun: now };
  }

  giveBack(lane: Lane): void {
    this.#free.push(lane);
  }
}
