import type { Limit } from './limits.js';
import type { ReservationCalls } from './reservation.js';

/** The event that is reported when the used amount of a resource kind reaches a threshold. */
export interface ThresholdEvent {
  readonly project: string;
  readonly kind: string;
  /** The threshold as a fraction of the limit, such as 0.8. */
  readonly threshold: number;
  /** The committed amount. */
  readonly used: number;
  readonly limit: Limit;
}

interface CountedUsage {
  readonly used: number;
  readonly limit: Limit;
}

/** The function that reads the usage of a project, and the listener for threshold events. */
export interface ThresholdSource {
  readonly usage: (project: string) => Promise<Readonly<Record<string, CountedUsage>>>;
  readonly listener: (event: ThresholdEvent) => void;
}

const DEFAULT_THRESHOLDS = [0.8, 1];

/**
 * The maximum number of stored levels. Above it, the least recently changed level is evicted, and its events may be
 * repeated.
 */
const MAX_LEVELS = 10_000;

/** Validates thresholds and returns them in ascending order. @throws TypeError if one is not above 0 and at most 1 */
export function checkThresholds(thresholds: readonly number[] = DEFAULT_THRESHOLDS): readonly number[] {
  if (thresholds.length > 0 && thresholds.every((fraction) => fraction > 0 && fraction <= 1)) {
    return [...thresholds].sort((a, b) => a - b);
  }
  throw new TypeError('projectQuotas: thresholds must be numbers above 0 and at most 1, such as [0.8, 1]');
}

/** Reads the usage after each change, and reports the thresholds that the used amount has reached since the previous check. */
export class ThresholdWatch {
  readonly #thresholds: readonly number[];
  readonly #source: ThresholdSource;
  /** The number of thresholds that each kind of each project had reached at the last check. */
  readonly #levels = new Map<string, number>();

  constructor(thresholds: readonly number[], source: ThresholdSource) {
    this.#thresholds = thresholds;
    this.#source = source;
  }

  /**
   * Checks the usage in the background after a change. Errors, including those that the listener throws, are emitted as
   * process warnings.
   * @param sign 1 if the amounts were added, -1 if they were released
   */
  checkInBackground(project: string, amounts: Readonly<Record<string, number>>, sign = 1): void {
    this.#check(project, amounts, sign).catch((error) => {
      process.emitWarning(`quota thresholds of ${project}: ${error}`, { code: 'APISTRATA_QUOTA_THRESHOLDS' });
    });
  }

  /** Wraps the store operations of reservations, so that the usage is checked after each commit. */
  watchCommits(calls: ReservationCalls): ReservationCalls {
    return {
      renew: (reservation, ttlMs) => calls.renew(reservation, ttlMs),
      settle: async (reservation, outcome) => {
        const isSettled = await calls.settle(reservation, outcome);
        if (isSettled && outcome === 'commit') this.checkInBackground(reservation.project, reservation.amounts);
        return isSettled;
      },
    };
  }

  async #check(project: string, amounts: Readonly<Record<string, number>>, sign: number): Promise<void> {
    const usage = await this.#source.usage(project);
    for (const [kind, amount] of Object.entries(amounts)) {
      // The usage contains an entry for every kind.
      const { used, limit } = usage[kind] as CountedUsage;
      const key = JSON.stringify([project, kind]);
      const previousLevel = this.#levels.get(key) ?? this.#level(used - sign * amount, limit);
      const level = this.#level(used, limit);
      this.#store(key, level);
      for (const threshold of this.#thresholds.slice(previousLevel, level)) {
        this.#source.listener({ project, kind, threshold, used, limit });
      }
    }
  }

  #level(used: number, limit: Limit): number {
    return this.#thresholds.filter((fraction) => limit > 0 && used >= fraction * Number(limit)).length;
  }

  #store(key: string, level: number): void {
    this.#levels.delete(key);
    this.#levels.set(key, level);
    for (const oldest of this.#levels.keys()) {
      if (this.#levels.size <= MAX_LEVELS) return;
      this.#levels.delete(oldest);
    }
  }
}
