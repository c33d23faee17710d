import type { Tx } from '@apistrata/record-store';
import type { Core } from '../../core/core.js';
import type { ActionEvent, BlockDevice, New, Server, ServerInterface, ServerPatch } from '../../model/index.js';
import { requiredAmounts } from '../../scheduler/amounts.js';
import type { HostMap } from '../../scheduler/infrastructure.js';
import { NoValidHost } from '../../scheduler/no-valid-host.js';
import { selectAndClaimHost } from '../../scheduler/scheduler.js';
import { keepOnlyClaim } from '../../scheduler/server-claims.js';
import { tables } from '../../schema/tables.js';
import { createPlannedInterface, type RequestedPort } from '../../servers/interfaces/server-interface.js';
import { connectPorts, releasePorts } from '../../servers/interfaces/server-ports.js';
import { serverContentOf } from '../../servers/volumes/root-disk.js';
import { connectVolumes, releaseVolumes } from '../../servers/volumes/server-volumes.js';
import { action } from '../runner/action.js';
import { endWithError } from '../runner/fail-run.js';
import type { ServerRun } from '../runner/server-run.js';
import { Superseded } from '../runner/superseded.js';
import { createBootVolumes } from './boot-volumes.js';

/** Arguments of the job that builds a server. The job record stores them; the server record does not. */
export interface CreateArguments {
  readonly ports: readonly RequestedPort[];
  readonly adminPassword: string | null;
  /** Files to write into the guest. Each `contents` is encoded in base64. */
  readonly files: readonly { readonly path: string; readonly contents: string }[];
  /** Name of the host that the request specifies. */
  readonly host?: string;
  /**
   * Whether the request forces the host, so that the scheduler applies only basic filters, such as the capacity check.
   */
  readonly forced?: boolean;
}

const SCHEDULE_EVENT = 'conductor_schedule_and_build_instances';
const SPAWN_EVENT = 'compute__do_build_and_run_instance';

function runningPatch({ core }: ServerRun): ServerPatch {
  return { vmState: 'active', powerState: 1, launchedAt: core.clock.now() };
}

/** Selects a host, claims its capacity, and returns the resulting changes to the server record. */
async function selectHost(
  core: Core,
  tx: Tx,
  map: HostMap,
  server: New<Server>,
  { host, forced, ports }: CreateArguments,
): Promise<ServerPatch & { readonly host: string }> {
  const group = server.groupId ? await tables.serverGroups.get(tx, server.groupId) : undefined;
  const amounts = requiredAmounts(server.flavor, serverContentOf(server));
  const selectedHost = await selectAndClaimHost(tx, core.infrastructure, map, {
    serverId: server.id,
    flavor: server.flavor,
    imageProperties: server.imageProperties,
    amounts,
    zone: server.pinnedZone,
    host,
    forced,
    hints: server.schedulerHints,
    group,
  });
  return {
    host: selectedHost.name,
    node: selectedHost.node.hypervisorHostname,
    claims: [{ host: selectedHost.name, ...amounts }],
    interfaces: ports.map(createPlannedInterface),
    taskState: 'block_device_mapping',
  };
}

/** Selects a host, and stores the host and the claim in the server record. */
async function placeServer(run: ServerRun<CreateArguments>): Promise<void> {
  const { core } = run;
  const map = await core.infrastructure.hosts();
  // An earlier attempt that was still running may have placed the server after this attempt read it.
  await run.updateInSharedTransaction({}, async (tx, server) =>
    server.host === null ? selectHost(core, tx, map, server, run.arguments) : {},
  );
}

/** The changes that place a new server on a host, and the scheduling event for the server's action history. */
export interface InitialPlacement {
  readonly patch: ServerPatch;
  readonly events: readonly ActionEvent[];
}

/**
 * Selects a host for a new server in the transaction that stores the server, so that the server's job does not have to
 * select one. Returns undefined if no host is valid; the job then repeats the selection, and reports the failure if
 * there is still no valid host.
 */
export async function placeNewServer(
  core: Core,
  tx: Tx,
  map: HostMap,
  server: New<Server>,
  args: CreateArguments,
): Promise<InitialPlacement | undefined> {
  const startTime = core.clock.now();
  try {
    const patch = await selectHost(core, tx, map, server, args);
    const outcome = { finishTime: core.clock.now(), result: 'Success', traceback: null, details: null } as const;
    return { patch, events: [{ name: SCHEDULE_EVENT, startTime, host: patch.host, ...outcome }] };
  } catch (error) {
    if (error instanceof NoValidHost) return undefined;
    throw error;
  }
}

/** Releases the ports and volumes of a server whose build failed. */
async function releaseConnectedResources(
  run: ServerRun,
  interfaces: readonly ServerInterface[],
  devices: readonly BlockDevice[],
): Promise<void> {
  await releasePorts(run, interfaces);
  await releaseVolumes(run, devices);
}

function buildAbortedError(run: ServerRun, error: Error): Error {
  const abortedError = new Error(`Build of instance ${run.server.id} aborted: ${error.message}`, { cause: error });
  abortedError.stack = error.stack;
  return abortedError;
}

/**
 * Builds a new server: selects a host, connects volumes and ports, and creates the machine. The create request stores
 * the server and this job in one transaction.
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
    if (run.server.host === null) await run.step(SCHEDULE_EVENT, () => placeServer(run));
    await run.passThrough(['block_device_mapping']);
    const blockDevices = await connectVolumes(run, await createBootVolumes(run));
    await run.passThrough(['networking']);
    const interfaces = await connectPorts(run, ports);
    if (interfaces.length > 0 || blockDevices !== run.server.blockDevices) {
      await run.update({ interfaces, blockDevices }).catch(async (error) => {
        // The server was deleted in the meantime. Its record does not list the resources that this job has just
        // connected, so only this job can release them.
        if (error instanceof Superseded) await releaseConnectedResources(run, interfaces, blockDevices);
        throw error;
      });
    }
    await run.perform({ verb: 'spawn', adminPassword, files }, 'spawning', SPAWN_EVENT);
    await run.end(runningPatch(run));
  },
  fail: async (run, error) => {
    await releaseConnectedResources(run, run.arguments.ports.map(createPlannedInterface), run.server.blockDevices);
    const cause = error instanceof NoValidHost ? error : buildAbortedError(run, error);
    await endWithError(run, cause, { powerState: 0, interfaces: [], host: null, node: null }, (tx, server) =>
      keepOnlyClaim(tx, server, undefined),
    );
  },
});
