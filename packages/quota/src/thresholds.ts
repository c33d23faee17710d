import type { Limit } from './limits.js';
import type { ReservationCalls } from './reservation.js';

/** The used amount of a kind reached a share of its limit. */
export interface ThresholdEvent {
  readonly project: string;
  readonly kind: string;
  /** The share of the limit: 0.8 means 80 %. */
  readonly threshold: number;
  /** The committed amount. */
  readonly used: number;
  readonly limit: Limit;
}

interface Counted {
  readonly used: number;
  readonly limit: Limit;
}

/** The source of usage for a watch, and the receiver of its events. */
export interface ThresholdSource {
  readonly usage: (project: string) => Promise<Readonly<Record<string, Counted>>>;
  readonly listener: (event: ThresholdEvent) => void;
}

const DEFAULT_THRESHOLDS = [0.8, 1];

/** Beyond this number, the level of the kind that changed longest ago is evicted, and an event may repeat. */
const MAX_LEVELS = 10_000;

/** @throws TypeError if a threshold is not above 0 and at most 1 */
export function checkThresholds(thresholds: readonly number[] = DEFAULT_THRESHOLDS): readonly number[] {
  if (thresholds.length > 0 && thresholds.every((share) => share > 0 && share <= 1)) {
    return [...thresholds].sort((a, b) => a - b);
  }
  throw new TypeError('projectQuotas: thresholds must be numbers above 0 and at most 1, such as [0.8, 1]');
}

/** Reads usage after it has changed, and reports each threshold that was crossed upwards, once. */
export class ThresholdWatch {
  readonly #thresholds: readonly number[];
  readonly #source: ThresholdSource;
  /** The number of thresholds that each kind of each project had reached at the last check. */
  readonly #levels = new Map<string, number>();

  constructor(thresholds: readonly number[], source: ThresholdSource) {
    this.#thresholds = thresholds;
    this.#source = source;
  }

  /** Checks in the background. An error, also of the listener, becomes a warning of the process. */
  changed(project: string, amounts: Readonly<Record<string, number>>): void {
    this.#check(project, amounts).catch((error) => {
      process.emitWarning(`quota thresholds of ${project}: ${error}`, { code: 'APISTRATA_QUOTA_THRESHOLDS' });
    });
  }

  /** Returns a watch that checks after each commit. */
  watching(keeper: ReservationCalls): ReservationCalls {
    return {
      renew: (hold, ttlMs) => keeper.renew(hold, ttlMs),
      settle: async (hold, outcome) => {
        const done = await keeper.settle(hold, outcome);
        if (done && outcome === 'commit') this.changed(hold.project, hold.amounts);
        return done;
      },
    };
  }

  async #check(project: string, amounts: Readonly<Record<string, number>>): Promise<void> {
    const usage = await this.#source.usage(project);
    for (const [kind, amount] of Object.entries(amounts)) {
      const counted = usage[kind];
      if (!counted) continue;
      const { used, limit } = counted;
      const key = JSON.stringify([project, kind]);
      const before = this.#levels.get(key) ?? this.#level(used - amount, limit);
      const level = this.#level(used, limit);
      this.#store(key, level);
      for (const threshold of this.#thresholds.slice(before, level)) {
        this.#source.listener({ project, kind, threshold, used, limit });
      }
    }
  }

  #level(used: number, limit: Limit): number {
    if (limit <= 0) return 0;
    return this.#thresholds.filter((share) => used >= share * Number(limit)).length;
  }

  #store(key: string, level: number): void {
    this.#levels.delete(key);
    this.#levels.set(key, level);
    if (this.#levels.size <= MAX_LEVELS) return;
    const [oldest] = this.#levels.keys();
    if (oldest !== undefined) this.#levels.delete(oldest);
  }
}
