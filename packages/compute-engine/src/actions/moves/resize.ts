import { randomUUID } from 'node:crypto';
import type { Tx } from '@apistrata/record-store';
import type { Context } from '../../core/context.js';
import type { Core, ServerScope } from '../../core/core.js';
import { badRequest } from '../../errors/rejection.js';
import type { FlavorCopy, Server } from '../../model/index.js';
import { checkFlavorAndImage } from '../../resources/extra-specs/check-flavor-and-image.js';
import { copyFlavor } from '../../resources/flavors/flavor-copy.js';
import { findUsableFlavor } from '../../resources/flavors/usable-flavor.js';
import { checkServerQuota } from '../../resources/quotas/server-quota.js';
import { beginMigration } from '../../server-migrations/migration-record.js';
import { isVolumeBacked } from '../../servers/volumes/root-disk.js';
import { checkHostUp } from '../hosts.js';
import { action, type Change } from '../runner/action.js';
import { failMove, MOVE_TASK_STATES, type MoveArguments, moveServer } from './cold-move.js';

/** A request to change a server's flavor. */
export interface ResizeRequest {
  readonly flavorId: string;
  readonly diskConfig?: 'AUTO' | 'MANUAL';
}

/**
 * Throws a 400 error if the server's image no longer exists, because the resize may recreate the disk from the image.
 */
async function checkImage({ core, context, server: { imageId } }: ServerScope): Promise<void> {
  if (imageId === '') return;
  await core.catalogs.images.get(context.caller, imageId).catch(() => {
    throw badRequest('Image that the instance was started with could not be found.');
  });
}

/**
 * Checks the quota only for resources that increase, so that a project over its quota can always change to smaller
 * flavors.
 */
async function checkQuotaIncrease(
  core: Core,
  tx: Tx,
  context: Context,
  server: Server,
  next: FlavorCopy,
): Promise<void> {
  const { flavor: old, projectId } = server;
  const difference = { cores: next.vcpus - old.vcpus, ram: next.memoryMb - old.memoryMb };
  const increase = Object.fromEntries(Object.entries(difference).filter(([, amount]) => amount > 0));
  if (Object.keys(increase).length === 0) return;
  await checkServerQuota(core, tx, { ...context, caller: { ...context.caller, projectId } }, increase);
}

/**
 * Changes a server's flavor, and moves the server to another host if another host is valid. Afterwards, a client must
 * confirm or revert the resize.
 */
export const resize = action({
  name: 'resize',
  vmStates: ['active', 'stopped'],
  lock: true,
  rejectionWithShares: 'CONFLICT',
  during: MOVE_TASK_STATES,
  history: 'resize',
  notifies: { failed: 'resize' },
  onFailure: 'error',
  begin: async (scope, { flavorId, diskConfig }: ResizeRequest) => {
    const { core, context, server } = scope;
    const flavor = copyFlavor(await findUsableFlavor(core, context, flavorId));
    if (flavor.id === server.flavor.id) throw badRequest('When resizing, instances must change flavor!');
    if (flavor.diskGb === 0 && server.flavor.diskGb !== 0 && !isVolumeBacked(server))
      throw badRequest('Resize to zero disk flavor is not allowed.');
    await checkImage(scope);
    checkFlavorAndImage(flavor, { id: server.imageId || undefined, properties: server.imageProperties });
    await checkHostUp(core, server);
    const args: MoveArguments = { migrationId: randomUUID(), flavor };
    const change: Change = async (tx, current) => {
      await checkQuotaIncrease(core, tx, context, current, flavor);
      await beginMigration(tx, core, context, current, { id: args.migrationId, type: 'resize', flavor });
      return {
        newFlavor: flavor,
        diskConfig: diskConfig ?? current.diskConfig,
        wasRunning: current.vmState === 'active',
      };
    };
    return { arguments: args, change };
  },
  run: moveServer,
  fail: failMove,
});
