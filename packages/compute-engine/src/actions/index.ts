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
} from '../runs/action.js';
export type { ConcurrentRun } from '../runs/concurrent-run.js';
export type { ServerRun } from '../runs/server-run.js';
export type { RequestOf, ResultOf, ServerActionName } from './action-table.js';
