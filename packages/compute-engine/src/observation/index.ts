/** Looking on while an engine works: for metrics and traces. */

export type { ObservedPool, ObservedStatement, ReplicaState, StoreObserver } from '@apistrata/record-store';
export type { JobStatistics, Statistics } from '../engine/statistics.js';
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
