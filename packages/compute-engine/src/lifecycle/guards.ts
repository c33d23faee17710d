import type { Tx } from '../store/database.js';
import { addJob, type NewJob } from './jobs.js';

/** How long a request may take between writing down what it is about to do and having done it, in milliseconds. */
export const GUARD_MS = 60_000;

/**
 * A job that nobody runs unless the request that wrote it down never comes to its end: what a request does to another
 * service before it can write the result here would otherwise be known to nobody when the process dies.
 */
export async function addGuard(tx: Tx, job: NewJob): Promise<void> {
  await addJob(tx, job, Date.now() + GUARD_MS);
}

/** Takes the guard away; false when it was late and has begun its work, or has done it. */
export async function releaseGuard(tx: Tx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('jobs')
    .where('id', '=', id)
    .where('lease_owner', 'is', null)
    .executeTakeFirstOrThrow();
  return numDeletedRows === 1n;
}
