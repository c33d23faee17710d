import type { Fault, ServerPatch } from '../../model/index.js';
import { currentClaim, keepOnlyClaim } from '../../scheduler/server-claims.js';
import { movePortsAndVolumes } from '../../server-migrations/follow-server.js';
import { endMigrations } from '../../server-migrations/migration-record.js';
import type { Action } from './action.js';
import type { AdditionalWrite, ServerRun } from './server-run.js';

/** Returns the fault that the API shows for a server after an error. */
export function faultOf(error: Error, now: number): Fault {
  return { code: 500, message: error.message || error.name, details: error.stack ?? String(error), createdAt: now };
}

/**
 * Returns an additional write that ends a server's open moves and releases their claims. Moves of a server in ERROR can
 * no longer be confirmed or reverted.
 */
function endMoves({ core }: ServerRun): AdditionalWrite {
  return async (tx, server) => {
    await endMigrations(tx, core, server.id);
    return { ...(await keepOnlyClaim(tx, server, currentClaim(server))), oldFlavor: null, newFlavor: null };
  };
}

/** Ends a failed action: sets its server to ERROR and deletes its job. */
export async function endWithError(
  run: ServerRun,
  error: Error,
  patch: ServerPatch,
  additionalWrite: AdditionalWrite,
): Promise<void> {
  await run.end({ vmState: 'error', fault: faultOf(error, run.core.clock.now()), ...patch }, additionalWrite);
}

/**
 * Ends a failed action and deletes its job. The server keeps its state or is set to ERROR. In either case, its record
 * shows the fault.
 * @param onFailure the state of the server after a failure, as the action's definition specifies
 * @param additionalWrite additional writes in the same transaction; by default, the open moves of a server in ERROR are
 *   ended
 */
export async function failRun(
  run: ServerRun,
  onFailure: Action['onFailure'],
  error: Error,
  patch: ServerPatch = {},
  additionalWrite?: AdditionalWrite,
): Promise<void> {
  if (onFailure !== 'error') return run.end({ fault: faultOf(error, run.core.clock.now()), ...patch }, additionalWrite);
  if (!additionalWrite) await movePortsAndVolumes(run).catch(() => {});
  await endWithError(run, error, patch, additionalWrite ?? endMoves(run));
}

/**
 * Ends an action whose failure handling also failed, for example because a catalog is unavailable. The server is set to
 * ERROR and keeps its resources until its deletion releases them.
 */
export async function abandonRun(run: ServerRun, error: Error): Promise<void> {
  const cause = new Error(`gave up after ${run.job.attempts} attempts: ${error.message}`, { cause: error });
  await run.step('compute_retry_task', () => Promise.reject(cause)).catch(() => {});
  await endWithError(run, cause, {}, endMoves(run));
}
