import type { Clock, Server } from '@apistrata/compute-engine';
import {
  type DriverWork,
  SimulatedDriver,
  type SimulatedDriverOptions,
  type WorkOrigin,
} from '@apistrata/compute-engine/drivers';

/** Work that waits for somebody to look at its server. */
interface Waiting {
  readonly serverId: string;
  readonly wake: () => void;
}

/**
 * Simulated machines whose passing states can be read: each step of work is done only when somebody has read the server
 * since it began, or after a while. Clients that wait for `REBOOT` or `RESIZE` then see it, however fast the machines are.
 */
export class ReadableDriver extends SimulatedDriver {
  readonly #clock: Clock;
  readonly #transientMs: number;
  readonly #waiting = new Set<Waiting>();

  /** @param options.transientMs how long a step waits to be seen; 0: not at all */
  constructor({ transientMs, ...options }: SimulatedDriverOptions & { readonly transientMs: number }) {
    super(options);
    this.#clock = options.clock;
    this.#transientMs = transientMs;
  }

  override instantly(work: DriverWork, server: Server, origin: WorkOrigin): boolean {
    return this.#transientMs === 0 && super.instantly(work, server, origin);
  }

  override nothingToDo(work: DriverWork, server: Server, origin: WorkOrigin): boolean {
    return this.instantly(work, server, origin);
  }

  override async perform(work: DriverWork, server: Server, signal: AbortSignal, origin: WorkOrigin): Promise<void> {
    if (this.#transientMs > 0) await this.#untilRead(server.id, signal);
    return super.perform(work, server, signal, origin);
  }

  /**
   * Somebody begins to read a server, or all of them. What is called when the answer is out lets go what was waiting
   * already when the reading began: only that was seen for certain.
   */
  reading(serverId: string | undefined): () => void {
    const seen = [...this.#waiting].filter((one) => serverId === undefined || one.serverId === serverId);
    return () => {
      for (const { wake } of seen) wake();
    };
  }

  async #untilRead(serverId: string, signal: AbortSignal): Promise<void> {
    const read = new AbortController();
    const waiting = { serverId, wake: () => read.abort() };
    this.#waiting.add(waiting);
    try {
      await this.#clock.sleep(this.#transientMs, AbortSignal.any([signal, read.signal]));
    } catch (error) {
      // Having been read is no reason to stop.
      if (signal.aborted) throw error;
    } finally {
      this.#waiting.delete(waiting);
    }
  }
}
