/** Looking on while an engine works: for metrics and traces. */
export type { JobStatistics, Statistics } from '../services/statistics.js';
export type { ReplicaState } from '../store/read-replicas.js';
export type {
  DroppedEvents,
  EngineObserver,
  JobOutcome,
  ObservedJob,
  ObservedPool,
  ObservedReading,
  ObservedStatement,
  ObservedStep,
  ObservedWork,
  QuotaExcess,
  QuotaRefused,
  TraceContext,
} from './observer.js';
