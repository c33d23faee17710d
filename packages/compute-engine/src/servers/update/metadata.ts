import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { notFound } from '../../errors/rejection.js';
import type { Server } from '../../model/index.js';
import { limitsOf, overQuotaError } from '../../resources/quotas/server-quota.js';
import type { Servers } from '../servers.js';

type Metadata = Server['metadata'];

/** Manages the metadata of servers. */
export class ServerMetadata {
  readonly #core: Core;
  readonly #servers: Servers;

  constructor(core: Core, servers: Servers) {
    this.#core = core;
    this.#servers = servers;
  }

  /** Adds or replaces metadata items of a server. */
  merge(context: Context, id: string, items: Metadata): Promise<Metadata> {
    return this.#write(context, id, (metadata) => ({ ...metadata, ...items }));
  }

  replace(context: Context, id: string, items: Metadata): Promise<Metadata> {
    return this.#write(context, id, () => items);
  }

  /** Removes a metadata item of a server. Throws 404 if the item does not exist. */
  async remove(context: Context, id: string, key: string): Promise<void> {
    // If the item is unknown, 404 is returned regardless of the server's state.
    if (!Object.hasOwn((await this.#servers.get(context, id)).metadata, key))
      throw notFound('Metadata item was not found');
    await this.#servers.change(context, id, 'metadata', (server) => {
      if (!Object.hasOwn(server.metadata, key)) throw notFound('Metadata item was not found');
      const { [key]: _, ...metadata } = server.metadata;
      return { metadata };
    });
  }

  async #write(context: Context, id: string, createMetadata: (metadata: Metadata) => Metadata): Promise<Metadata> {
    const changedServer = await this.#servers.change(context, id, 'metadata', async (server, tx) => {
      const metadata = createMetadata(server.metadata);
      const requested = Object.keys(metadata).length;
      const limits = await limitsOf(this.#core, tx, server.projectId, server.userId);
      const limit = limits.metadata_items;
      if (limit >= 0 && requested > limit)
        throw overQuotaError(this.#core, server, [
          { kind: 'metadata_items', requested, used: Object.keys(server.metadata).length, limit },
        ]);
      return { metadata };
    });
    return changedServer.metadata;
  }
}
