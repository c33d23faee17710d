import type { Store } from '@apistrata/record-store';
import type { Driver } from '../drivers/driver.js';
import type { Machines } from '../drivers/machines.js';
import type { Server } from '../model/index.js';
import { tables } from '../schema/tables.js';
import { evacuationsFrom } from '../server-migrations/evacuations.js';

export interface LeftoversOptions {
  readonly name: string;
  readonly store: Store;
  readonly driver: Driver;
  readonly machines: Machines;
  readonly onError: (error: unknown) => void;
}

const LOOK_MS = 500;
const ORIGIN = { action: 'leave', requestId: 'req-host' } as const;

/** Whether a server has its place on a host: it runs there, or what a move has left there may be needed. */
function belongs(server: Server, host: string): boolean {
  if (server.deleted) return false;
  return server.host === host || server.claims.some((claim) => claim.host === host);
}

/** What servers have left on a host that they are not on any more: evacuated, moved or deleted while it was away. */
export class Leftovers {
  readonly #options: LeftoversOptions;
  readonly #going = new Map<string, Promise<void>>();

  constructor(options: LeftoversOptions) {
    this.#options = options;
  }

  /** Looks at everything that is on the host. */
  async sweep(signal: AbortSignal): Promise<void> {
    const { name, store, driver, onError } = this.#options;
    const ids =
      (await driver.machines?.()) ??
      (await evacuationsFrom(store, [name], ['accepted', 'pre-migrating', 'done'])).map(({ serverId }) => serverId);
    for (const id of new Set(ids)) {
      if (signal.aborted) return;
      try {
        await this.#look(id, signal);
      } catch (error) {
        // The others are looked at all the same, and this one again next time.
        onError(error);
      }
    }
  }

  /** Looks at one server that leaves the host, as soon as the job that moves it has ended. */
  async tidy(id: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const server = await tables.servers.get(this.#options.store, id);
      if (!server || server.deleted || server.jobId === null || !belongs(server, this.#options.name)) break;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      signal.throwIfAborted();
    }
    await this.#look(id, signal);
  }

  /** Resolves when nothing of a server is being removed: it may be on its way back. */
  async settled(id: string): Promise<void> {
    await this.#going.get(id)?.catch(() => {});
  }

  async #look(id: string, signal: AbortSignal): Promise<void> {
    await this.settled(id);
    const going = this.#remove(id, signal);
    this.#going.set(id, going);
    try {
      await going;
    } finally {
      if (this.#going.get(id) === going) this.#going.delete(id);
    }
  }

  async #remove(id: string, signal: AbortSignal): Promise<void> {
    const { name, store, machines } = this.#options;
    const server = await tables.servers.get(store, id);
    // Of a machine that nobody knows nobody can say whose it is.
    if (!server || belongs(server, name)) return;
    const work = { verb: server.deleted ? 'destroy' : 'leave' } as const;
    await machines.perform({ work, server, origin: ORIGIN }, signal);
  }
}
