import type { Clock } from '../../src/clock/clock.js';
import type { DriverWork, WorkOrigin } from '../../src/drivers/driver.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import type { Server } from '../../src/model/index.js';
import type { Random } from './random.js';

export interface FailureRates {
  /** Probability of a failure. */
  readonly failures: number;
  /** Probability of a delay, so that other actions may overlap. */
  readonly delays: number;
}

/** Simulated machines whose commands fail or take time at random. */
export class RandomFailureDriver extends SimulatedDriver {
  readonly #random: Random;
  moods: FailureRates;

  constructor(clock: Clock, random: Random, moods: FailureRates) {
    super({ clock });
    this.#random = random;
    this.moods = moods;
  }

  override isSynchronous(): boolean {
    return this.moods.failures === 0 && this.moods.delays === 0;
  }

  override async perform(work: DriverWork, server: Server, signal: AbortSignal, origin: WorkOrigin): Promise<void> {
    await super.perform(work, server, signal, origin);
    // Copying memory takes the longest, so that requests can abort or complete the move in the meantime.
    const moves = work.verb === 'live_migration_run' && this.moods.delays > 0;
    if (moves || this.#random.chance(this.moods.delays)) {
      await new Promise((resolve) => setTimeout(resolve, moves ? 30 : this.#random.below(4)));
      if (signal.aborted) throw signal.reason;
    }
    if (this.#random.chance(this.moods.failures)) throw new Error(`${work.verb} has failed at random`);
  }
}
