const START_MS = Date.UTC(2026, 0, 1);

/** A clock whose time changes only when a test advances it. */
export class ManualClock {
  #now = START_MS;

  now(): number {
    return this.#now;
  }

  advance(ms: number): void {
    this.#now += ms;
  }
}
