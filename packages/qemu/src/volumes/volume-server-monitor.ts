/** Interval between checks of the processes that serve volumes. A guest waits at least a minute for its volume. */
const POLL_INTERVAL_MS = 5_000;

/** Restarts processes that serve volumes in use when they have died. */
export class VolumeServerMonitor {
  readonly #ids = new Set<string>();
  readonly #check: (volumeId: string) => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> | undefined;

  /** @param check restarts the process of a volume if it has died */
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

  /** Checks all volumes. One that cannot be served is retried at the next check. */
  async #checkAll(): Promise<void> {
    for (const id of this.#ids) await this.#check(id).catch(() => {});
  }

  async leave(): Promise<void> {
    this.#stop();
    await this.#checking;
  }
}
