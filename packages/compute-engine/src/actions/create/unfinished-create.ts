import { tables } from '../../schema/tables.js';
import { forgetReservation } from '../../servers/volumes/forget-reservation.js';
import type { Cleanup } from '../runner/cleanup.js';

/** Volumes that a request was about to reserve, and the keys under which it did. */
export interface UnfinishedCreateArguments {
  readonly volumes: readonly { readonly key: string; readonly volumeId: string }[];
}

/** What is left to do when a request for a server never came to its end: its volumes are nobody's. */
export const unfinishedCreate: Cleanup = {
  name: 'unfinishedCreate',
  async run(core, { serverId, payload }) {
    if (serverId === null || (await tables.servers.get(core.store, serverId))) return;
    const { volumes } = payload.arguments as UnfinishedCreateArguments;
    for (const volume of volumes)
      await forgetReservation(core, payload.context.caller, { ...volume, serverId, attachmentId: null });
  },
};
