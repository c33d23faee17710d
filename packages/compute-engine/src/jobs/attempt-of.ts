import type { Server } from '../model/index.js';

/** Returns the number of the job attempt that may change a server and its machine. */
export function currentAttempt({ jobAttempt = 1 }: Server): number {
  return jobAttempt;
}
