import { randomUUID } from 'node:crypto';
import { CatalogError, type Share } from '../../catalogs/index.js';
import type { Context } from '../../context.js';
import type { Core } from '../../core.js';
import { conflict, notFound } from '../../errors.js';
import { checkTransition } from '../../lifecycle/transitions.js';
import type { Server, ServerShare } from '../../model/index.js';
import { shareProtocols } from '../../shares/share-access.js';
import { SideActions } from './side-actions.js';

/** What a share of a server is now: a machine mounts its shares when it is started. */
export function shareStatusOf(server: Server, { status }: ServerShare): ServerShare['status'] {
  if (status !== 'inactive' && status !== 'active') return status;
  return server.powerState === 1 || server.powerState === 3 ? 'active' : 'inactive';
}

/** Shares that servers mount. */
export class Shares {
  readonly #core: Core;
  readonly #actions: SideActions;

  constructor(core: Core) {
    this.#core = core;
    this.#actions = new SideActions(core);
  }

  find(server: Server, shareId: string): ServerShare {
    const share = server.shares.find((one) => one.shareId === shareId);
    if (!share) throw notFound(`Share ${shareId} is not attached to instance ${server.id}.`);
    return share;
  }

  /** Ties a share to a stopped server; the host is let in by the background. */
  async attach(context: Context, server: Server, shareId: string, tag: string): Promise<ServerShare> {
    checkTransition('attachShare', server, context.isAdmin);
    const share = await this.#share(context, shareId);
    if (share.status !== 'available') throw conflict(`Share ${shareId} is ${share.status}, not available.`);
    if (!(share.protocol in shareProtocols))
      throw conflict(`Share ${shareId} has the protocol ${share.protocol}, which servers cannot mount.`);
    const exportLocation = share.exportLocations[0];
    if (!exportLocation) throw conflict(`Share ${shareId} has no export location.`);
    const tie: ServerShare = { id: randomUUID(), shareId, tag, status: 'attaching', exportLocation };
    await this.#actions.begin(context, server.id, 'attachShare', {
      arguments: { id: tie.id, shareId },
      also: async (_tx, current) => {
        if (current.shares.some((one) => one.shareId === shareId))
          throw conflict(`Share ${shareId} is already attached to instance ${server.id}.`);
        if (current.shares.some((one) => one.tag === tag))
          throw conflict(`Share tag ${tag} is already used by instance ${server.id}.`);
        return { shares: [...current.shares, tie] };
      },
    });
    return tie;
  }

  /** Begins to take a share away. */
  async detach(context: Context, server: Server, shareId: string): Promise<void> {
    checkTransition('detachShare', server, context.isAdmin);
    const { id } = this.find(server, shareId);
    await this.#actions.begin(context, server.id, 'detachShare', {
      arguments: { id, shareId },
      also: async (_tx, current) => {
        const { status } = this.find(current, shareId);
        if (status === 'detaching') throw conflict(`Share ${shareId} is being detached already.`);
        return {
          shares: current.shares.map((one) => (one.id === id ? { ...one, status: 'detaching' as const } : one)),
        };
      },
    });
  }

  async #share({ caller }: Context, id: string): Promise<Share> {
    try {
      return await this.#core.catalogs.shares.get(caller, id);
    } catch (error) {
      if (error instanceof CatalogError && error.kind === 'not-found')
        throw notFound(`Share ${id} could not be found.`);
      throw error;
    }
  }
}
