import { EngineError } from '../../errors/engine-error.js';

/**
 * The error of a job whose server has been taken over by another job, for example to delete the server. The job ends
 * without a result.
 */
export class Superseded extends EngineError<'SUPERSEDED'> {
  constructor(message: string) {
    super('SUPERSEDED', message);
  }
}

/**
 * Runs a function that changes a server or one of its items. Ignores the error if the server or item no longer exists.
 */
export async function ignoreIfDeleted(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
  }
}
