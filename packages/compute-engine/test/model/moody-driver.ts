import type { Clock } from '../../src/clock/clock.js';
import type { DriverWork, WorkOrigin } from '../../src/drivers/driver.js';
import { SimulatedDriver } from '../../src/drivers/simulated.js';
import type { Server } from '../../src/model/index.js';
import type { Random } from './random.js';

export interface Moods {
  /** How often work fails, as a probability. */
  readonly failures: number;
  /** How often it takes a while, so that something else may happen meanwhile. */
  readonly delays: number;
}

/** Simulated machines whose work fails, or takes a while, at random. */
export class MoodyDriver extends SimulatedDriver {
  readonly #random: Random;
  moods: Moods;

  constructor(clock: Clock, random: Random, moods: Moods) {
    super({ clock });
    this.#random = random;
    this.moods = moods;
  }

  override instantly(): boolean {
    return this.moods.failures === 0 && this.moods.delays === 0;
  }

  override async perform(work: DriverWork, server: Server, signal: AbortSignal, origin: WorkOrigin): Promise<void> {
    await super.perform(work, server, signal, origin);
    // Memory takes longest to move: long enough for requests that end the move.
    const moves = work.verb === 'live_migration_run' && this.moods.delays > 0;
    if (moves || this.#random.chance(this.moods.delays)) {
      await new Promise((resolve) => setTimeout(resolve, moves ? 30 : this.#random.below(4)));
      if (signal.aborted) throw signal.reason;
    }
    if (this.#random.chance(this.moods.failures)) throw new Error(`${work.verb} has failed at random`);
  }
}
