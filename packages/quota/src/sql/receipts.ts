import { randomUUID } from 'node:crypto';
import type { Hold } from '../store.js';

/** How many receipts of a lane gather before those that nobody needs any more are cleared away. */
const CLEARED_EVERY = 1_000;

/** What one act writes in its own transaction, so that it can be told whether it was done. */
export interface Receipt {
  /** Receipts of one lane are of acts that follow each other. */
  readonly lane: string;
  readonly number: number;
  /** What the act took, as far as it got. */
  taken: readonly Pick<Hold, 'project' | 'amounts'>[];
}

/** Names the acts of one store that follow each other: where the answer to one was lost, its receipt tells whether it was done. */
export class Receipts {
  #lane = randomUUID();
  #last = 0;

  next(): Receipt {
    return { lane: this.#lane, number: ++this.#last, taken: [] };
  }

  /** Whether the receipts up to this one, whose answer is there, are to be cleared away now. */
  clearsAt({ number }: Receipt): boolean {
    return number % CLEARED_EVERY === 0;
  }

  /** After an act that may still be done, or is to be found out about: its receipt is not cleared away with later ones. */
  leaveLane(): void {
    this.#lane = randomUUID();
    this.#last = 0;
  }
}
