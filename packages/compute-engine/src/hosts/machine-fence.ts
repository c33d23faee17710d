import type { Store } from '@apistrata/record-store';
import type { FenceAction } from '../drivers/driver.js';
import type { Machines } from '../drivers/machines.js';
import { tables } from '../schema/tables.js';

export interface MachineFenceOptions {
  readonly host: string;
  readonly how: FenceAction;
  readonly store: Store;
  readonly machines: Machines;
  /** Stops or pauses all machines. Returns the ids of their servers. */
  readonly fence: (how: FenceAction) => Promise<readonly string[]>;
  readonly onError: (error: unknown) => void;
}

const ORIGIN = { action: 'unpause', requestId: 'req-host' } as const;

/** Stops or pauses the machines of a host while it cannot reach the database, so that their servers may start elsewhere. */
export class MachineFence {
  readonly #options: MachineFenceOptions;
  /** Servers whose machines were paused. */
  readonly #paused = new Set<string>();
  #closed = false;
  #count = 0;

  constructor(options: MachineFenceOptions) {
    this.#options = options;
  }

  /** Whether the machines are stopped or paused, and how often that happened. */
  get state(): { readonly closed: boolean; readonly count: number } {
    return { closed: this.#closed, count: this.#count };
  }

  /** Stops or pauses the machines, once until `lift()`. */
  async close(): Promise<void> {
    if (this.#closed) return;
    const { how, fence, host, onError } = this.#options;
    const ids = await fence(how);
    this.#closed = true;
    this.#count++;
    if (how === 'pause') for (const id of ids) this.#paused.add(id);
    onError(new Error(`the host ${host} cannot reach the database, so ${how} was applied to ${ids.length} machines`));
  }

  /** Resumes paused machines whose servers are still on this host. Stopped ones stay off, as after a power failure. */
  async lift(signal: AbortSignal): Promise<void> {
    const { store, host, machines, onError } = this.#options;
    this.#closed = false;
    for (const id of this.#paused) {
      const server = await tables.servers.get(store, id);
      this.#paused.delete(id);
      if (!server || server.deleted || server.host !== host || server.vmState !== 'active') continue;
      await machines.perform({ work: { verb: 'unpause' }, server, origin: ORIGIN }, signal).catch(onError);
    }
  }
}
