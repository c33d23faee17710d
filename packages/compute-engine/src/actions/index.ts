export type { RequestOf, ResultOf, ServerActionName } from './action-table.js';
export {
  type Action,
  type ActionRules,
  type AnyAction,
  action,
  type Begun,
  type Change,
  type ConcurrentAction,
  type ConcurrentBegun,
  concurrentAction,
  type NoArguments,
} from './runner/action.js';
export type { ConcurrentRun } from './runner/concurrent-run.js';
export type { ServerRun } from './runner/server-run.js';
