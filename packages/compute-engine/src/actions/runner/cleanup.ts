import type { Core } from '../../core/core.js';
import type { Job } from '../../jobs/jobs.js';

/**
 * The handler for one kind of job that is not part of an action. Such a job is retried until it succeeds, because no
 * client could be informed of a failure. It may be executed again after a crash.
 */
export interface Cleanup {
  /** The kind of the stored jobs. */
  readonly name: string;
  readonly run: (core: Core, job: Job) => Promise<void>;
}
