export { type RequestOf, type ResultOf, rulesByName, type ServerActionName } from './action-table.js';
export {
  type Action,
  type ActionRules,
  type AnyAction,
  action,
  type Change,
  type ConcurrentAction,
  concurrentAction,
  type NoArguments,
  type StartedAction,
  type StartedConcurrentAction,
} from './runner/action.js';
export type { ConcurrentRun } from './runner/concurrent-run.js';
export type { ServerRun } from './runner/server-run.js';
