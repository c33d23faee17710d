import type { MoveProgress } from '@apistrata/compute-engine/drivers';

/** A machine on its way to another host, as its source sees it. */
export interface OngoingMove {
  /** Resolves when it runs there; rejects when it has stayed. */
  readonly done: Promise<void>;
  /** Has it arrive soon: the guest waits until everything is there. */
  hurry(): Promise<void>;
  /** Keeps the machine here. @throws `MOVE_COMPLETED` when it is too late for that */
  abort(): Promise<void>;
  /** Ends what this process does for it. The machine stays unless it has gone already. */
  leave(): Promise<void>;
  progress(): Promise<MoveProgress | null>;
}
