import type { Tx } from '@apistrata/record-store';
import type { ServerScope } from '../../core/core.js';
import type { DriverVerb } from '../../drivers/driver.js';
import type { Rejection } from '../../errors/rejection.js';
import type { ActionEvent, Server, ServerPatch, TaskState, VmState } from '../../model/index.js';
import type { ConcurrentRun } from './concurrent-run.js';
import type { Notifies } from './notifications.js';
import type { ServerRun } from './server-run.js';

/** Preconditions of an action, its terms in messages, and its notifications. */
export interface ActionRules<Name extends string = string> {
  /** The action's name in the API (if it has one), in rules of the simulated driver, and as the kind of stored jobs. */
  readonly name: Name;
  /** Required states of the server; default: any. */
  readonly vm?: readonly VmState[];
  /** Allowed task states, with null for none; default: none. `any`: all. */
  readonly task?: readonly (TaskState | null)[] | 'any';
  /** Forbidden task states; all others are allowed. */
  readonly notTask?: readonly TaskState[];
  /** Rejected while the server is locked, except for administrators. */
  readonly lock: boolean;
  /** Allowed for servers that were never launched. */
  readonly neverLaunched?: true;
  /**
   * Allowed on servers of other projects, because its caller has already been authorized. Otherwise those return 404.
   */
  readonly anyProject?: true;
  /** Rejected with this code while shares are attached, because they would need to be mounted again. */
  readonly notWithShares?: 'CONFLICT' | 'BAD_REQUEST';
  /** The verb that the driver must support; otherwise rejected with 501. */
  readonly needs?: DriverVerb;
  /** The error instead of the 501. */
  readonly unsupported?: () => Rejection;
  /** Name in the server's history; undefined: no entry. */
  readonly history: string | undefined;
  /**
   * Notifications of the action. A string is short for `around`, `completed` and `failed` with that name; null: only
   * those of its state changes.
   */
  readonly notifies: Notifies;
  /** The term in 409 messages; default: the name. */
  readonly word?: string;
}

/** Checks and writes in the transaction that starts an action; returns the changes of the server. */
export type Change = (tx: Tx, server: Server) => ServerPatch | undefined | Promise<ServerPatch | undefined>;

/** The decisions of an action before its transaction, in which only SQL may be awaited. */
export interface StartedAction<Arguments, Result> {
  /** Arguments of the job, stored with it. */
  readonly arguments: Arguments;
  readonly change?: Change;
  /** Creates the value for the caller, from the server at that time. */
  readonly result?: (server: Server) => Result;
  /** Undoes changes at other services if the transaction rejects the action. */
  readonly rejected?: () => Promise<unknown>;
  /** The action is already complete and recorded: no job is needed. */
  readonly done?: true;
}

/** The arguments of jobs without arguments. */
export type NoArguments = Readonly<Record<string, never>>;

/** An action that owns its server while it is in progress. */
export interface Action<Name extends string = string, Request = void, Arguments = NoArguments, Result = void>
  extends ActionRules<Name> {
  readonly concurrent?: undefined;
  /** Successive task states; the first is set when the action is accepted. */
  readonly during: readonly TaskState[];
  /** State of the server after a failure: unchanged, or ERROR. */
  readonly onFailure: 'unchanged' | 'error';
  /** Validates the request beyond the preconditions and makes all decisions; default: none. */
  readonly begin?: (scope: ServerScope, request: Request) => Promise<StartedAction<Arguments, Result>>;
  /** Does the work and ends with `finish`. May be repeated after a crash. */
  readonly run: (run: ServerRun<Arguments>) => Promise<void>;
  /** Handles an error of `run`; default: as `onFailure` defines. */
  readonly fail?: (run: ServerRun<Arguments>, error: Error) => Promise<void>;
  /**
   * Cleans up after another job has taken over the server. May be repeated. Returns `Success` if that job has completed
   * the work of this one; otherwise the open events are closed as failed.
   */
  readonly abandoned?: (run: ServerRun<Arguments>) => Promise<'Success' | undefined>;
}

/** The response of another service to a guarded call. */
export interface AcceptedAction<Result> {
  readonly change?: (server: Server) => ServerPatch;
  readonly result?: (server: Server) => Result;
  /** Events of the history if the request has completed all of the work; no job follows. */
  readonly done?: readonly ActionEvent[];
}

/**
 * The decisions of a concurrent action. One that must call another service first stores `change` with a guard: a job
 * that undoes it if the process dies before the response is stored.
 */
export interface StartedConcurrentAction<Arguments, Result> {
  readonly arguments: Arguments;
  readonly change?: Change;
  readonly result?: (server: Server) => Result;
  readonly perform?: () => Promise<AcceptedAction<Result>>;
  /** Undoes `change`. */
  readonly undo?: (server: Server) => ServerPatch;
  /**
   * Releases what `perform` may have acquired, even partially. If omitted, a rejected call has had no effect, and after an outage
   * the guard releases it.
   */
  readonly releasePort?: () => Promise<void>;
}

/** An action that runs concurrently with others and does not set a task state. */
export interface ConcurrentAction<Name extends string = string, Request = void, Arguments = NoArguments, Result = void>
  extends ActionRules<Name> {
  readonly concurrent: true;
  readonly begin?: (scope: ServerScope, request: Request) => Promise<StartedConcurrentAction<Arguments, Result>>;
  /** Does the work. May be repeated after a crash. */
  readonly run: (run: ConcurrentRun<Arguments>) => Promise<void>;
  /**
   * Releases resources of the catalogs and of the server (if it still exists): after a failure, and if the server is
   * deleted in the meantime. May be repeated. Default: nothing to release.
   */
  readonly undo?: (run: ConcurrentRun<Arguments>) => Promise<void>;
}

/** An action of either kind. */
export type AnyAction<Name extends string = string> =
  | Action<Name, any, any, any>
  | ConcurrentAction<Name, any, any, any>;

/**
 * Defines an action that owns its server. The types of its parts are inferred from `begin`.
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
