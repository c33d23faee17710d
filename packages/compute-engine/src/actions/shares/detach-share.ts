import { conflict } from '../../errors/rejection.js';
import { revokeShareAccess } from '../../servers/shares/share-access.js';
import { type Change, concurrentAction } from '../runner/action.js';
import { ignoreIfDeleted } from '../runner/superseded.js';
import { findShare, replaceShare, type ShareArguments, shareOf } from './attached-share.js';

/** A request to detach a share from a server. */
export interface ShareDetachment {
  readonly shareId: string;
}

/** Detaches a share from a server. */
export const detachShare = concurrentAction({
  name: 'detachShare',
  vmStates: ['stopped', 'error'],
  lock: false,
  anyProject: true,
  history: 'detach_share',
  notifies: 'share_detach',
  nameInMessages: 'detach_share',
  begin: async ({ server }, { shareId }: ShareDetachment) => {
    const { id } = findShare(server, shareId);
    const args: ShareArguments = { id, shareId };
    const change: Change = (_tx, current) => {
      if (findShare(current, shareId).status === 'detaching')
        throw conflict(`Share ${shareId} is already being detached.`);
      return replaceShare(current, id, { status: 'detaching' });
    };
    return { arguments: args, change };
  },
  run: async (run) => {
    const { id, shareId } = run.arguments;
    await run.step('compute_detach_share', async () => {
      await run.perform({ verb: 'detach_share', share: shareOf(run.server, id) });
      await revokeShareAccess(run, shareId);
    });
    await run.change(({ shares }) => ({ shares: shares.filter((share) => share.id !== id) }));
  },
  undo: (run) =>
    ignoreIfDeleted(() => run.change((server) => replaceShare(server, run.arguments.id, { status: 'error' }))),
});
