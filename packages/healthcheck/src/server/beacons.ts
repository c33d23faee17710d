/** Work that a shutdown waits for. Create one before the work starts, and end it when the work is done. */
export interface Beacon {
  /** The name of the work, for the message about a shutdown that took too long. */
  readonly name: string;
  /** Ends the beacon. Idempotent. */
  end(): void;
}

/** The beacons of one server. */
export class Beacons {
  readonly #lit = new Set<Beacon>();
  readonly #waiting: (() => void)[] = [];

  light(name: string): Beacon {
    const beacon: Beacon = {
      name,
      end: () => {
        this.#lit.delete(beacon);
        if (this.#lit.size > 0) return;
        for (const resolve of this.#waiting.splice(0)) resolve();
      },
    };
    this.#lit.add(beacon);
    return beacon;
  }

  get names(): readonly string[] {
    return [...this.#lit].map(({ name }) => name);
  }

  /** Resolves when no work is left, including work that starts in the meantime. */
  async ended(): Promise<void> {
    while (this.#lit.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
