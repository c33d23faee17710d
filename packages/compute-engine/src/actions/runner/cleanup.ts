import type { Core } from '../../core/core.js';
import type { Job } from '../../jobs/jobs.js';

/**
 * A job that is not part of an action. It is retried until it succeeds, because its failure could not be reported to
 * any client. It may be repeated after a crash.
 */
export interface Cleanup {
  /** The kind of its stored jobs. */
  readonly name: string;
  readonly run: (core: Core, job: Job) => Promise<void>;
}
