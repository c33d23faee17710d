/** A pending call to the store, with its deadline. */
export interface PendingCall {
  readonly until: number;
  readonly onTimeout: () => void;
}

/**
 * Applies the same timeout to many pending calls. All calls share one timer, because a timer for each call would cost
 * more than the call itself. The timer does not keep the process alive.
 */
export class Deadlines {
  readonly #ms: number;
  /** The pending calls, in the order of their deadlines. */
  readonly #pending = new Set<PendingCall>();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /**
   * Starts the timeout for a call.
   *
   * @param onTimeout called at the deadline, unless `end` has been called
   */
  start(onTimeout: () => void): PendingCall {
    const call = { until: Date.now() + this.#ms, onTimeout };
    this.#pending.add(call);
    if (!this.#timer) this.#scheduleCheck(this.#ms);
    return call;
  }

  /** Cancels the timeout for a call. */
  end(call: PendingCall): void {
    this.#pending.delete(call);
  }

  #scheduleCheck(ms: number): void {
    this.#timer = setTimeout(() => this.#check(), ms).unref();
  }

  #check(): void {
    this.#timer = undefined;
    const now = Date.now();
    for (const call of this.#pending) {
      if (call.until > now) {
        this.#scheduleCheck(call.until - now);
        return;
      }
      this.#pending.delete(call);
      call.onTimeout();
    }
  }
}
