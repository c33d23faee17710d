import { claimDestination } from '../migrations/destination.js';
import { followServer } from '../migrations/follow-server.js';
import { changeMigration } from '../migrations/migration-record.js';
import type { BlockDevice, ServerPatch } from '../model/index.js';
import { keepClaim, ownClaim } from '../scheduler/server-claims.js';
import { connectVolume, untilAvailable } from '../volumes/server-volumes.js';
import { migrationOf } from './moves.js';
import { failTask, type Task } from './task.js';
import type { TaskRun } from './task-run.js';

/** What a rebuild asks of its job. */
export interface RebuildArguments {
  readonly imageId: string;
  readonly adminPassword: string | null;
  readonly preserveEphemeral: boolean;
  readonly files: readonly { readonly path: string; readonly contents: string }[];
  /** Volume-backed servers: the root volume gets the image's content. */
  readonly reimage: boolean;
}

/** Writes an image over the root volume: untied, rewritten, tied again. */
async function reimageRoot(run: TaskRun, imageId: string): Promise<void> {
  const { volumes } = run.core.catalogs;
  const { caller } = run.context;
  const root = run.server.blockDevices.find(({ bootIndex, volumeId }) => bootIndex === 0 && volumeId !== null)!;
  if (root.attachmentId) await volumes.deleteAttachment(caller, root.attachmentId);
  const reserved = await volumes.reserve(caller, {
    key: run.job.id,
    volumeId: root.volumeId!,
    serverId: run.server.id,
  });
  const changeRoot = (changed: BlockDevice) =>
    run.update({}, async (_tx, { blockDevices }) => ({
      blockDevices: blockDevices.map((device) => (device.id === root.id ? changed : device)),
    }));
  await changeRoot({ ...root, attachmentId: reserved.id });
  await volumes.reimage(caller, root.volumeId!, imageId);
  await untilAvailable(run, root.volumeId!);
  await changeRoot(await connectVolume(run, { ...root, attachmentId: reserved.id }, root.volumeId!));
}

/** Gives a server a fresh disk. */
export const rebuildTask: Task = {
  action: 'rebuild',
  run: async (run) => {
    const { imageId, adminPassword, preserveEphemeral, files, reimage } = run.arguments as RebuildArguments;
    const { wasRunning } = run.server;
    await run.passThrough(['rebuilding', 'rebuild_block_device_mapping']);
    if (reimage) await run.step('compute_reimage_boot_volume', () => reimageRoot(run, imageId));
    await run.perform(
      { verb: 'rebuild', imageId, adminPassword, preserveEphemeral, files },
      'rebuild_spawning',
      'compute_rebuild_instance',
    );
    if (!wasRunning) await run.perform({ verb: 'power_off' }, 'powering-off', 'compute_stop_instance');
    await run.finish({
      vmState: wasRunning ? 'active' : 'stopped',
      powerState: wasRunning ? 1 : 4,
      launchedAt: run.core.clock.now(),
      fault: null,
    });
  },
};

/** What an evacuation asks of its job. */
export interface EvacuateArguments {
  readonly migrationId: string;
  readonly host?: string;
  readonly force?: boolean;
  readonly adminPassword: string | null;
  /** Left off at the other end, whatever it was. */
  readonly stop: boolean;
}

async function settleElsewhere(run: TaskRun): Promise<void> {
  const { core } = run;
  const migration = await migrationOf(run);
  if (migration.destHost) return;
  const { host, force } = run.arguments as EvacuateArguments;
  const map = await core.infrastructure.hosts();
  await run.update({}, async (tx, server): Promise<ServerPatch> => {
    const exclude = migration.sourceHost ? [migration.sourceHost] : [];
    const wanted = { flavor: server.flavor, host, force, exclude };
    const destination = await claimDestination(tx, core, map, server, wanted);
    const { host: destHost, node: destNode } = destination;
    await changeMigration(tx, core, migration.id, { destHost, destNode, status: 'pre-migrating' });
    await keepClaim(tx, server, undefined);
    return { claims: [destination.claim], host: destHost, node: destNode };
  });
}

/** Brings a server of a host that is down to life on another one. */
export const evacuateTask: Task = {
  action: 'evacuate',
  run: async (run) => {
    const { adminPassword, stop, migrationId } = run.arguments as EvacuateArguments;
    await run.step('conductor_rebuild_server', () => settleElsewhere(run));
    await run.passThrough(['rebuilding', 'rebuild_block_device_mapping']);
    await followServer(run);
    const { sourceHost } = await migrationOf(run);
    await run.perform(
      { verb: 'evacuate', sourceHost: sourceHost ?? '', adminPassword },
      'rebuild_spawning',
      'compute_rebuild_instance',
    );
    const runs = run.server.wasRunning && !stop;
    if (!runs) await run.perform({ verb: 'power_off' }, 'powering-off', 'compute_stop_instance');
    await run.finish(
      {
        vmState: runs ? 'active' : 'stopped',
        powerState: runs ? 1 : 4,
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
    await followServer(run).catch(() => {});
    await failTask(run, 'evacuate', error, {}, async (tx, server) => {
      await changeMigration(tx, run.core, run.arguments.migrationId, { status: 'failed' });
      return keepClaim(tx, server, ownClaim(server));
    });
  },
};
