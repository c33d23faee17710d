import type { Limit } from './limits.js';
import type { QuotaPresetName } from './presets.js';
import type { QuotaStore } from './store.js';
import type { ThresholdEvent } from './thresholds.js';

/** Options for `projectQuotas()`. Times are in milliseconds. */
export interface ProjectQuotasOptions {
  /** Stores limits and usage: `memoryStore()`, `sqlStore(...)`, `redisStore(...)` or a custom implementation. */
  readonly store: QuotaStore;
  /**
   * A set of default options. `key-manager` selects the resource kinds, error bodies and headers of the OpenStack Key
   * Manager. Default `general`.
   */
  readonly preset?: QuotaPresetName;
  /** The resource kinds to count. Default: the kinds that the preset defines, or the kinds that have a default limit. */
  readonly kinds?: readonly string[];
  /** Limits by resource kind, for projects without their own limits. Default -1 (unlimited) for each kind. */
  readonly defaults?: Readonly<Record<string, Limit>>;
  /** The time after which a reservation expires unless it is committed, released or renewed. Default 60,000 ms. */
  readonly ttlMs?: number;
  /** Timeout for each call to the store. Default 5,000 ms. */
  readonly storeTimeoutMs?: number;
  /**
   * Minimum interval between sweeps, which remove the expired reservations of all projects. `reserve` and `consume`
   * trigger them. Default 60,000 ms; 0 disables sweeps.
   */
  readonly sweepIntervalMs?: number;
  /**
   * Called when the used amount of a kind reaches a threshold: once in each process that changes the amount, and again
   * only after the amount has fallen below the threshold. With this option, the usage is read in the background after
   * each change.
   */
  readonly onThreshold?: (event: ThresholdEvent) => void;
  /** Thresholds as fractions of the limit, above 0 and at most 1. Default `[0.8, 1]`. */
  readonly thresholds?: readonly number[];
}

/** The names of all `projectQuotas()` options. */
export const PROJECT_QUOTAS_OPTIONS: Readonly<Record<keyof ProjectQuotasOptions, true>> = {
  store: true,
  kinds: true,
  defaults: true,
  ttlMs: true,
  storeTimeoutMs: true,
  sweepIntervalMs: true,
  preset: true,
  onThreshold: true,
  thresholds: true,
};
