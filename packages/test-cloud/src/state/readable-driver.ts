import type { Clock, Server } from '@apistrata/compute-engine';
import {
  type DriverWork,
  SimulatedDriver,
  type SimulatedDriverOptions,
  type WorkOrigin,
} from '@apistrata/compute-engine/drivers';

/** Work that waits until a client reads its server. */
interface Waiting {
  readonly serverId: string;
  readonly wake: () => void;
}

/**
 * Simulated machines with observable transient states: a step completes only after a client has read the server since
 * the step started, or after a timeout. Clients that wait for `REBOOT` or `RESIZE` observe this state, regardless of the
 * speed of machines.
 */
export class ReadableDriver extends SimulatedDriver {
  readonly #clock: Clock;
  readonly #transientMs: number;
  readonly #waiting = new Set<Waiting>();

  /** @param options.transientMs the maximum time that a step waits until its state is read; 0: no wait */
  constructor({ transientMs, ...options }: SimulatedDriverOptions & { readonly transientMs: number }) {
    super(options);
    this.#clock = options.clock;
    this.#transientMs = transientMs;
  }

  override isSynchronous(work: DriverWork, server: Server, origin: WorkOrigin): boolean {
    return this.#transientMs === 0 && super.isSynchronous(work, server, origin);
  }

  override async perform(work: DriverWork, server: Server, signal: AbortSignal, origin: WorkOrigin): Promise<void> {
    if (this.#transientMs > 0) await this.#untilRead(server.id, signal);
    return super.perform(work, server, signal, origin);
  }

  /**
   * Reports that a client starts to read a server, or all of them. The returned function must be called after the
   * response: it completes steps that were waiting when the read started, because only their state is certain to be in
   * the response.
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
      // Completes if the state was read; rethrows if the work was aborted.
      if (signal.aborted) throw error;
    } finally {
      this.#waiting.delete(waiting);
    }
  }
}
