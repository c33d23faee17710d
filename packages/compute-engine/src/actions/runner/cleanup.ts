import type { Core } from '../../core/core.js';
import type { Job } from '../../jobs/jobs.js';

/**
 * The handler of a kind of jobs that are not part of an action. Such a job is retried until it succeeds, because its
 * failure could not be reported to any client. It may be executed again after a crash.
 */
export interface Cleanup {
  /** The kind of the stored jobs. */
  readonly name: string;
  readonly run: (core: Core, job: Job) => Promise<void>;
}
