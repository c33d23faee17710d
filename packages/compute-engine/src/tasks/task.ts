import { type ActionName, transitionOf } from '../lifecycle/transitions.js';
import type { Fault } from '../model/index.js';
import type { AlsoWrite, ServerPatch, TaskRun } from './task-run.js';

/** The background half of an action. */
export interface Task {
  readonly action: ActionName;
  /** Does the work and ends with `finish`. May be begun again after a crash. */
  readonly run: (run: TaskRun) => Promise<void>;
  /** Puts things right when `run` threw; default: what the lifecycle table says of failures. */
  readonly fail?: (run: TaskRun, error: Error) => Promise<void>;
  /** Clears away what nobody waits for any more, after another job has taken the server over. May come more than once. */
  readonly abandoned?: (run: TaskRun) => Promise<void>;
}

/** The fault that a failure leaves on its server. */
export function faultOf(error: Error, now: number): Fault {
  return { code: 500, message: error.message || error.name, details: error.stack ?? String(error), createdAt: now };
}

/** Ends a failed task as the lifecycle table says: the server as it was, or in error; with a fault in either case. */
export async function failTask(
  run: TaskRun,
  action: ActionName,
  error: Error,
  patch: ServerPatch = {},
  also?: AlsoWrite,
): Promise<void> {
  const inError: ServerPatch = transitionOf(action).onFailure === 'error' ? { vmState: 'error' } : {};
  await run.finish({ ...inError, fault: faultOf(error, run.core.clock.now()), ...patch }, also);
}
