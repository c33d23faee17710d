/** Looking on while an engine works: for metrics and traces. */
export type { JobStatistics, Statistics } from '../engine/statistics.js';
export type { ReplicaState } from '@apistrata/record-store';
export type { ObservedPool, ObservedStatement, StoreObserver } from '@apistrata/record-store';
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
