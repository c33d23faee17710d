import type { Tx } from '@apistrata/record-store';
import type { ServerScope } from '../../core/core.js';
import type { DriverVerb } from '../../drivers/driver.js';
import type { Rejection } from '../../errors/rejection.js';
import type { ActionEvent, Server, ServerPatch, TaskState, VmState } from '../../model/index.js';
import type { ConcurrentRun } from './concurrent-run.js';
import type { Notifies } from './notifications.js';
import type { ServerRun } from './server-run.js';

/** The preconditions of an action, its name in messages and in the history, and its notifications. */
export interface ActionRules<Name extends string = string> {
  /** The action's name in the API (if it is part of it) and in rules of the simulated driver; also the kind of its stored jobs. */
  readonly name: Name;
  /** Required states of the server; default: any. */
  readonly vm?: readonly VmState[];
  /** Allowed task states; null stands for a server without a task. Default: `[null]`. `any` allows all. */
  readonly task?: readonly (TaskState | null)[] | 'any';
  /** Forbidden task states; all others are allowed. */
  readonly notTask?: readonly TaskState[];
  /** Whether the action is rejected while the server is locked, except for administrators. */
  readonly lock: boolean;
  /** Whether the action is allowed for servers that were never launched. */
  readonly neverLaunched?: true;
  /**
   * Whether the action is allowed on servers of other projects, because its caller has already been authorized. Otherwise such
   * servers are reported as 404.
   */
  readonly anyProject?: true;
  /** The code of the error while shares are attached, because the action would require mounting them again. Default: no error. */
  readonly notWithShares?: 'CONFLICT' | 'BAD_REQUEST';
  /** The verb that the driver must support; otherwise the action is rejected with 501. */
  readonly needs?: DriverVerb;
  /** Creates the error to throw instead of the 501. */
  readonly unsupported?: () => Rejection;
  /** Name in the server's history; undefined: no entry. */
  readonly history: string | undefined;
  /**
   * Notifications of the action. A string is short for `around`, `completed` and `failed` with that name; null: only
   * the notifications of its state changes are sent.
   */
  readonly notifies: Notifies;
  /** The action's name in 409 messages; default: `name`. */
  readonly word?: string;
}

/** Checks and writes in the transaction that starts an action; returns the changes of the server. */
export type Change = (tx: Tx, server: Server) => ServerPatch | undefined | Promise<ServerPatch | undefined>;

/** What an action decides before the transaction that starts it, because only SQL may be awaited inside the transaction. */
export interface StartedAction<Arguments, Result> {
  /** Arguments of the job, stored with it. */
  readonly arguments: Arguments;
  readonly change?: Change;
  /** Creates the value that is returned to the caller, from the server after the transaction. */
  readonly result?: (server: Server) => Result;
  /** Undoes changes in other services if the transaction rejects the action. */
  readonly rejected?: () => Promise<unknown>;
  /** Whether the action is already complete, so that no job is needed. */
  readonly done?: true;
}

/** The type of `arguments` for jobs without arguments. */
export type NoArguments = Readonly<Record<string, never>>;

/** An action that owns its server while it is in progress. */
export interface Action<Name extends string = string, Request = void, Arguments = NoArguments, Result = void>
  extends ActionRules<Name> {
  readonly concurrent?: undefined;
  /** Task states in their order; the first is set when the action is accepted. */
  readonly during: readonly TaskState[];
  /** State of the server after a failure: unchanged, or ERROR. */
  readonly onFailure: 'unchanged' | 'error';
  /** Validates the request beyond the preconditions and makes all decisions; default: none. */
  readonly begin?: (scope: ServerScope, request: Request) => Promise<StartedAction<Arguments, Result>>;
  /** Executes the action and ends with `finish` or `end`. May be repeated after a crash. */
  readonly run: (run: ServerRun<Arguments>) => Promise<void>;
  /** Handles an error of `run`; default: as `onFailure` defines. */
  readonly fail?: (run: ServerRun<Arguments>, error: Error) => Promise<void>;
  /**
   * Cleans up after another job has taken over the server. May be repeated. Returns `Success` if the other job has completed
   * the work of this one; otherwise the open events are recorded as failed.
   */
  readonly abandoned?: (run: ServerRun<Arguments>) => Promise<'Success' | undefined>;
}

/** The result of the call to another service that a guard protects. */
export interface AcceptedAction<Result> {
  readonly change?: (server: Server) => ServerPatch;
  readonly result?: (server: Server) => Result;
  /** Events for the history, if the request has completed all of the work; no job follows. */
  readonly done?: readonly ActionEvent[];
}

/**
 * What a concurrent action decides before it starts. An action that must call another service (`perform`) first stores `change`
 * together with a guard: a job that undoes it if the process dies before the response is stored.
 */
export interface StartedConcurrentAction<Arguments, Result> {
  readonly arguments: Arguments;
  readonly change?: Change;
  readonly result?: (server: Server) => Result;
  /** Calls the other service. */
  readonly perform?: () => Promise<AcceptedAction<Result>>;
  /** Undoes `change`. */
  readonly undo?: (server: Server) => ServerPatch;
  /**
   * Releases resources that a failed `perform` may have acquired, even partially. Omit it if a rejected call has no effect; after an
   * outage, the guard then releases the resources.
   */
  readonly releasePort?: () => Promise<void>;
}

/** An action that runs concurrently with others and does not set a task state. */
export interface ConcurrentAction<Name extends string = string, Request = void, Arguments = NoArguments, Result = void>
  extends ActionRules<Name> {
  readonly concurrent: true;
  readonly begin?: (scope: ServerScope, request: Request) => Promise<StartedConcurrentAction<Arguments, Result>>;
  /** Executes the action. May be repeated after a crash. */
  readonly run: (run: ConcurrentRun<Arguments>) => Promise<void>;
  /**
   * Releases resources in the catalogs and in the server (if it still exists), after a failure and if the server is
   * deleted in the meantime. May be repeated. Default: releases nothing.
   */
  readonly undo?: (run: ConcurrentRun<Arguments>) => Promise<void>;
}

/** An action of either kind. */
export type AnyAction<Name extends string = string> =
  | Action<Name, any, any, any>
  | ConcurrentAction<Name, any, any, any>;

/**
 * Defines an action that owns its server. The types of its request, arguments and result are inferred from `begin`.
 *
 * @example
 * ```ts
 * import { action } from '@apistrata/compute-engine/actions';
 *
 * const rest = action({
 *   name: 'rest',
 *   vm: ['active'],
 *   needs: 'pause',
 *   lock: true,
 *   during: ['pausing'],
 *   history: 'rest',
 *   notifies: 'rest',
 *   onFailure: 'error',
 *   run: async (run) => {
 *     await run.perform({ verb: 'pause' }, 'pausing', 'compute_rest_instance');
 *     await run.finish({ vmState: 'paused', powerState: 3 });
 *   },
 * });
 * ```
 */
export function action<const Name extends string, Request = void, Arguments = NoArguments, Result = void>(
  record: Action<Name, Request, Arguments, Result>,
): Action<Name, Request, Arguments, Result> {
  return record;
}

/** Defines an action that runs concurrently with others. */
export function concurrentAction<const Name extends string, Request = void, Arguments = NoArguments, Result = void>(
  record: Omit<ConcurrentAction<Name, Request, Arguments, Result>, 'concurrent'>,
): ConcurrentAction<Name, Request, Arguments, Result> {
  return { ...record, concurrent: true };
}
