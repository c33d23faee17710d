import type { MoveProgress } from '@apistrata/compute-engine/drivers';

/** A live migration in progress, as seen by the source host. */
export interface OngoingMove {
  /** Resolves when the guest runs on the destination host; rejects if the guest stays on the source host. */
  readonly done: Promise<void>;
  /** Forces completion by pausing the guest until its memory and disks have been transferred. */
  pauseToComplete(): Promise<void>;
  /** Cancels the migration. @throws QemuError `MOVE_COMPLETED` if the guest already runs on the destination host */
  abort(): Promise<void>;
  /** Ends the migration when the host closes. The machine stays on this host unless it has already moved. */
  close(): Promise<void>;
  progress(): Promise<MoveProgress | null>;
}
