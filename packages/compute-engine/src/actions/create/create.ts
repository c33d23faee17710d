import type { Tx } from '@apistrata/record-store';
import type { ActionEvent, BlockDevice, Server, ServerInterface, ServerPatch } from '../../model/index.js';
import { amountsOf } from '../../scheduler/claims.js';
import type { HostMap } from '../../scheduler/infrastructure.js';
import { NoValidHost } from '../../scheduler/no-valid-host.js';
import { place } from '../../scheduler/scheduler.js';
import { keepClaim } from '../../scheduler/server-claims.js';
import { tables } from '../../schema/tables.js';
import { plannedInterface, type RequestedPort } from '../../servers/interfaces/server-interface.js';
import { connectPorts, releasePorts } from '../../servers/interfaces/server-ports.js';
import { hasLocalRoot } from '../../servers/volumes/root-disk.js';
import { connectVolumes, releaseVolumes } from '../../servers/volumes/server-volumes.js';
import { action } from '../runner/action.js';
import { failRun } from '../runner/fail-run.js';
import type { RestOfWork } from '../runner/rest-of-work.js';
import type { ServerRun } from '../runner/server-run.js';
import { Superseded } from '../runner/superseded.js';
import { createBootVolumes } from './boot-volumes.js';

/** What only the build needs to know; it is kept with the job, not with the server. */
export interface CreateArguments {
  readonly ports: readonly RequestedPort[];
  readonly adminPassword: string | null;
  /** Contents in base64. */
  readonly files: readonly { readonly path: string; readonly contents: string }[];
  /** A host that was asked for by name. */
  readonly host?: string;
  /** The scheduler has no say in it but for the host's capacity. */
  readonly forced?: boolean;
}

/** Steps that nobody waits for where machines are simulated. */
const PREPARED = ['block_device_mapping', 'networking'] as const;

const SCHEDULED = 'conductor_schedule_and_build_instances';
const SPAWNED = 'compute__do_build_and_run_instance';

/** What is left when a server has its host; nothing that others have to be asked for, if it has no ports and volumes. */
function restOf(run: ServerRun<CreateArguments>): RestOfWork | undefined {
  const { ports, adminPassword, files } = run.arguments;
  if (ports.length > 0 || run.server.blockDevices.some(({ destination }) => destination === 'volume')) return undefined;
  return {
    works: [...PREPARED.map((step) => ({ verb: 'prepare', step }) as const), { verb: 'spawn', adminPassword, files }],
    event: SPAWNED,
    end: () => running(run),
  };
}

function running({ core }: ServerRun): ServerPatch {
  return { vmState: 'active', powerState: 1, launchedAt: core.clock.now() };
}

/** Chooses a host for the server, and says what it has then. */
async function placed(
  tx: Tx,
  { core, arguments: { host, forced, ports } }: ServerRun<CreateArguments>,
  map: HostMap,
  server: Server,
): Promise<ServerPatch> {
  // The server has its place already: an attempt before this one took it.
  if (server.host !== null) return {};
  const group = server.groupId ? await tables.serverGroups.get(tx, server.groupId) : undefined;
  const amounts = amountsOf(server.flavor, hasLocalRoot(server));
  const chosen = await place(tx, core.infrastructure, map, {
    serverId: server.id,
    flavor: server.flavor,
    amounts,
    zone: server.pinnedZone,
    host,
    forced,
    hints: server.schedulerHints,
    group,
  });
  return {
    host: chosen.name,
    node: chosen.node.hypervisorHostname,
    claims: [{ host: chosen.name, ...amounts }],
    interfaces: ports.map(plannedInterface),
  };
}

/**
 * Chooses a host for the server and writes it down with the claim. Placed already: nothing. True when the server has come to
 * life with that.
 */
async function placeServer(run: ServerRun<CreateArguments>): Promise<boolean> {
  if (run.server.host) return false;
  const map = await run.core.infrastructure.hosts();
  return run.updateTogether(
    { taskState: 'block_device_mapping' },
    (tx, server) => placed(tx, run, map, server),
    restOf(run),
  );
}

/** A new server that has its host before it is written down. */
export interface PlacedAtOnce {
  readonly patch: ServerPatch;
  /** Where it has come to life with that: the steps of its history, and the machine's part in them. Otherwise a job goes on. */
  readonly done?: { readonly events: readonly ActionEvent[]; readonly carryOut: () => Promise<void> };
}

/**
 * Places a new server in the transaction that writes it down, where nobody could see it wait for that: there is nothing to do
 * for its machine, this process does work, and nobody is told of steps. Undefined where its job has to do it, or has to say
 * that there is no room.
 */
export async function placeAtOnce(
  tx: Tx,
  run: ServerRun<CreateArguments>,
  map: HostMap,
): Promise<PlacedAtOnce | undefined> {
  const { worker, observer } = run.core;
  const rest = worker.atWork && !observer.around ? restOf(run) : undefined;
  if (!rest || !run.done(rest, run.server)) return undefined;
  try {
    return await run.step(SCHEDULED, async () => {
      const patch = await placed(tx, run, map, run.server);
      const server = { ...run.server, ...patch };
      const done = run.done(rest, server);
      if (!done) return { patch: { ...patch, taskState: 'block_device_mapping' } };
      const carryOut = () => run.carryOut(rest, server);
      return { patch: { ...patch, ...done.patch }, done: { events: done.events, carryOut } };
    });
  } catch (error) {
    if (error instanceof NoValidHost) return undefined;
    throw error;
  }
}

/** Gives back what a build has taken of the catalogs. */
async function giveBack(
  run: ServerRun,
  interfaces: readonly ServerInterface[],
  devices: readonly BlockDevice[],
): Promise<void> {
  await releasePorts(run, interfaces);
  await releaseVolumes(run, devices);
}

function buildAborted(run: ServerRun, error: Error): Error {
  const aborted = new Error(`Build of instance ${run.server.id} aborted: ${error.message}`, { cause: error });
  aborted.stack = error.stack;
  return aborted;
}

/**
 * Brings a new server to life: a host, its network, its disks, the machine. The request writes the server down itself,
 * with this as its first job.
 */
export const create = action({
  name: 'create',
  lock: false,
  neverLaunched: true,
  during: ['scheduling', 'block_device_mapping', 'networking', 'spawning'],
  history: 'create',
  notifies: 'create',
  onFailure: 'error',
  run: async (run: ServerRun<CreateArguments>) => {
    const { ports, adminPassword, files } = run.arguments;
    if (await run.step(SCHEDULED, () => placeServer(run))) return;
    const [devices, networking] = PREPARED;
    await run.passThrough([devices]);
    const blockDevices = await connectVolumes(run, await createBootVolumes(run));
    await run.passThrough([networking]);
    const interfaces = await connectPorts(run, ports);
    if (interfaces.length > 0 || blockDevices !== run.server.blockDevices) {
      await run.update({ interfaces, blockDevices }).catch(async (error) => {
        // Deleted meanwhile: what was made for it since then is known to nobody else.
        if (error instanceof Superseded) await giveBack(run, interfaces, blockDevices);
        throw error;
      });
    }
    await run.perform({ verb: 'spawn', adminPassword, files }, 'spawning', SPAWNED);
    await run.end(running(run));
  },
  fail: async (run, error) => {
    await giveBack(run, run.arguments.ports.map(plannedInterface), run.server.blockDevices);
    const cause = error instanceof NoValidHost ? error : buildAborted(run, error);
    await failRun(run, 'error', cause, { powerState: 0, interfaces: [], host: null, node: null }, (tx, server) =>
      keepClaim(tx, server, undefined),
    );
  },
});
