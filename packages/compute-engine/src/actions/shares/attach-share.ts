import { randomUUID } from 'node:crypto';
import { CatalogError, type Share } from '@apistrata/catalogs';
import type { ServerScope } from '../../core/core.js';
import { conflict, notFound } from '../../errors/rejection.js';
import type { ServerShare } from '../../model/index.js';
import { grantShareAccess, revokeShareAccess, shareProtocols } from '../../servers/shares/share-access.js';
import { type Change, concurrentAction } from '../runner/action.js';
import { ignoreIfDeleted } from '../runner/superseded.js';
import { replaceShare, type ShareArguments, shareOf } from './attached-share.js';

/** A request to attach a share to a server. */
export interface NewShare {
  readonly shareId: string;
  /** The tag by which the guest identifies the share. */
  readonly tag: string;
}

async function findCatalogShare({ core, context }: ServerScope, id: string): Promise<Share> {
  try {
    return await core.catalogs.shares.get(context.caller, id);
  } catch (error) {
    if (error instanceof CatalogError && error.kind === 'not-found') throw notFound(`Share ${id} could not be found.`);
    throw error;
  }
}

/** Attaches a share to a stopped server. The server mounts the share when it starts. Returns the attachment. */
export const attachShare = concurrentAction({
  name: 'attachShare',
  vmStates: ['stopped'],
  lock: false,
  anyProject: true,
  history: 'attach_share',
  notifies: 'share_attach',
  nameInMessages: 'attach_share',
  begin: async (scope, { shareId, tag }: NewShare) => {
    const share = await findCatalogShare(scope, shareId);
    if (share.status !== 'available') throw conflict(`Share ${shareId} must be available, but it is ${share.status}.`);
    if (!(share.protocol in shareProtocols))
      throw conflict(`Share ${shareId} has the protocol ${share.protocol}, which servers cannot mount.`);
    const exportLocation = share.exportLocations[0];
    if (!exportLocation) throw conflict(`Share ${shareId} has no export location.`);
    const attachedShare: ServerShare = { id: randomUUID(), shareId, tag, status: 'attaching', exportLocation };
    const args: ShareArguments = { id: attachedShare.id, shareId };
    const change: Change = (_tx, { id, shares }) => {
      if (shares.some((attached) => attached.shareId === shareId))
        throw conflict(`Share ${shareId} is already attached to instance ${id}.`);
      if (shares.some((attached) => attached.tag === tag))
        throw conflict(`Share tag ${tag} is already used by instance ${id}.`);
      return { shares: [...shares, attachedShare] };
    };
    return { arguments: args, change, result: () => attachedShare };
  },
  run: async (run) => {
    const { id, shareId } = run.arguments;
    await run.step('compute_attach_share', async () => {
      const share = shareOf(run.server, id);
      await grantShareAccess(run, shareId);
      await run.perform({ verb: 'attach_share', share });
    });
    await run.change((server) => replaceShare(server, id, { status: 'inactive' }));
  },
  undo: async (run) => {
    const { id, shareId } = run.arguments;
    await revokeShareAccess(run, shareId);
    await ignoreIfDeleted(() => run.change((server) => replaceShare(server, id, { status: 'error' })));
  },
});
