/** A pending call with a deadline. */
export interface Awaited {
  readonly until: number;
  readonly late: () => void;
}

/**
 * Applies the same timeout to many pending calls. All share one timer, because a timer per call would cost more than
 * the call itself. The timer does not keep the process alive.
 */
export class Deadlines {
  readonly #ms: number;
  /** In the order of their deadlines. */
  readonly #awaited = new Set<Awaited>();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** @param late called at the deadline, unless `end` was called before */
  begin(late: () => void): Awaited {
    const awaited = { until: Date.now() + this.#ms, late };
    this.#awaited.add(awaited);
    if (!this.#timer) this.#scheduleCheck(this.#ms);
    return awaited;
  }

  end(awaited: Awaited): void {
    this.#awaited.delete(awaited);
  }

  #scheduleCheck(ms: number): void {
    this.#timer = setTimeout(() => this.#check(), ms).unref();
  }

  #check(): void {
    this.#timer = undefined;
    const now = Date.now();
    for (const awaited of this.#awaited) {
      if (awaited.until > now) {
        this.#scheduleCheck(awaited.until - now);
        return;
      }
      this.#awaited.delete(awaited);
      awaited.late();
    }
  }
}
