import { closeShare, openShare } from '../shares/share-access.js';
import { ifStillThere } from './attached-volume.js';
import { shareOf, withShare } from './share-access.js';
import type { SideTask } from './side-run.js';

interface ShareArguments {
  /** Id of the tie between server and share. */
  readonly id: string;
  readonly shareId: string;
}

/** Makes a share ready for a stopped server, which mounts it when it is started. */
export const attachShareTask: SideTask = {
  action: 'attachShare',
  run: async (run) => {
    const { id, shareId } = run.arguments as ShareArguments;
    await run.step('compute_attach_share', async () => {
      const share = shareOf(run.server, id);
      await openShare(run, shareId);
      await run.perform({ verb: 'attach_share', share });
    });
    await run.change((server) => withShare(server, id, { status: 'inactive' }));
  },
  undo: async (run) => {
    const { id, shareId } = run.arguments as ShareArguments;
    await closeShare(run, shareId);
    await ifStillThere(() => run.change((server) => withShare(server, id, { status: 'error' })));
  },
};

/** Takes a share away from a server. */
export const detachShareTask: SideTask = {
  action: 'detachShare',
  run: async (run) => {
    const { id, shareId } = run.arguments as ShareArguments;
    await run.step('compute_detach_share', async () => {
      await run.perform({ verb: 'detach_share', share: shareOf(run.server, id) });
      await closeShare(run, shareId);
    });
    await run.change(({ shares }) => ({ shares: shares.filter((one) => one.id !== id) }));
  },
  undo: (run) => {
    const { id } = run.arguments as ShareArguments;
    return ifStillThere(() => run.change((server) => withShare(server, id, { status: 'error' })));
  },
};
