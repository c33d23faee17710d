import type { Tx } from '@apistrata/record-store';
import type { ServerScope } from '../../core/core.js';
import type { DriverVerb } from '../../drivers/driver.js';
import type { Rejection } from '../../errors/rejection.js';
import type { ActionEvent, Server, ServerPatch, TaskState, VmState } from '../../model/index.js';
import type { ConcurrentRun } from './concurrent-run.js';
import type { Notifies } from './notifications.js';
import type { ServerRun } from './server-run.js';

/** An action's preconditions, its names in error messages and in the action history, and its notifications. */
export interface ActionRules<Name extends string = string> {
  /**
   * The action's name in the API (if the API contains the action) and in rules of the simulated driver. It is also the
   * kind of the action's stored jobs.
   */
  readonly name: Name;
  /** Values of the server's `vm_state` in which the action is allowed. Default: all values. */
  readonly vmStates?: readonly VmState[];
  /**
   * Task states in which the action is allowed. Null means that no task is in progress; `any` allows all task states.
   * Default: `[null]`.
   */
  readonly taskStates?: readonly (TaskState | null)[] | 'any';
  /** Task states in which the action is rejected even if `taskStates` allows them. */
  readonly excludedTaskStates?: readonly TaskState[];
  /** Whether the action is rejected while the server is locked, except for administrators. */
  readonly lock: boolean;
  /** Whether the action is allowed for servers that were never launched. */
  readonly neverLaunched?: true;
  /**
   * Whether the action is allowed on servers of other projects, because its caller has already been authorized. By
   * default, such servers are reported as not found (404).
   */
  readonly anyProject?: true;
  /**
   * The error code for servers with attached shares, which the action would have to mount again. By default, the action
   * is allowed for servers with shares.
   */
  readonly rejectionWithShares?: 'CONFLICT' | 'BAD_REQUEST';
  /**
   * The driver command that the action requires. If the driver does not support the command, the action is rejected
   * with 501.
   */
  readonly needs?: DriverVerb;
  /** Creates the error to throw instead of the 501 error if the driver does not support the required command. */
  readonly unsupported?: () => Rejection;
  /** The action's name in the server's action history. If undefined, the action is not recorded. */
  readonly history: string | undefined;
  /**
   * The notifications that the action sends. A string is shorthand for an object in which `startAndEnd`, `completed`
   * and `failed` have that value. If null, only notifications of the server's state changes are sent.
   */
  readonly notifies: Notifies;
  /** The action's name in the messages of 409 errors. Default: `name`. */
  readonly nameInMessages?: string;
}

/** Performs checks and writes in the transaction that starts an action. Returns the changes to the server record. */
export type Change = (tx: Tx, server: Server) => ServerPatch | undefined | Promise<ServerPatch | undefined>;

/**
 * The decisions that an action makes before the transaction that starts the action. Inside the transaction, only SQL
 * may be awaited.
 */
export interface StartedAction<Arguments, Result> {
  /** The arguments that the action's job stores. */
  readonly arguments: Arguments;
  readonly change?: Change;
  /** Derives the caller's result from the server record after the transaction. */
  readonly result?: (server: Server) => Result;
  /** Undoes changes in other services if the transaction rejects the action. */
  readonly undoAfterRejection?: () => Promise<unknown>;
  /** Whether the action is already complete, so that no job is needed. */
  readonly done?: true;
}

/** The type of `arguments` for jobs without arguments. */
export type NoArguments = Readonly<Record<string, never>>;

/** An action that owns its server while in progress. */
export interface Action<Name extends string = string, Request = void, Arguments = NoArguments, Result = void>
  extends ActionRules<Name> {
  readonly concurrent?: undefined;
  /** Task states of the server during the action, in order. The first is set when the action is accepted. */
  readonly during: readonly TaskState[];
  /** State of the server after a failure: unchanged, or ERROR. */
  readonly onFailure: 'unchanged' | 'error';
  /**
   * Validates the request beyond the preconditions and makes all decisions before the action starts. Default: no
   * validation.
   */
  readonly begin?: (scope: ServerScope, request: Request) => Promise<StartedAction<Arguments, Result>>;
  /** Executes the action and ends by calling `finish` or `end`. After a crash, it may be executed again. */
  readonly run: (run: ServerRun<Arguments>) => Promise<void>;
  /** Handles an error that `run` throws. Default: sets the server's state as `onFailure` specifies. */
  readonly fail?: (run: ServerRun<Arguments>, error: Error) => Promise<void>;
  /**
   * Cleans up after another job has taken over the server. May be called more than once. Returns `Success` if the other
   * job has completed this job's work. Otherwise, the open history events are recorded as failed.
   */
  readonly cleanUpAfterTakeover?: (run: ServerRun<Arguments>) => Promise<'Success' | undefined>;
}

/** What a concurrent action stores and returns after its guarded call to another service has succeeded. */
export interface AcceptedAction<Result> {
  readonly change?: (server: Server) => ServerPatch;
  readonly result?: (server: Server) => Result;
  /** Events for the action history. Set if the request has completed the entire action, so that no job is needed. */
  readonly done?: readonly ActionEvent[];
}

/**
 * The decisions that a concurrent action makes before it starts. An action that must call another service (`perform`)
 * first stores `change` with a guard: the action's job, which is executed only if the request does not complete, for
 * example because the process crashes. The action's `run` therefore either completes or undoes the action.
 */
export interface StartedConcurrentAction<Arguments, Result> {
  readonly arguments: Arguments;
  readonly change?: Change;
  readonly result?: (server: Server) => Result;
  /** The guard's id; default: random. */
  readonly guardId?: string;
  /** Calls the other service. */
  readonly perform?: () => Promise<AcceptedAction<Result>>;
  /** Returns the changes to the server record that undo `change`. */
  readonly undo?: (server: Server) => ServerPatch;
  /**
   * Releases the resources that a failed `perform` may have acquired, even partially. Omit this function if a rejected
   * call acquires nothing. If the outcome of the call is unknown in that case, the guard is executed.
   */
  readonly release?: () => Promise<void>;
}

/** An action that runs concurrently with others and does not set a task state. */
export interface ConcurrentAction<Name extends string = string, Request = void, Arguments = NoArguments, Result = void>
  extends ActionRules<Name> {
  readonly concurrent: true;
  readonly begin?: (scope: ServerScope, request: Request) => Promise<StartedConcurrentAction<Arguments, Result>>;
  /** Executes the action. After a crash, it may be executed again. */
  readonly run: (run: ConcurrentRun<Arguments>) => Promise<void>;
  /**
   * Releases the action's resources in the catalogs and in the server record (if it still exists). Called after a
   * failure, and if the server is deleted in the meantime. May be called more than once. Default: releases nothing.
   */
  readonly undo?: (run: ConcurrentRun<Arguments>) => Promise<void>;
}

/** An exclusive or concurrent action. */
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
 *   vmStates: ['active'],
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
