import type { Core } from '../../core/core.js';
import type { Job } from '../../jobs/jobs.js';

/**
 * Work on what belongs to no server, or to none yet. It is tried until it is done, as nobody else could be told of it;
 * it may be begun again after a crash.
 */
export interface Cleanup {
  /** The kind of stored jobs. */
  readonly name: string;
  readonly run: (core: Core, job: Job) => Promise<void>;
}
