import { isDeepStrictEqual } from 'node:util';
import type { Port } from '@apistrata/catalogs';
import { ownWork } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import type { Server, ServerInterface } from '../../model/index.js';
import { tables } from '../../schema/tables.js';
import { interfaceOf } from './server-interface.js';

/** How often a server is read again because it changed while its ports were read. */
const MOST_TRIES = 10;

/** The interfaces as the ports say; what only the server knows of them (tag, whose they are) stays. */
function interfacesFrom(server: Server, ports: readonly Port[]): readonly ServerInterface[] {
  const byId = new Map(ports.map((port) => [port.id, port]));
  const known = server.interfaces.flatMap(({ portId, tag, owned }) => {
    const port = byId.get(portId);
    byId.delete(portId);
    return port ? [interfaceOf(port, tag, owned)] : [];
  });
  return [...known, ...[...byId.values()].map((port) => interfaceOf(port, null, false))];
}

/** Keeps what servers know of their interfaces equal to what the network service says. */
export class InterfaceRefresh {
  readonly #core: Core;
  readonly #running = new Map<string, Promise<void>>();

  constructor(core: Core) {
    this.#core = core;
  }

  /** Told that ports of a server have changed; nobody waits for it. Failures are the next refresh's to repair. */
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

  /** Resolves when no refresh is under way. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Reads the ports and writes down what has changed. A server that is being built learns of its ports from the build. */
  async now(serverId: string): Promise<void> {
    const { store, catalogs } = this.#core;
    for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
      const server = await tables.servers.get(store, serverId);
      if (!server || server.deleted || server.vmState === 'building') return;
      // All of them, whoever may see which.
      const ports = await catalogs.networks.listPorts(ownWork(server).caller, { deviceIds: [serverId] });
      const interfaces = interfacesFrom(server, ports);
      if (isDeepStrictEqual(interfaces, server.interfaces)) return;
      const written = await store.transaction(async (tx) => {
        const current = await tables.servers.lock(tx, serverId);
        // Changed since: the ports that were read may be older than what somebody else has written down of them.
        if (current?.revision !== server.revision) return false;
        await tables.servers.update(tx, { ...current, interfaces });
        return true;
      });
      if (written) return;
    }
  }
}
