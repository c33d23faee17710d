import type { Store } from '@apistrata/record-store';
import type { Driver } from '../drivers/driver.js';
import type { Machines } from '../drivers/machines.js';
import type { Server } from '../model/index.js';
import { tables } from '../schema/tables.js';
import { findEvacuationsFrom, OPEN_EVACUATION_STATUSES } from '../server-migrations/evacuations.js';
import { readDepartedServer } from './rights/departed-servers.js';

/** Dependencies and options of `OrphanedMachines`. */
export interface OrphanedMachinesOptions {
  readonly name: string;
  readonly store: Store;
  readonly driver: Driver;
  readonly machines: Machines;
  readonly onError: (error: unknown) => void;
}

const POLL_INTERVAL_MS = 500;
const LEAVE_ORIGIN = { action: 'leave', requestId: 'req-host' } as const;

/** Returns whether a server may have resources on a host, because it runs there or a move may need them. */
function mayHaveResources(server: Server, host: string): boolean {
  if (server.deleted) return false;
  return server.host === host || server.claims.some((claim) => claim.host === host);
}

/**
 * Removes resources of servers that are no longer on a host, because they were evacuated, moved or deleted while the
 * host was down.
 */
export class OrphanedMachines {
  readonly #options: OrphanedMachinesOptions;
  readonly #removals = new Map<string, Promise<void>>();

  constructor(options: OrphanedMachinesOptions) {
    this.#options = options;
  }

  /** Checks all machines on the host, and removes orphaned ones. */
  async cleanUpAll(signal: AbortSignal): Promise<void> {
    const { name, store, driver, onError } = this.#options;
    const ids =
      (await driver.machines?.()) ??
      (await findEvacuationsFrom(store, [name], OPEN_EVACUATION_STATUSES)).map(({ serverId }) => serverId);
    for (const id of new Set(ids)) {
      if (signal.aborted) return;
      try {
        await this.#check(id, signal);
      } catch (error) {
        // This pass continues with the other machines, and the next pass checks this machine again.
        onError(error);
      }
    }
  }

  /**
   * Checks all machines repeatedly until no evacuation from this host is in progress.
   * @returns the ids of the completed evacuations whose servers have no resources on this host anymore
   */
  async cleanUpUntilComplete(signal: AbortSignal): Promise<readonly string[]> {
    const { store, name } = this.#options;
    for (;;) {
      const evacuations = await findEvacuationsFrom(store, [name], OPEN_EVACUATION_STATUSES);
      await this.cleanUpAll(signal);
      if (signal.aborted || evacuations.every(({ status }) => status === 'done'))
        return evacuations.map(({ id }) => id);
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
  }

  /** Checks one server that is leaving the host, as soon as the job that moves it has ended. */
  async cleanUp(id: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const server = await tables.servers.get(this.#options.store, id);
      if (!server || server.deleted || server.jobId === null || !mayHaveResources(server, this.#options.name)) break;
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
      signal.throwIfAborted();
    }
    await this.#check(id, signal);
  }

  /**
   * If the server's resources are being removed, waits until that has ended, because the server may return to the host.
   */
  async waitUntilSettled(id: string): Promise<void> {
    await this.#removals.get(id)?.catch(() => {});
  }

  async #check(id: string, signal: AbortSignal): Promise<void> {
    await this.waitUntilSettled(id);
    const removal = this.#remove(id, signal);
    this.#removals.set(id, removal);
    try {
      await removal;
    } finally {
      if (this.#removals.get(id) === removal) this.#removals.delete(id);
    }
  }

  async #remove(id: string, signal: AbortSignal): Promise<void> {
    const { name, store, machines } = this.#options;
    const server = (await tables.servers.get(store, id)) ?? (await readDepartedServer(store, id));
    // A machine without any record of its server is not removed.
    if (!server || mayHaveResources(server, name)) return;
    const work = { verb: server.deleted ? 'destroy' : 'leave' } as const;
    await machines.perform({ work, server, origin: LEAVE_ORIGIN }, signal);
  }
}
