import { isDeepStrictEqual } from 'node:util';
import type { Port } from '@apistrata/catalogs';
import { backgroundContext } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import type { Server, ServerInterface } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { interfaceOf } from './server-interface.js';

/** Maximum number of attempts to refresh a server's interfaces if the server changes while its ports are read. */
const MAX_ATTEMPTS = 10;

/** Converts ports to interfaces, with the fields that only the server record contains (tag and ownership). */
function mergeInterfaces(server: Server, ports: readonly Port[]): readonly ServerInterface[] {
  const byId = new Map(ports.map((port) => [port.id, port]));
  const current = server.interfaces.flatMap(({ portId, tag, owned }) => {
    const port = byId.get(portId);
    byId.delete(portId);
    return port ? [interfaceOf(port, tag, owned)] : [];
  });
  return [...current, ...[...byId.values()].map((port) => interfaceOf(port, null, false))];
}

/** Keeps the interfaces in server records in sync with the ports in the network service. */
export class InterfaceRefresh {
  readonly #core: Core;
  readonly #running = new Map<string, Promise<void>>();

  constructor(core: Core) {
    this.#core = core;
  }

  /** Starts a refresh after a server's ports have changed. If the refresh fails, the next one corrects the record. */
  changed(serverId: string): void {
    const before = this.#running.get(serverId) ?? Promise.resolve();
    const next = before
      .then(() => this.now(serverId))
      .catch(() => {})
      .finally(() => {
        if (this.#running.get(serverId) === next) this.#running.delete(serverId);
      });
    this.#running.set(serverId, next);
  }

  /** Resolves when no refresh is in progress. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /**
   * Reads a server's ports and stores changed interfaces. Skips a server that is being built, because the build stores
   * its interfaces.
   */
  async now(serverId: string): Promise<void> {
    const { store, catalogs } = this.#core;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const server = await tables.servers.get(store, serverId);
      if (!server || server.deleted || server.vmState === 'building') return;
      // The ports are listed on behalf of the engine, so that all of them are visible.
      const ports = await catalogs.networks.listPorts(backgroundContext(server).caller, { deviceIds: [serverId] });
      const interfaces = mergeInterfaces(server, ports);
      if (isDeepStrictEqual(interfaces, server.interfaces)) return;
      const isWritten = await store.transaction(async (tx) => {
        const current = await tables.servers.lock(tx, serverId);
        // If the server has changed in the meantime, the ports that were read may be outdated.
        if (current?.revision !== server.revision) return false;
        await tables.servers.update(tx, { ...current, interfaces });
        return true;
      });
      if (isWritten) return;
    }
  }
}
