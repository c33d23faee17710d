import type { Core } from '../core.js';
import type { Job } from '../lifecycle/jobs.js';
import { tables } from '../store/tables.js';
import { forgetAttachment } from './attached-volume.js';

/** Volumes that a request was about to reserve, and the keys under which it did. */
export interface UnfinishedCreateArguments {
  readonly volumes: readonly { readonly key: string; readonly volumeId: string }[];
}

/** Work on what belongs to no server, or to none yet. May be begun again after a crash. */
export interface Cleanup {
  readonly kind: string;
  readonly run: (core: Core, job: Job) => Promise<void>;
}

/** What is left to do when a request for a server never came to its end: its volumes are nobody's. */
export const unfinishedCreate: Cleanup = {
  kind: 'unfinishedCreate',
  async run(core, { serverId, payload }) {
    if (await tables.servers.get(core.store, serverId!)) return;
    const { volumes } = payload.arguments as UnfinishedCreateArguments;
    for (const volume of volumes)
      await forgetAttachment(core, payload.context.caller, { ...volume, serverId: serverId!, attachmentId: null });
  },
};
