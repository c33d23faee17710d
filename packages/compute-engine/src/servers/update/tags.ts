import type { Context } from '../../core/context.js';
import { badRequest, notFound } from '../../errors/refusal.js';
import type { Server } from '../../model/index.js';
import type { Servers } from '../servers.js';

/** How many tags a server may have. */
const MOST_TAGS = 50;

/** Tags of servers: a set, in the order in which they came. */
export class ServerTags {
  readonly #servers: Servers;

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** Throws the 404 unless the server has the tag. */
  check(server: Server, tag: string): void {
    if (!server.tags.includes(tag)) throw notFound(`Instance ${server.id} has no tag '${tag}'`);
  }

  async replace(context: Context, id: string, tags: readonly string[]): Promise<readonly string[]> {
    return (await this.#servers.change(context, id, 'tags', () => ({ tags: [...new Set(tags)] }))).tags;
  }

  /** True when it is new. The limit counts even for a tag that is there already. */
  async add(context: Context, id: string, tag: string): Promise<boolean> {
    let added = false;
    await this.#servers.change(context, id, 'tags', (server) => {
      added = !server.tags.includes(tag);
      if (server.tags.length >= MOST_TAGS)
        throw badRequest(`The number of tags exceeded the per-server limit ${MOST_TAGS}`);
      return added ? { tags: [...server.tags, tag] } : undefined;
    });
    return added;
  }

  async remove(context: Context, id: string, tag: string): Promise<void> {
    await this.#servers.change(context, id, 'tags', (server) => {
      this.check(server, tag);
      return { tags: server.tags.filter((other) => other !== tag) };
    });
  }
}
