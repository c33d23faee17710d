export * from './catalogs/index.js';
export { type Clock, ManualClock, systemClock } from './clock.js';
export type { Context } from './context.js';
export type * from './drivers/driver.js';
export {
  type Rule,
  type RuleHandle,
  type RuleMatch,
  SimulatedDriver,
  type SimulatedDriverOptions,
} from './drivers/simulated.js';
export { createEngine, type Engine, type EngineOptions } from './engine.js';
export { Refusal, type RefusalCode } from './errors.js';
export { statesOf, statusOf } from './lifecycle/status.js';
export {
  type ActionName,
  checkTransition,
  type Transition,
  transitionOf,
  transitions,
} from './lifecycle/transitions.js';
export type * from './model/index.js';
export { NoValidHost } from './scheduler/scheduler.js';
export { defaultSettings, type QuotaKind, quotaKinds, type Settings } from './settings.js';
export { StaleRecord } from './store/document-table.js';
export { openStore, type Store } from './store/store.js';
