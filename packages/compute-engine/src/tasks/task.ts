import { type ActionName, transitionOf } from '../lifecycle/transitions.js';
import { followServer } from '../migrations/follow-server.js';
import { endMigrations } from '../migrations/migration-record.js';
import type { Fault, ServerPatch } from '../model/index.js';
import { keepClaim, ownClaim } from '../scheduler/server-claims.js';
import type { AlsoWrite, TaskRun } from './task-run.js';

/** The background half of an action. */
export interface Task {
  readonly action: ActionName;
  /** Does the work and ends with `finish`. May be begun again after a crash. */
  readonly run: (run: TaskRun) => Promise<void>;
  /** Puts things right when `run` threw; default: what the lifecycle table says of failures. */
  readonly fail?: (run: TaskRun, error: Error) => Promise<void>;
  /**
   * Clears away what nobody waits for any more, after another job has taken the server over. May come more than once.
   * `Success`: that job has brought this one's work to its end; otherwise the steps it was in have failed.
   */
  readonly abandoned?: (run: TaskRun) => Promise<'Success' | undefined>;
}

/** The fault that a failure leaves on its server. */
export function faultOf(error: Error, now: number): Fault {
  return { code: 500, message: error.message || error.name, details: error.stack ?? String(error), createdAt: now };
}

/** A server in error waits for no verdict on a move, and has its place once. */
const settle: (run: TaskRun) => AlsoWrite = (run) => async (tx, server) => {
  await endMigrations(tx, run.core, server.id);
  return { ...(await keepClaim(tx, server, ownClaim(server))), oldFlavor: null, newFlavor: undefined };
};

/**
 * Ends a failed task as the lifecycle table says: the server as it was, or in error; with a fault in either case.
 * @param also further writes; default for servers that end in error: what a move has left open is closed
 */
export async function failTask(
  run: TaskRun,
  action: ActionName,
  error: Error,
  patch: ServerPatch = {},
  also?: AlsoWrite,
): Promise<void> {
  const inError = transitionOf(action).onFailure === 'error';
  const state: ServerPatch = inError ? { vmState: 'error' } : {};
  if (inError && !also) await followServer(run).catch(() => {});
  const writes = also ?? (inError ? settle(run) : undefined);
  await run.finish({ ...state, fault: faultOf(error, run.core.clock.now()), ...patch }, writes);
}

/**
 * Ends a task that could not even fail in an orderly way: a catalog does not take back what the task had of it, say. The
 * server is in error and keeps what it has, so that its deletion gives that back.
 */
export async function giveUp(run: TaskRun, error: Error): Promise<void> {
  const cause = new Error(`gave up after ${run.job.attempts} attempts: ${error.message}`, { cause: error });
  await run.step('compute_retry_task', () => Promise.reject(cause)).catch(() => {});
  await run.finish({ vmState: 'error', fault: faultOf(cause, run.core.clock.now()) }, settle(run));
}
