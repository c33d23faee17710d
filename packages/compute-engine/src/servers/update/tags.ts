import type { Context } from '../../core/context.js';
import { badRequest, notFound } from '../../errors/rejection.js';
import type { Server } from '../../model/index.js';
import type { Servers } from '../servers.js';

/** Maximum number of tags per server. */
const MAX_TAGS = 50;

/** Manages the tags of servers. Each server's tags are unique, and in the order in which they were added. */
export class ServerTags {
  readonly #servers: Servers;

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** Throws 404 unless the server has the tag. */
  check(server: Server, tag: string): void {
    if (!server.tags.includes(tag)) throw notFound(`Instance ${server.id} has no tag '${tag}'`);
  }

  async replace(context: Context, id: string, tags: readonly string[]): Promise<readonly string[]> {
    return (await this.#servers.change(context, id, 'tags', () => ({ tags: [...new Set(tags)] }))).tags;
  }

  /**
   * Adds a tag. Returns whether the tag is new. If the server has the maximum number of tags, even an existing tag is
   * rejected.
   */
  async add(context: Context, id: string, tag: string): Promise<boolean> {
    let isNewTag = false;
    await this.#servers.change(context, id, 'tags', (server) => {
      isNewTag = !server.tags.includes(tag);
      if (server.tags.length >= MAX_TAGS)
        throw badRequest(`The number of tags exceeded the per-server limit ${MAX_TAGS}`);
      return isNewTag ? { tags: [...server.tags, tag] } : undefined;
    });
    return isNewTag;
  }

  async remove(context: Context, id: string, tag: string): Promise<void> {
    await this.#servers.change(context, id, 'tags', (server) => {
      this.check(server, tag);
      return { tags: server.tags.filter((other) => other !== tag) };
    });
  }
}
