import type { Tx } from '@apistrata/record-store';
import type { ServerScope } from '../../core/core.js';
import type { DriverVerb } from '../../drivers/driver.js';
import type { Refusal } from '../../errors/refusal.js';
import type { ActionEvent, Server, ServerPatch, TaskState, VmState } from '../../model/index.js';
import type { ConcurrentRun } from './concurrent-run.js';
import type { Notifies } from './notifications.js';
import type { ServerRun } from './server-run.js';

/** When a server may be acted on, and which words and notifications go with it. */
export interface ActionRules<Name extends string = string> {
  /** Its name: in the API where that has one, in rules of the simulated driver, and as the kind of stored jobs. */
  readonly name: Name;
  /** States the server must be in; left out: any. */
  readonly vm?: readonly VmState[];
  /** Tasks it may be in the middle of, null being none; default: none. `any`: whatever. */
  readonly task?: readonly (TaskState | null)[] | 'any';
  /** Tasks it may not be in the middle of, where any other is fine. */
  readonly notTask?: readonly TaskState[];
  /** Refused while the server is locked, except for administrators. */
  readonly lock: boolean;
  /** Also for servers that never ran. */
  readonly neverLaunched?: true;
  /** Also on servers of other projects: whoever asks has decided that already. Elsewhere those are a 404. */
  readonly anyProject?: true;
  /** Refused while shares are attached, with this code: they would have to be mounted anew. */
  readonly notWithShares?: 'CONFLICT' | 'BAD_REQUEST';
  /** Work that the machine must be able to do; refused at once (501) where its driver cannot. */
  readonly needs?: DriverVerb;
  /** The refusal in place of the 501. */
  readonly unsupported?: () => Refusal;
  /** Name in the server's history; undefined: it leaves none. */
  readonly history: string | undefined;
  /**
   * Notifications about the action. A name stands for `around`, `completed` and `failed` of that name; null: none but
   * those of the changes of state that it makes.
   */
  readonly notifies: Notifies;
  /** The word the 409 uses, where it is not the name. */
  readonly word?: string;
}

/** Checks and writes of the transaction that begins an action; resolves to what changes of the server. */
export type Change = (tx: Tx, server: Server) => ServerPatch | undefined | Promise<ServerPatch | undefined>;

/** What an action has decided on before its transaction: nothing but SQL is waited for inside that. */
export interface Begun<Arguments, Result> {
  /** What the work needs to know; stored with the job. */
  readonly arguments: Arguments;
  readonly change?: Change;
  /** What the caller gets, made from the server as it is then. */
  readonly result?: (server: Server) => Result;
  /** Takes back what was made beforehand, when the transaction refuses. */
  readonly refused?: () => Promise<unknown>;
  /** All of it has been done already: recorded, and no work is left. */
  readonly done?: true;
}

/** The arguments of work that needs none. */
export type NoArguments = Readonly<Record<string, never>>;

/** Everything there is to know of an action that has the server to itself while it is under way. */
export interface Action<Name extends string = string, Request = void, Arguments = NoArguments, Result = void>
  extends ActionRules<Name> {
  readonly concurrent?: undefined;
  /** Tasks seen one after the other while it is under way; the first is set at once. */
  readonly during: readonly TaskState[];
  /** What becomes of the server when the work fails: it stays as it was, or is in error. */
  readonly onFailure: 'unchanged' | 'error';
  /** Checks what the rules do not know, and decides; default: there is nothing to decide. */
  readonly begin?: (scope: ServerScope, request: Request) => Promise<Begun<Arguments, Result>>;
  /** Does the work and ends with `finish`. May be begun again after a crash. */
  readonly run: (run: ServerRun<Arguments>) => Promise<void>;
  /** Puts things right when `run` threw; default: what `onFailure` says. */
  readonly fail?: (run: ServerRun<Arguments>, error: Error) => Promise<void>;
  /**
   * Clears away what nobody waits for any more, after another job has taken the server over. May come more than once.
   * `Success`: that job has brought this one's work to its end; otherwise the steps it was in have failed.
   */
  readonly abandoned?: (run: ServerRun<Arguments>) => Promise<'Success' | undefined>;
}

/** What another service has answered to a request that was guarded. */
export interface Answered<Result> {
  readonly change?: (server: Server) => ServerPatch;
  readonly result?: (server: Server) => Result;
  /** The steps, where the request has done all of the work itself: none is left for the background. */
  readonly done?: readonly ActionEvent[];
}

/**
 * What a concurrent action has decided on. One that has to ask another service first writes down `change`, guarded by a
 * job that takes things back if the process dies before the answer is written down.
 */
export interface ConcurrentBegun<Arguments, Result> {
  readonly arguments: Arguments;
  readonly change?: Change;
  readonly result?: (server: Server) => Result;
  readonly ask?: () => Promise<Answered<Result>>;
  /** Takes `change` back. */
  readonly undo?: (server: Server) => ServerPatch;
  /**
   * Gives back what `ask` may have taken, however far it came. Left out: what was refused has not happened, and when
   * nobody answered at all the guard is left to find out.
   */
  readonly giveBack?: () => Promise<void>;
}

/** Everything there is to know of an action that goes on beside others, without a task of the server. */
export interface ConcurrentAction<Name extends string = string, Request = void, Arguments = NoArguments, Result = void>
  extends ActionRules<Name> {
  readonly concurrent: true;
  readonly begin?: (scope: ServerScope, request: Request) => Promise<ConcurrentBegun<Arguments, Result>>;
  /** Does the work. May be begun again after a crash. */
  readonly run: (run: ConcurrentRun<Arguments>) => Promise<void>;
  /**
   * Gives back what was taken, of the catalogs and of the server if that still exists: after a failure, and when the
   * server is deleted meanwhile. May be repeated. Default: nothing was taken.
   */
  readonly undo?: (run: ConcurrentRun<Arguments>) => Promise<void>;
}

/** An action of either kind, whatever it asks and answers. */
export type AnyAction<Name extends string = string> =
  | Action<Name, any, any, any>
  | ConcurrentAction<Name, any, any, any>;

/**
 * Defines an action that has the server to itself. The types of its parts follow from what `begin` takes and gives.
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

/** Defines an action that goes on beside others. */
export function concurrentAction<const Name extends string, Request = void, Arguments = NoArguments, Result = void>(
  record: Omit<ConcurrentAction<Name, Request, Arguments, Result>, 'concurrent'>,
): ConcurrentAction<Name, Request, Arguments, Result> {
  return { ...record, concurrent: true };
}
