/** The interval between checks of the processes that serve volumes. Guests wait a minute for an unavailable volume. */
const POLL_INTERVAL_MS = 5_000;

/** Restarts processes that serve volumes if they have died. */
export class VolumeServerMonitor {
  readonly #ids = new Set<string>();
  readonly #check: (volumeId: string) => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> | undefined;

  /** @param check restarts the process that serves a volume if that process has died */
  constructor(check: (volumeId: string) => Promise<void>) {
    this.#check = check;
  }

  add(volumeId: string): void {
    this.#ids.add(volumeId);
    this.#timer ??= setInterval(() => {
      this.#checking ??= this.#checkAll().finally(() => {
        this.#checking = undefined;
      });
    }, POLL_INTERVAL_MS).unref();
  }

  delete(volumeId: string): void {
    this.#ids.delete(volumeId);
    if (this.#ids.size === 0) this.#stop();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Checks all volumes. The next check retries those that cannot be served. */
  async #checkAll(): Promise<void> {
    for (const id of this.#ids) await this.#check(id).catch(() => {});
  }

  async stop(): Promise<void> {
    this.#stop();
    await this.#checking;
  }
}
