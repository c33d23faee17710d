/** How often it is looked whether what serves volumes is there. A guest waits for its volume a minute at the least. */
const LOOK_MS = 5_000;

/** Volumes that are in use: what serves one, and has died, is begun again. */
export class Serving {
  readonly #ids = new Set<string>();
  readonly #check: (volumeId: string) => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  /** @param check begins again to serve a volume, where nobody does */
  constructor(check: (volumeId: string) => Promise<void>) {
    this.#check = check;
  }

  add(volumeId: string): void {
    this.#ids.add(volumeId);
    this.#timer ??= setInterval(() => {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
    }, LOOK_MS).unref();
  }

  delete(volumeId: string): void {
    this.#ids.delete(volumeId);
    if (this.#ids.size === 0) this.#stop();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** One that cannot be served now is tried again the next time. */
  async #look(): Promise<void> {
    for (const id of this.#ids) await this.#check(id).catch(() => {});
  }

  async leave(): Promise<void> {
    this.#stop();
    await this.#looking;
  }
}
