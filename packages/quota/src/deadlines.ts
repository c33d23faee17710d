/** Something that is waited for, until then. */
export interface Awaited {
  readonly until: number;
  readonly late: () => void;
}

/**
 * Ends waits that take longer than a time, the same for all of them. With one timer for all: one for each call to a store
 * costs more than all else that such a call does here. It keeps no process from ending.
 */
export class Deadlines {
  readonly #ms: number;
  /** In the order in which they end. */
  readonly #awaited = new Set<Awaited>();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** @param late called once the time is over, unless `end` is called with the answer before */
  begin(late: () => void): Awaited {
    const awaited = { until: Date.now() + this.#ms, late };
    this.#awaited.add(awaited);
    if (!this.#timer) this.#lookIn(this.#ms);
    return awaited;
  }

  end(awaited: Awaited): void {
    this.#awaited.delete(awaited);
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    this.#timer = undefined;
    const now = Date.now();
    for (const awaited of this.#awaited) {
      if (awaited.until > now) {
        this.#lookIn(awaited.until - now);
        return;
      }
      this.#awaited.delete(awaited);
      awaited.late();
    }
  }
}
