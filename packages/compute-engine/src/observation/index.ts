/** Looking on while an engine works: for metrics and traces. */
export type { JobStatistics, Statistics } from '../services/statistics.js';
export type { ReplicaState } from '../store/read-replicas.js';
export type { ObservedPool, ObservedStatement, StoreObserver } from '../store/store-observer.js';
export type {
  DroppedEvents,
  EngineObserver,
  JobOutcome,
  ObservedJob,
  ObservedReading,
  ObservedStep,
  ObservedWork,
  QuotaExcess,
  QuotaRefused,
  TraceContext,
} from './observer.js';
