import { tables } from '../../schema/tables.js';
import { deletePossibleReservation } from '../../servers/volumes/drop-reservation.js';
import type { Cleanup } from '../runner/cleanup.js';

/** The volumes that a create request was about to reserve, with the idempotency keys of the reservations. */
export interface UnfinishedCreateArguments {
  readonly volumes: readonly { readonly key: string; readonly volumeId: string }[];
}

/** Releases the volumes that an interrupted create request may have reserved. */
export const unfinishedCreate: Cleanup = {
  name: 'unfinishedCreate',
  async run(core, { serverId, payload }) {
    if (serverId === null || (await tables.servers.get(core.store, serverId))) return;
    const { volumes } = payload.arguments as UnfinishedCreateArguments;
    for (const volume of volumes)
      await deletePossibleReservation(core, payload.context.caller, { ...volume, serverId });
  },
};
