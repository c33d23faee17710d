import { EngineError } from '../../errors/engine-error.js';

/** The error of a job whose server another job has taken over, for example to delete it. The job ends without a result. */
export class Superseded extends EngineError<'SUPERSEDED'> {
  constructor(message: string) {
    super('SUPERSEDED', message);
  }
}

/** Runs a change of a server or of one of its items. No-op if the server or the item no longer exists. */
export async function ignoreIfDeleted(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
  }
}
