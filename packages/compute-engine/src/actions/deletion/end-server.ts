import type { ServerScope } from '../../core/core.js';
import { keepClaim, ownClaim } from '../../scheduler/server-claims.js';
import { followServer } from '../../server-migrations/follow-server.js';
import { endMigrations } from '../../server-migrations/migration-record.js';
import { releasePorts } from '../../servers/interfaces/server-ports.js';
import { releaseShares } from '../../servers/shares/share-access.js';
import { releaseVolumes } from '../../servers/volumes/server-volumes.js';
import { isHostDown } from '../hosts.js';
import type { Begun, NoArguments } from '../runner/action.js';
import { failRun } from '../runner/fail-run.js';
import type { AlsoWrite, ServerRun } from '../runner/server-run.js';

/** Nothing can be done on a host that is down: the server is gone at once, and what it had is given back later. */
export async function beginEnd({ core, server }: ServerScope): Promise<Begun<NoArguments, void>> {
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

/** What a deleted server keeps: its record, and nothing of anybody else. */
export async function endServer(run: ServerRun): Promise<void> {
  const { server } = run;
  // On a host that is down nothing can be done, and the record went at once.
  const there = server.host !== null && !server.deleted;
  if (there) {
    run.enter('shutdown');
    await run.perform({ verb: 'destroy' }, 'deleting', 'compute_terminate_instance');
  }
  await releasePorts(run, server.interfaces);
  await releaseVolumes(run, server.blockDevices);
  await releaseShares(run);
  if (there) run.leave();
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
      return keepClaim(tx, current, undefined);
    },
  );
}

/** A server whose record went at once stays deleted, whatever could not be given back. */
export async function failEnd(run: ServerRun, error: Error): Promise<void> {
  const releaseClaims: AlsoWrite = (tx, current) => keepClaim(tx, current, undefined);
  if (run.server.deleted) await run.finish({}, releaseClaims);
  else await failRun(run, 'error', error);
}

/** Puts a server aside until it is restored or reclaimed. */
export async function putAside(run: ServerRun): Promise<void> {
  await run.perform({ verb: 'soft_delete' }, 'soft-deleting', 'compute_soft_delete_instance');
  await dropShelvedImage(run);
  await followServer(run);
  // Whatever was being done to it is over; what is left is one server of one flavor in one place.
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
      return keepClaim(tx, server, ownClaim(server));
    },
  );
}
