import type { Server } from '../model/index.js';

/** Returns the attempt of its job that may write to a server, and have something done to its machine. */
export function attemptOf({ jobAttempt = 1 }: Server): number {
  return jobAttempt;
}
