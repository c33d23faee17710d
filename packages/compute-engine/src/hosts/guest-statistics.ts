import type { Core } from '../core/core.js';
import type { Diagnostics } from '../drivers/driver.js';
import type { Server } from '../model/index.js';
import { tables } from '../schema/tables.js';

/** A running guest of this process, with the figures that its driver reports. */
export interface GuestFigures extends Diagnostics {
  readonly server: Pick<Server, 'id' | 'name' | 'projectId'>;
}

/** Figures about the guests that this process runs. */
export interface GuestStatistics {
  readonly guests: readonly GuestFigures[];
  /** The number of machines whose figures could not be read, for example before the timeout. `guests` omits them. */
  readonly unresponsive: number;
}

/** The timeout for reading the figures of a machine. Machines are read concurrently. */
const TIMEOUT_MS = 2_000;

type OptionalGuestFigures = GuestFigures | undefined;

/**
 * Reads guest figures. Concurrent callers share one round of queries. If a machine hangs, later rounds reuse its
 * pending query.
 */
export class GuestReader {
  readonly #core: Pick<Core, 'store' | 'driver'>;
  readonly #reading = new Map<string, Promise<OptionalGuestFigures>>();
  #round: Promise<GuestStatistics> | undefined;

  constructor(core: Pick<Core, 'store' | 'driver'>) {
    this.#core = core;
  }

  read(): Promise<GuestStatistics> {
    this.#round ??= this.#readAll().finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  async #readAll(): Promise<GuestStatistics> {
    const ids = (await this.#core.driver.machines?.()) ?? [];
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const results = await Promise.allSettled(ids.map((id) => rejectOnAbort(this.#readFigures(id), timeout)));
    return {
      guests: results.flatMap((result) => (result.status === 'fulfilled' && result.value ? [result.value] : [])),
      unresponsive: results.filter(({ status }) => status === 'rejected').length,
    };
  }

  #readFigures(id: string): Promise<OptionalGuestFigures> {
    const pendingRead = this.#reading.get(id);
    if (pendingRead) return pendingRead;
    const reading = this.#queryFigures(id).finally(() => this.#reading.delete(id));
    this.#reading.set(id, reading);
    return reading;
  }

  /** Reads the figures of a machine. Returns undefined if the machine is off or its server was deleted. */
  async #queryFigures(id: string): Promise<OptionalGuestFigures> {
    const { store, driver } = this.#core;
    const server = await tables.servers.get(store, id);
    if (!server) return undefined;
    const diagnostics = await driver.diagnostics(server);
    if (!diagnostics) return undefined;
    const { name, projectId } = server;
    return { ...diagnostics, server: { id, name, projectId } };
  }
}

/** Returns the result of a promise, or rejects if the signal is aborted first. */
function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    promise.then(resolve, reject);
  });
}
