/** Represents work that a shutdown waits for. Create a beacon before the work starts, and end it when the work is complete. */
export interface Beacon {
  /** The name of the work, for the error message of a shutdown that takes too long. */
  readonly name: string;
  /** Ends the beacon. Idempotent. */
  end(): void;
}

/** The beacons of one server. */
export class Beacons {
  readonly #active = new Set<Beacon>();
  readonly #waiting: (() => void)[] = [];

  /** Creates a beacon, for which a shutdown waits until `end()` is called. */
  create(name: string): Beacon {
    const beacon: Beacon = {
      name,
      end: () => {
        this.#active.delete(beacon);
        if (this.#active.size > 0) return;
        for (const resolve of this.#waiting.splice(0)) resolve();
      },
    };
    this.#active.add(beacon);
    return beacon;
  }

  get names(): readonly string[] {
    return [...this.#active].map(({ name }) => name);
  }

  /** Resolves when all beacons have ended, including those that are created in the meantime. */
  async whenEnded(): Promise<void> {
    while (this.#active.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
