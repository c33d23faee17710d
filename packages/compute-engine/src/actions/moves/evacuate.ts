import { randomUUID } from 'node:crypto';
import { badRequest, conflict, notFound } from '../../errors/rejection.js';
import { generatePassword } from '../../keys/generate-password.js';
import { requiredAmounts } from '../../scheduler/amounts.js';
import { forceClaim, lockClaims } from '../../scheduler/claims.js';
import { lockGroup } from '../../scheduler/scheduler.js';
import { currentClaim, keepOnlyClaim } from '../../scheduler/server-claims.js';
import { claimDestination } from '../../server-migrations/destination.js';
import { movePortsAndVolumes } from '../../server-migrations/follow-server.js';
import {
  beginMigration,
  changeMigration,
  endMigrations,
  getMigration,
  lockMigration,
} from '../../server-migrations/migration-record.js';
import { serverContentOf } from '../../servers/volumes/root-disk.js';
import { isFenced, isHostUp, resolveRequestedHost } from '../hosts.js';
import { action, type Change } from '../runner/action.js';
import { failRun } from '../runner/fail-run.js';
import type { ServerRun } from '../runner/server-run.js';

/** A request to rebuild a server on another host after its host has failed. */
export interface EvacuationRequest {
  /** Name of the destination host. By default, the scheduler selects a host. */
  readonly host?: string;
  /** Whether to use the given host without the scheduler's checks. */
  readonly force?: boolean;
  readonly adminPassword?: string;
  /**
   * Whether the server's disks are on shared storage. If so, the administrator password stays unchanged. If not, the
   * disks are lost. By default, the driver detects the kind of storage. If the driver detects the opposite of the given
   * value, the evacuation fails.
   */
  readonly sharedStorage?: boolean;
  /** Whether the server is stopped after the evacuation, regardless of its previous state. */
  readonly stop: boolean;
}

/** Arguments of the evacuation job. */
export interface EvacuateArguments {
  readonly migrationId: string;
  readonly host?: string;
  readonly force?: boolean;
  readonly adminPassword: string | null;
  readonly sharedStorage?: boolean;
  /** Whether the server is stopped after the evacuation, regardless of its previous state. */
  readonly stop: boolean;
}

async function claimEvacuationHost(run: ServerRun<EvacuateArguments>): Promise<void> {
  const { core } = run;
  const { host, force, migrationId } = run.arguments;
  const map = await core.infrastructure.hosts();
  await run.update({}, async (tx, server) => {
    const migration = await lockMigration(tx, migrationId);
    if (migration.destHost !== null) return undefined;
    // This transaction changes the allocations of both hosts. It locks the server group first, as placements do.
    if (server.groupId !== null) await lockGroup(tx, server.groupId);
    await lockClaims(tx);
    const excludedHosts = migration.sourceHost ? [migration.sourceHost] : [];
    const destination = await claimDestination(tx, core, map, server, {
      flavor: server.flavor,
      host,
      force,
      exclude: excludedHosts,
    });
    const { host: destHost, node: destNode } = destination;
    await changeMigration(tx, core, migration.id, { destHost, destNode, status: 'pre-migrating' });
    await keepOnlyClaim(tx, server, undefined);
    return { claims: [destination.claim], host: destHost, node: destNode };
  });
}

/**
 * Assigns the server to the failed host again. The server can then be evacuated again, or run there once the host
 * recovers.
 */
async function assignToFailedHost(run: ServerRun<EvacuateArguments>): Promise<void> {
  const { core } = run;
  const { sourceHost, sourceNode, destHost } = await getMigration(core, run.arguments.migrationId);
  if (!sourceHost || destHost === null) return;
  await run.update({}, async (tx, server) => {
    if (server.host !== destHost) return undefined;
    await lockClaims(tx);
    await keepOnlyClaim(tx, server, undefined);
    const claim = { host: sourceHost, ...requiredAmounts(server.flavor, serverContentOf(server)) };
    await forceClaim(tx, claim);
    return { claims: [claim], host: sourceHost, node: sourceNode };
  });
}

/**
 * Rebuilds a server on another host after its host has failed. Returns the new administrator password, or null if the
 * disk keeps the old password.
 */
export const evacuate = action({
  name: 'evacuate',
  vmStates: ['active', 'stopped', 'error'],
  taskStates: 'any',
  lock: false,
  rejectionWithShares: 'CONFLICT',
  during: ['rebuilding', 'rebuild_block_device_mapping', 'rebuild_spawning'],
  history: 'evacuate',
  notifies: { accepted: 'evacuate', failed: 'rebuild' },
  onFailure: 'error',
  begin: async ({ core, context, server }, request: EvacuationRequest) => {
    const { force, sharedStorage, stop } = request;
    if (force && request.host === undefined) throw badRequest("Can't force to a non-provided destination");
    const host = await resolveRequestedHost(core, request.host, (name) =>
      notFound(`Compute host ${name} could not be found.`),
    );
    if (host && host.name === server.host) throw badRequest("The target host can't be the same one.");
    if (await isHostUp(core, server)) throw badRequest(`Compute service of ${server.host} is still in use.`);
    if (core.settings.evacuateFencedOnly && !sharedStorage && !(await isFenced(core, server)))
      throw conflict(
        `Cannot 'evacuate' instance ${server.id}: its machine may still run on ${server.host}. Force down the compute service of that host to confirm that the host is off.`,
      );
    const adminPassword = sharedStorage ? null : (request.adminPassword ?? generatePassword());
    const migrationId = randomUUID();
    const change: Change = async (tx, current) => {
      // Any other task ended when the host failed, but an accepted deletion must still be completed.
      if (current.taskState === 'deleting' || current.taskState === 'soft-deleting')
        throw conflict(`Cannot 'evacuate' instance ${server.id} while it is in task_state ${current.taskState}`);
      await endMigrations(tx, core, server.id);
      await beginMigration(tx, core, context, current, { id: migrationId, type: 'evacuation' });
      return { wasRunning: current.vmState !== 'stopped', oldFlavor: null, newFlavor: null };
    };
    const args: EvacuateArguments = { migrationId, host: host?.name, force, adminPassword, sharedStorage, stop };
    return { arguments: args, change, result: () => adminPassword };
  },
  run: async (run) => {
    const { adminPassword, sharedStorage = null, stop, migrationId } = run.arguments;
    await run.step('conductor_rebuild_server', () => claimEvacuationHost(run));
    run.notifyWithoutPhase('rebuild_scheduled');
    run.enter('rebuild');
    await run.passThrough(['rebuilding', 'rebuild_block_device_mapping']);
    await movePortsAndVolumes(run);
    const { sourceHost } = await getMigration(run.core, migrationId);
    await run.perform(
      { verb: 'evacuate', sourceHost: sourceHost ?? '', adminPassword, sharedStorage },
      'rebuild_spawning',
      'compute_rebuild_instance',
    );
    const shouldRun = run.server.wasRunning && !stop;
    if (!shouldRun) await run.perform({ verb: 'power_off' }, 'powering-off', 'compute_stop_instance');
    await run.finish(
      {
        vmState: shouldRun ? 'active' : 'stopped',
        powerState: shouldRun ? 1 : 4,
        launchedAt: run.core.clock.now(),
        fault: null,
      },
      async (tx) => {
        await changeMigration(tx, run.core, migrationId, { status: 'done' });
        return undefined;
      },
    );
  },
  fail: async (run, error) => {
    await assignToFailedHost(run);
    await movePortsAndVolumes(run).catch(() => {});
    await failRun(run, 'error', error, {}, async (tx, server) => {
      await changeMigration(tx, run.core, run.arguments.migrationId, { status: 'failed' });
      return keepOnlyClaim(tx, server, currentClaim(server));
    });
  },
});
