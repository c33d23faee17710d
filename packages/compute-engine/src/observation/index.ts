/** Observers of an engine, for metrics and traces. */

export type { ObservedPool, ObservedStatement, ReplicaState, StoreObserver } from '@apistrata/record-store';
export type { JobStatistics, Statistics } from '../engine/statistics.js';
export type { GuestFigures, GuestStatistics } from '../hosts/guest-statistics.js';
export type {
  DroppedEvents,
  EngineObserver,
  JobOutcome,
  ObservedJob,
  ObservedList,
  ObservedStep,
  ObservedWork,
  QuotaExcess,
  QuotaRejection,
  ReadTarget,
  TraceContext,
} from './observer.js';
