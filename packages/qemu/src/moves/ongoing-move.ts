import type { MoveProgress } from '@apistrata/compute-engine/drivers';

/** The move of a machine to another host, on its source. */
export interface OngoingMove {
  /** Resolves when the guest runs on the other host; rejects if it stays on this host. */
  readonly done: Promise<void>;
  /** Forces completion: pauses the guest until everything has arrived. */
  speedUp(): Promise<void>;
  /** Cancels the move. @throws QemuError `MOVE_COMPLETED` if it is too late */
  abort(): Promise<void>;
  /** Stops the work of this process. The machine stays on this host unless it has already moved. */
  leave(): Promise<void>;
  progress(): Promise<MoveProgress | null>;
}
