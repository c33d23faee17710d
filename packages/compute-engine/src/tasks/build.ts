import type { BlockDevice, ServerInterface, ServerPatch } from '../model/index.js';
import { plannedInterface, type RequestedPort } from '../ports/server-interface.js';
import { connectPorts, releasePorts } from '../ports/server-ports.js';
import { amountsOf } from '../scheduler/claims.js';
import { NoValidHost, place } from '../scheduler/scheduler.js';
import { keepClaim } from '../scheduler/server-claims.js';
import { tables } from '../store/tables.js';
import { hasLocalRoot } from '../volumes/root-disk.js';
import { connectVolumes, releaseVolumes } from '../volumes/server-volumes.js';
import { createBootVolumes } from './block-devices.js';
import { failTask, faultOf, type Task } from './task.js';
import { Superseded, type TaskRun } from './task-run.js';

/** What only the build needs to know; it is kept with the job, not with the server. */
export interface BuildArguments {
  readonly ports: readonly RequestedPort[];
  readonly adminPassword: string | null;
  readonly files: readonly { readonly path: string; readonly contents: string }[];
  /** A host that was asked for by name. */
  readonly host?: string;
  /** The scheduler has no say in it but for the host's capacity. */
  readonly forced?: boolean;
}

/** Chooses a host for the server and writes it down with the claim. Placed already: nothing. */
async function placeServer(run: TaskRun, { host, forced, ports }: BuildArguments): Promise<void> {
  if (run.server.host) return;
  const { infrastructure } = run.core;
  const map = await infrastructure.hosts();
  await run.update({ taskState: 'block_device_mapping' }, async (tx, server): Promise<ServerPatch> => {
    const group = server.groupId ? await tables.serverGroups.get(tx, server.groupId) : undefined;
    const amounts = amountsOf(server.flavor, hasLocalRoot(server));
    const chosen = await place(tx, infrastructure, map, {
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
  });
}

/** Brings a new server to life: a host, its network, its disks, the machine. */
export const buildTask: Task = {
  action: 'create',
  run: async (run) => {
    const asked = run.arguments as BuildArguments;
    const { ports, adminPassword, files } = asked;
    await run.step('conductor_schedule_and_build_instances', () => placeServer(run, asked));
    await run.passThrough(['block_device_mapping']);
    const blockDevices = await connectVolumes(run, await createBootVolumes(run));
    await run.passThrough(['networking']);
    const interfaces = await connectPorts(run, ports);
    if (interfaces.length > 0 || blockDevices !== run.server.blockDevices) {
      await run.update({ interfaces, blockDevices }).catch(async (error) => {
        // Deleted meanwhile: what was made for it since then is known to nobody else.
        if (error instanceof Superseded) await giveBack(run, interfaces, blockDevices);
        throw error;
      });
    }
    await run.perform({ verb: 'spawn', adminPassword, files }, 'spawning', 'compute__do_build_and_run_instance');
    await run.finish({ vmState: 'active', powerState: 1, launchedAt: run.core.clock.now() });
  },
  fail: async (run, error) => {
    await giveBack(run, (run.arguments as BuildArguments).ports.map(plannedInterface), run.server.blockDevices);
    const cause = error instanceof NoValidHost ? error : buildAborted(run, error);
    await failTask(
      run,
      'create',
      cause,
      {
        vmState: 'error',
        powerState: 0,
        interfaces: [],
        host: null,
        node: null,
        claims: [],
        fault: faultOf(cause, run.core.clock.now()),
      },
      (tx, server) => keepClaim(tx, server, undefined),
    );
  },
};

/** Gives back what a build has taken of the catalogs. */
async function giveBack(
  run: TaskRun,
  interfaces: readonly ServerInterface[],
  devices: readonly BlockDevice[],
): Promise<void> {
  await releasePorts(run, interfaces);
  await releaseVolumes(run, devices);
}

function buildAborted(run: TaskRun, error: Error): Error {
  const aborted = new Error(`Build of instance ${run.server.id} aborted: ${error.message}`, { cause: error });
  aborted.stack = error.stack;
  return aborted;
}
