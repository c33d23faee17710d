import { randomUUID } from 'node:crypto';
import type { ServerScope } from '../../core/core.js';
import type { DriverWork } from '../../drivers/driver.js';
import { badRequest } from '../../errors/rejection.js';
import type { MigrationStatus } from '../../model/index.js';
import type { Host } from '../../scheduler/infrastructure.js';
import { NoValidHost } from '../../scheduler/no-valid-host.js';
import { currentClaim, keepOnlyClaim } from '../../scheduler/server-claims.js';
import { tables } from '../../schema/tables.js';
import { claimDestination } from '../../server-migrations/destination.js';
import {
  beginMigration,
  changeMigration,
  getMigration,
  lockMigration,
  type MigrationPatch,
} from '../../server-migrations/migration-record.js';
import { isHostUp, resolveRequestedHost } from '../hosts.js';
import { action, type Change } from '../runner/action.js';
import type { ServerRun } from '../runner/server-run.js';
import { completeLiveMove, type LiveMoveArguments, rollBackLiveMove } from './live-move.js';
import { PreCheckFailed, preCheck } from './pre-check.js';

/** A request to live-migrate a server. */
export interface LiveMigrationRequest {
  /** Name of the destination host. By default, the scheduler selects a host. */
  readonly host?: string;
  /** Whether to use the given host without the scheduler's checks. */
  readonly force?: boolean;
  /**
   * Whether the destination host is selected before the response, so that a failure is reported as a 400 error.
   * Otherwise, the host is selected in the background.
   */
  readonly checkedFirst: boolean;
}

/** Arguments of the live migration job. */
export interface LiveMigrationArguments extends LiveMoveArguments {
  readonly host?: string;
  readonly force?: boolean;
}

const BYTES_PER_MIB = 1024 * 1024;
/** Interval in milliseconds between updates of the stored migration progress. */
const PROGRESS_INTERVAL_MS = 1_000;

/**
 * Returns the destination host that the request names, or undefined if the request names none. Throws a 400 error if
 * the host is invalid.
 */
async function resolveDestination(
  { core, server }: ServerScope,
  request: LiveMigrationRequest,
): Promise<Host | undefined> {
  const { force, checkedFirst } = request;
  if (force && request.host === undefined) throw badRequest("Can't force to a non-provided destination");
  const host = await resolveRequestedHost(core, request.host, (name) =>
    badRequest(`Compute host ${name} could not be found.`),
  );
  if (checkedFirst && host && host.name === server.host)
    throw badRequest(`Unable to migrate instance ${server.id} to current host (${host.name}).`);
  if (checkedFirst && !(await isHostUp(core, server)))
    throw badRequest(`Compute service of ${server.host} is unavailable at this time.`);
  const obstacle = checkedFirst && host && (await preCheck(core, server, host.name));
  if (obstacle) throw badRequest(new PreCheckFailed(obstacle).message);
  return host;
}

function throwAsBadRequest(error: unknown): never {
  throw error instanceof NoValidHost ? badRequest(error.message) : error;
}

/**
 * Stores the migration status. Skips the write if the driver executes the command synchronously, because no client
 * could then observe the status.
 */
async function storeStatus(
  run: ServerRun<LiveMoveArguments>,
  status: MigrationStatus,
  work: DriverWork,
  additionalPatch: MigrationPatch = {},
): Promise<void> {
  if (run.isSynchronous(work)) return;
  await run.update({ taskState: 'migrating' }, async (tx) => {
    await changeMigration(tx, run.core, run.arguments.migrationId, { status, ...additionalPatch });
    return undefined;
  });
}

/**
 * Returns the progress of a live migration. Until the driver reports progress, the remaining memory equals the total
 * memory.
 */
async function readProgress({ core, server }: ServerRun<LiveMoveArguments>): Promise<MigrationPatch> {
  const reportedProgress = await core.machines.moveProgress(server).catch(() => null);
  const totalMemoryBytes = server.flavor.memoryMb * BYTES_PER_MIB;
  return reportedProgress ?? { memoryTotalBytes: totalMemoryBytes, memoryRemainingBytes: totalMemoryBytes };
}

/** Performs a live migration, and regularly stores its progress until it ends. */
async function moveWithProgress(
  run: ServerRun<LiveMoveArguments>,
  work: DriverWork,
  move: () => Promise<void>,
): Promise<void> {
  if (run.isSynchronous(work)) return move();
  const { core } = run;
  const moveEndController = new AbortController();
  const storeProgress = async () => {
    const progress = await readProgress(run);
    if (moveEndController.signal.aborted) return;
    await core.store.transaction((tx) => changeMigration(tx, core, run.arguments.migrationId, progress));
  };
  const watchProgress = async () => {
    for (;;) {
      await core.clock.sleep(PROGRESS_INTERVAL_MS, moveEndController.signal);
      // If an update fails, the progress is stored again after the next interval.
      await storeProgress().catch(() => {});
    }
  };
  const moveAndStopWatching = async () => {
    try {
      await move();
    } finally {
      moveEndController.abort();
    }
  };
  // `watchProgress()` always ends with an abort error, so only the outcome of the move is used.
  const [moveOutcome] = await Promise.allSettled([moveAndStopWatching(), watchProgress()]);
  if (moveOutcome.status === 'rejected') throw moveOutcome.reason;
}

/**
 * Claims capacity on a destination host, unless the request has already done so, and returns the host's name.
 * @param rejectedHosts names of hosts that failed the pre-check
 */
async function claimHost(run: ServerRun<LiveMigrationArguments>, rejectedHosts: readonly string[]): Promise<string> {
  const { core } = run;
  const { host, force, migrationId } = run.arguments;
  const map = await core.infrastructure.hosts();
  let claimedHost = '';
  await run.update({}, async (tx, server) => {
    const { id, destHost, sourceHost } = await lockMigration(tx, migrationId);
    if (destHost !== null) {
      claimedHost = destHost;
      return undefined;
    }
    const exclude = [...(sourceHost === null ? [] : [sourceHost]), ...rejectedHosts];
    if (host !== undefined && map.hosts.get(host)?.name === sourceHost) throw new NoValidHost({ excluded: 1 });
    const destination = await claimDestination(tx, core, map, server, { flavor: server.flavor, host, force, exclude });
    claimedHost = destination.host;
    await changeMigration(tx, core, id, { destHost: destination.host, destNode: destination.node });
    return { claims: [...server.claims, destination.claim] };
  });
  return claimedHost;
}

/** Releases the claim on a destination host that failed the pre-check. */
async function releaseHost(run: ServerRun<LiveMigrationArguments>): Promise<void> {
  await run.update({}, async (tx, server) => {
    await changeMigration(tx, run.core, run.arguments.migrationId, { destHost: null, destNode: null });
    return keepOnlyClaim(tx, server, currentClaim(server));
  });
}

/** Selects a destination host that passes the pre-check. If the request names a host, no other host is tried. */
async function reserveHost(run: ServerRun<LiveMigrationArguments>): Promise<string> {
  const { core } = run;
  const { host, migrationId } = run.arguments;
  const rejectedHosts: string[] = [];
  for (let reason: string | undefined; ; ) {
    const destHost = await claimHost(run, rejectedHosts).catch((error) => {
      if (reason === undefined || !(error instanceof NoValidHost)) throw error;
      throw new NoValidHost({ ...error.reasons, preCheck: rejectedHosts.length }, reason);
    });
    // If an earlier attempt of the job has already started the migration, the migration continues without another
    // pre-check.
    const hasStarted = run.server.host === destHost || (await getMigration(core, migrationId)).status !== 'accepted';
    const obstacle = hasStarted ? null : await preCheck(core, run.server, destHost);
    if (obstacle === null) return destHost;
    if (host !== undefined) throw new PreCheckFailed(obstacle);
    reason = obstacle;
    rejectedHosts.push(destHost);
    await releaseHost(run);
  }
}

/**
 * Live-migrates a server. The migration passes through the statuses queued, preparing, running, post-migrating and
 * completed.
 */
export const liveMigrate = action({
  name: 'os-migrateLive',
  vmStates: ['active', 'paused'],
  lock: true,
  rejectionWithShares: 'CONFLICT',
  during: ['migrating'],
  history: 'live-migration',
  notifies: null,
  onFailure: 'unchanged',
  begin: async (scope, request: LiveMigrationRequest) => {
    const { core, context } = scope;
    const { force, checkedFirst } = request;
    const host = (await resolveDestination(scope, request))?.name;
    const map = await core.infrastructure.hosts();
    const args: LiveMigrationArguments = { migrationId: randomUUID(), host, force };
    const change: Change = async (tx, current) => {
      await beginMigration(tx, core, context, current, { id: args.migrationId, type: 'live-migration' });
      if (!checkedFirst) return undefined;
      const destinationRequest = { flavor: current.flavor, host, force, exclude: current.host ? [current.host] : [] };
      const destination = await claimDestination(tx, core, map, current, destinationRequest).catch(throwAsBadRequest);
      await changeMigration(tx, core, args.migrationId, { destHost: destination.host, destNode: destination.node });
      return { claims: [...current.claims, destination.claim] };
    };
    return { arguments: args, change };
  },
  run: async (run) => {
    const destHost = await run.step('conductor_live_migrate_instance', () => reserveHost(run));
    if (run.server.host !== destHost) {
      const queueCommand: DriverWork = { verb: 'live_migration_queue', destHost };
      await storeStatus(run, 'queued', queueCommand);
      await run.perform(queueCommand);
      const prepareCommand: DriverWork = { verb: 'live_migration_prepare', destHost };
      run.enter('live_migration_pre');
      await storeStatus(run, 'preparing', prepareCommand);
      await run.perform(prepareCommand, undefined, 'compute_pre_live_migration');
      run.endStep();
      const move: DriverWork = { verb: 'live_migration_run', destHost };
      await storeStatus(run, 'running', move, await readProgress(run));
      await moveWithProgress(run, move, () => run.perform(move, undefined, 'compute_live_migration'));
    }
    await completeLiveMove(run);
  },
  fail: (run, error) => {
    const hasStarted = !(error instanceof NoValidHost || error instanceof PreCheckFailed);
    return rollBackLiveMove(run, error, hasStarted ? 'failed' : 'error');
  },
  cleanUpAfterTakeover: async ({ core, arguments: { migrationId } }) =>
    (await tables.migrations.get(core.store, migrationId))?.forced ? 'Success' : undefined,
});
