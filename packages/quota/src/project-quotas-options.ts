import type { Limit } from './limits.js';
import type { QuotaPresetName } from './presets.js';
import type { QuotaStore } from './store.js';
import type { ThresholdEvent } from './thresholds.js';

/** Options of `projectQuotas()`. Times are in milliseconds. */
export interface ProjectQuotasOptions {
  /** The store of limits and usage: `memoryStore()`, `sqlStore(...)`, `redisStore(...)` or a custom implementation. */
  readonly store: QuotaStore;
  /**
   * `key-manager` selects the kinds, error bodies and headers of the project-quota API of key management services. Default
   * `general`.
   */
  readonly preset?: QuotaPresetName;
  /** The kinds of resources to count. Default: the kinds of the preset, or those that have a default limit. */
  readonly kinds?: readonly string[];
  /** Limits by kind, for projects without their own limit. Default -1 (unlimited) for each kind. */
  readonly defaults?: Readonly<Record<string, Limit>>;
  /** Time-to-live of a reservation that is not settled. Default 60,000 ms. */
  readonly ttlMs?: number;
  /** Timeout of a call to the store. Default 5,000 ms. */
  readonly storeTimeoutMs?: number;
  /**
   * Minimum interval between removals of expired reservations of all projects, which `reserve` and `consume` trigger. Default
   * 60,000 ms; 0 disables them.
   */
  readonly sweepEveryMs?: number;
  /**
   * Called when the used amount of a kind reaches a threshold: once in each process that changes the amount, and again after the
   * amount has fallen below the threshold. It requires a read of the usage after each change, in the background.
   */
  readonly onThreshold?: (event: ThresholdEvent) => void;
  /** Thresholds as fractions of the limit, above 0 and at most 1. Default `[0.8, 1]`. */
  readonly thresholds?: readonly number[];
}

/** The names of all options. */
export const PROJECT_QUOTAS_OPTIONS: Readonly<Record<keyof ProjectQuotasOptions, true>> = {
  store: true,
  kinds: true,
  defaults: true,
  ttlMs: true,
  storeTimeoutMs: true,
  sweepEveryMs: true,
  preset: true,
  onThreshold: true,
  thresholds: true,
};
