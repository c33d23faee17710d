import { EngineError } from '../../errors/engine-error.js';

/** Another job has taken the server over (it is being deleted, say): this one ends without a word. */
export class Superseded extends EngineError<'SUPERSEDED'> {
  constructor(message: string) {
    super('SUPERSEDED', message);
  }
}

/** Does something to a server, or to a thing of it, unless it is gone. */
export async function ifStillThere(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Superseded)) throw error;
  }
}
