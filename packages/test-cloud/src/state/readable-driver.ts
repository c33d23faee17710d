import type { Clock, Server } from '@apistrata/compute-engine';
import {
  type DriverWork,
  SimulatedDriver,
  type SimulatedDriverOptions,
  type WorkOrigin,
} from '@apistrata/compute-engine/drivers';

/** A machine step that waits until a client has read the server's state. */
interface WaitingStep {
  readonly serverId: string;
  readonly wake: () => void;
}

/**
 * Simulated machines with observable transient states. A machine step completes only after a client has read the
 * server, or after a timeout. Clients that wait for `REBOOT` or `RESIZE` observe this state, regardless of machine
 * speed.
 */
export class ReadableDriver extends SimulatedDriver {
  readonly #clock: Clock;
  readonly #transientMs: number;
  readonly #waiting = new Set<WaitingStep>();

  /** @param options.transientMs the maximum time that a step waits for a client to read the state; 0: no wait */
  constructor({ transientMs, ...options }: SimulatedDriverOptions & { readonly transientMs: number }) {
    super(options);
    this.#clock = options.clock;
    this.#transientMs = transientMs;
  }

  override isSynchronous(work: DriverWork, server: Server, origin: WorkOrigin): boolean {
    return this.#transientMs === 0 && super.isSynchronous(work, server, origin);
  }

  override async perform(work: DriverWork, server: Server, signal: AbortSignal, origin: WorkOrigin): Promise<void> {
    if (this.#transientMs > 0) await this.#waitUntilRead(server.id, signal);
    return super.perform(work, server, signal, origin);
  }

  /**
   * Must be called when a client starts to read a server or all servers. The returned function must be called after the
   * response. It completes the steps that were already waiting, because only their states are certain to be in the
   * response.
   */
  beginRead(serverId: string | undefined): () => void {
    const observedSteps = [...this.#waiting].filter((one) => serverId === undefined || one.serverId === serverId);
    return () => {
      for (const { wake } of observedSteps) wake();
    };
  }

  async #waitUntilRead(serverId: string, signal: AbortSignal): Promise<void> {
    const readController = new AbortController();
    const waiting = { serverId, wake: () => readController.abort() };
    this.#waiting.add(waiting);
    try {
      await this.#clock.sleep(this.#transientMs, AbortSignal.any([signal, readController.signal]));
    } catch (error) {
      // If the state was read, the step continues; if the step was aborted, the error is rethrown.
      if (signal.aborted) throw error;
    } finally {
      this.#waiting.delete(waiting);
    }
  }
}
