import type { Fault, ServerPatch } from '../../model/index.js';
import { keepClaim, ownClaim } from '../../scheduler/server-claims.js';
import { followServer } from '../../server-migrations/follow-server.js';
import { endMigrations } from '../../server-migrations/migration-record.js';
import type { Action } from './action.js';
import type { AlsoWrite, ServerRun } from './server-run.js';

/** The fault that a failure leaves on its server. */
export function faultOf(error: Error, now: number): Fault {
  return { code: 500, message: error.message || error.name, details: error.stack ?? String(error), createdAt: now };
}

/** A server in error waits for no verdict on a move, and has its place once. */
function endMoves({ core }: ServerRun): AlsoWrite {
  return async (tx, server) => {
    await endMigrations(tx, core, server.id);
    return { ...(await keepClaim(tx, server, ownClaim(server))), oldFlavor: null, newFlavor: null };
  };
}

/**
 * Ends failed work: the server as it was, or in error; with a fault in either case.
 * @param onFailure what the action's record says of failures
 * @param also further writes; default for servers that end in error: what a move has left open is closed
 */
export async function failRun(
  run: ServerRun,
  onFailure: Action['onFailure'],
  error: Error,
  patch: ServerPatch = {},
  also?: AlsoWrite,
): Promise<void> {
  const inError = onFailure === 'error';
  if (inError && !also) await followServer(run).catch(() => {});
  const writes = also ?? (inError ? endMoves(run) : undefined);
  const state: ServerPatch = inError ? { vmState: 'error' } : {};
  await run.finish({ ...state, fault: faultOf(error, run.core.clock.now()), ...patch }, writes);
}

/**
 * Ends work that could not even fail in an orderly way: a catalog does not take back what the work had of it, say. The
 * server is in error and keeps what it has, so that its deletion gives that back.
 */
export async function giveUp(run: ServerRun, error: Error): Promise<void> {
  const cause = new Error(`gave up after ${run.job.attempts} attempts: ${error.message}`, { cause: error });
  await run.step('compute_retry_task', () => Promise.reject(cause)).catch(() => {});
  await run.finish({ vmState: 'error', fault: faultOf(cause, run.core.clock.now()) }, endMoves(run));
}
