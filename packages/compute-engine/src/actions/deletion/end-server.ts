import type { ServerScope } from '../../core/core.js';
import { currentClaim, keepOnlyClaim } from '../../scheduler/server-claims.js';
import { movePortsAndVolumes } from '../../server-migrations/follow-server.js';
import { endMigrations } from '../../server-migrations/migration-record.js';
import { releasePorts } from '../../servers/interfaces/server-ports.js';
import { releaseShares } from '../../servers/shares/share-access.js';
import { releaseVolumes } from '../../servers/volumes/server-volumes.js';
import { isHostDown } from '../hosts.js';
import type { NoArguments, StartedAction } from '../runner/action.js';
import { failRun } from '../runner/fail-run.js';
import type { AdditionalWrite, ServerRun } from '../runner/server-run.js';

/**
 * Begins a deletion. If the server's host is down, the server is marked as deleted immediately, and its resources are
 * released afterwards.
 */
export async function beginDeletion({ core, server }: ServerScope): Promise<StartedAction<NoArguments, void>> {
  if (!(await isHostDown(core, server))) return { arguments: {} };
  const terminatedAt = core.clock.now();
  return {
    arguments: {},
    change: () => ({ vmState: 'deleted', taskState: null, powerState: 0, deleted: true, terminatedAt }),
  };
}

async function dropShelvedImage({ core, context, server: { shelvedImageId } }: ServerRun): Promise<void> {
  if (shelvedImageId) await core.catalogs.images.delete(context.caller, shelvedImageId).catch(() => {});
}

/** Destroys a server's machine, releases its resources in other services, and marks the server as deleted. */
export async function endServer(run: ServerRun): Promise<void> {
  const { server } = run;
  // If the host is down, the server was marked as deleted immediately, and its machine cannot be reached.
  const hasMachine = server.host !== null && !server.deleted;
  if (hasMachine) {
    run.enter('shutdown');
    await run.perform({ verb: 'destroy' }, 'deleting', 'compute_terminate_instance');
  }
  await releasePorts(run, server.interfaces);
  await releaseVolumes(run, server.blockDevices);
  await releaseShares(run);
  if (hasMachine) run.endStep();
  await dropShelvedImage(run);
  await run.finish(
    {
      vmState: 'deleted',
      powerState: 0,
      deleted: true,
      terminatedAt: run.core.clock.now(),
      interfaces: [],
      tags: [],
      host: server.host,
      progress: 0,
    },
    async (tx, current) => {
      await endMigrations(tx, run.core, current.id);
      return keepOnlyClaim(tx, current, undefined);
    },
  );
}

/**
 * Sets a server to ERROR after its deletion has failed. A server that was marked as deleted immediately stays deleted,
 * even if releasing its resources fails.
 */
export async function failDeletion(run: ServerRun, error: Error): Promise<void> {
  const releaseClaims: AdditionalWrite = (tx, current) => keepOnlyClaim(tx, current, undefined);
  if (run.server.deleted) await run.finish({}, releaseClaims);
  else await failRun(run, 'error', error);
}

/** Soft-deletes a server until it is restored or reclaimed. */
export async function softDeleteServer(run: ServerRun): Promise<void> {
  await run.perform({ verb: 'soft_delete' }, 'soft-deleting', 'compute_soft_delete_instance');
  await dropShelvedImage(run);
  await movePortsAndVolumes(run);
  // A soft deletion also ends an unconfirmed resize or migration, so the record keeps only one flavor and one host.
  await run.finish(
    {
      vmState: 'soft-delete',
      powerState: 4,
      setAsideAt: run.core.clock.now(),
      shelvedImageId: null,
      oldFlavor: null,
      newFlavor: null,
    },
    async (tx, server) => {
      await endMigrations(tx, run.core, server.id);
      return keepOnlyClaim(tx, server, currentClaim(server));
    },
  );
}
