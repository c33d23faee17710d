import { EngineError } from '../../errors/engine-error.js';

/** Another job has taken over the server (for example, to delete it): this one ends without a result. */
export class Superseded extends EngineError<'SUPERSEDED'> {
  constructor(message: string) {
    super('SUPERSEDED', message);
  }
}

/** Changes a server or one of its items, unless it no longer exists. */
export async function ignoreIfDeleted(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
  }
}
