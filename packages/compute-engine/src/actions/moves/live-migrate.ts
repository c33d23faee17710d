import { randomUUID } from 'node:crypto';
import type { ServerScope } from '../../core/core.js';
import type { DriverWork } from '../../drivers/driver.js';
import { badRequest } from '../../errors/refusal.js';
import type { MigrationStatus } from '../../model/index.js';
import type { Host } from '../../scheduler/infrastructure.js';
import { NoValidHost } from '../../scheduler/no-valid-host.js';
import { tables } from '../../schema/tables.js';
import { claimDestination } from '../../server-migrations/destination.js';
import {
  beginMigration,
  changeMigration,
  lockMigration,
  type MigrationPatch,
} from '../../server-migrations/migration-record.js';
import { isHostUp, requestedHost } from '../hosts.js';
import { action, type Change } from '../runner/action.js';
import type { ServerRun } from '../runner/server-run.js';
import { forceComplete } from './force-complete.js';
import { arrive, type LiveMoveArguments, stay } from './live-move.js';

/** A request to move a server while it runs. */
export interface LiveMigrationRequest {
  /** Left out: the scheduler says. */
  readonly host?: string;
  /** Does not ask the scheduler whether the host fits. */
  readonly force?: boolean;
  /** Whether a place is looked for before the answer, so that none is a 400, or in the background. */
  readonly checkedFirst: boolean;
}

/** What the stored work knows. */
export interface LiveMigrationArguments extends LiveMoveArguments {
  readonly host?: string;
  readonly force?: boolean;
}

const BYTES_PER_MIB = 1024 * 1024;
/** How often it is looked how far a migration is. */
const PROGRESS_MS = 1_000;

/** Where the request says to go; the 400s of hosts that cannot be gone to. */
async function checkHosts({ core, server }: ServerScope, request: LiveMigrationRequest): Promise<Host | undefined> {
  const { force, checkedFirst } = request;
  if (force && request.host === undefined) throw badRequest("Can't force to a non-provided destination");
  const host = await requestedHost(core, request.host, (name) =>
    badRequest(`Compute host ${name} could not be found.`),
  );
  if (checkedFirst && host && host.name === server.host)
    throw badRequest(`Unable to migrate instance ${server.id} to current host (${host.name}).`);
  if (checkedFirst && !(await isHostUp(core, server)))
    throw badRequest(`Compute service of ${server.host} is unavailable at this time.`);
  return host;
}

function refuse(error: unknown): never {
  throw error instanceof NoValidHost ? badRequest(error.message) : error;
}

/** Says where a migration is; where the driver takes no time nobody could see it. */
async function show(
  run: ServerRun<LiveMoveArguments>,
  status: MigrationStatus,
  work: DriverWork,
  more: MigrationPatch = {},
): Promise<void> {
  if (run.isInstant(work)) return;
  await run.update({ taskState: 'migrating' }, async (tx) => {
    await changeMigration(tx, run.core, run.arguments.migrationId, { status, ...more });
    return undefined;
  });
}

/** How far the migration is; before its beginning all memory is still to come. */
async function progressOf({ core, server }: ServerRun<LiveMoveArguments>): Promise<MigrationPatch> {
  const told = await core.machines.moveProgress(server).catch(() => null);
  const all = server.flavor.memoryMb * BYTES_PER_MIB;
  return told ?? { memoryTotalBytes: all, memoryRemainingBytes: all };
}

/** Writes down how far a migration is while it goes on. */
async function withProgress(
  run: ServerRun<LiveMoveArguments>,
  work: DriverWork,
  move: () => Promise<void>,
): Promise<void> {
  if (run.isInstant(work)) return move();
  const { core } = run;
  const ended = new AbortController();
  const tell = async () => {
    const told = await progressOf(run);
    if (ended.signal.aborted) return;
    await core.store.transaction((tx) => changeMigration(tx, core, run.arguments.migrationId, told));
  };
  const watch = async () => {
    for (;;) {
      await core.clock.sleep(PROGRESS_MS, ended.signal);
      // What cannot be told now is told the next time.
      await tell().catch(() => {});
    }
  };
  const moving = async () => {
    try {
      await move();
    } finally {
      ended.abort();
    }
  };
  // The watch ends when it is woken up, with an error that says so.
  const [moved] = await Promise.allSettled([moving(), watch()]);
  if (moved.status === 'rejected') throw moved.reason;
}

/** Finds a destination unless the request has found one already. */
async function reserve(run: ServerRun<LiveMigrationArguments>): Promise<string> {
  const { core } = run;
  const { host, force, migrationId } = run.arguments;
  const map = await core.infrastructure.hosts();
  let reserved = '';
  await run.update({}, async (tx, server) => {
    const { id, destHost, sourceHost } = await lockMigration(tx, migrationId);
    if (destHost !== null) {
      reserved = destHost;
      return undefined;
    }
    const exclude = sourceHost === null ? [] : [sourceHost];
    if (host !== undefined && map.hosts.get(host)?.name === sourceHost) throw new NoValidHost({ excluded: 1 });
    const destination = await claimDestination(tx, core, map, server, { flavor: server.flavor, host, force, exclude });
    reserved = destination.host;
    await changeMigration(tx, core, id, { destHost: destination.host, destNode: destination.node });
    return { claims: [...server.claims, destination.claim] };
  });
  return reserved;
}

/** Whether it was taken over by a request to complete it. */
async function isForced({ core, server, context }: ServerRun): Promise<boolean> {
  const actions = await tables.actions.find(core.store, (q) => q.where('server_id', '=', server.id));
  const own = actions.find(({ requestId }) => requestId === context.requestId);
  return actions.some(({ action, seq }) => action === forceComplete.history && seq > (own?.seq ?? 0));
}

/** Moves a running server: queued, preparing, running, then there. */
export const liveMigrate = action({
  name: 'os-migrateLive',
  vm: ['active', 'paused'],
  lock: true,
  notWithShares: 'CONFLICT',
  during: ['migrating'],
  history: 'live-migration',
  notifies: null,
  onFailure: 'unchanged',
  begin: async (scope, request: LiveMigrationRequest) => {
    const { core, context } = scope;
    const { force, checkedFirst } = request;
    const host = (await checkHosts(scope, request))?.name;
    const map = await core.infrastructure.hosts();
    const args: LiveMigrationArguments = { migrationId: randomUUID(), host, force };
    const change: Change = async (tx, current) => {
      await beginMigration(tx, core, context, current, { id: args.migrationId, type: 'live-migration' });
      if (!checkedFirst) return undefined;
      const place = { flavor: current.flavor, host, force, exclude: current.host ? [current.host] : [] };
      const destination = await claimDestination(tx, core, map, current, place).catch(refuse);
      await changeMigration(tx, core, args.migrationId, { destHost: destination.host, destNode: destination.node });
      return { claims: [...current.claims, destination.claim] };
    };
    return { arguments: args, change };
  },
  run: async (run) => {
    const destHost = await run.step('conductor_live_migrate_instance', () => reserve(run));
    if (run.server.host !== destHost) {
      const queue: DriverWork = { verb: 'live_migration_queue', destHost };
      await show(run, 'queued', queue);
      await run.perform(queue);
      const prepare: DriverWork = { verb: 'live_migration_prepare', destHost };
      run.enter('live_migration_pre');
      await show(run, 'preparing', prepare);
      await run.perform(prepare, undefined, 'compute_pre_live_migration');
      run.leave();
      const move: DriverWork = { verb: 'live_migration_run', destHost };
      await show(run, 'running', move, await progressOf(run));
      await withProgress(run, move, () => run.perform(move, undefined, 'compute_live_migration'));
    }
    await arrive(run);
  },
  fail: (run, error) => stay(run, error, error instanceof NoValidHost ? 'error' : 'failed'),
  abandoned: async (run) => ((await isForced(run)) ? 'Success' : undefined),
});
