import type { BlockDevice, Caller, Claim, ServerInterface } from '../model/index.js';
import { amountsOf, release } from '../scheduler/claims.js';
import { NoValidHost, place } from '../scheduler/scheduler.js';
import type { Tx } from '../store/database.js';
import { tables } from '../store/tables.js';
import { connectVolumes, createBootVolumes, hasLocalRoot, releaseVolumes } from './block-devices.js';
import { failTask, faultOf, type Task } from './task.js';
import { type ServerPatch, Superseded, type TaskRun } from './task-run.js';

/** What a create request asks of the network, in the form that the job keeps. */
export interface RequestedPort {
  /** An existing port, or the id that the new one gets. */
  readonly portId: string;
  readonly existing: boolean;
  readonly networkId: string;
  readonly addresses?: readonly string[];
  readonly tag: string | null;
}

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

/** Gives back all that a server holds of hosts. */
export async function releaseClaims(tx: Tx, claims: readonly Claim[]): Promise<undefined> {
  for (const claim of claims) await release(tx, claim);
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

/** A port that is about to be made: written down before, so that whoever removes the server finds it. */
function plannedInterface({ portId, networkId, tag, existing }: RequestedPort): ServerInterface {
  return { portId, networkId, label: '', mac: '', fixedIps: [], securityGroups: [], tag, owned: !existing };
}

/** Whom the network sees as the owner of a server's ports. */
export function deviceOwner(zone: string): string {
  return `compute:${zone}`;
}

async function zoneOf(run: TaskRun): Promise<string> {
  const { hosts } = await run.core.infrastructure.hosts();
  return hosts.get(run.server.host ?? '')?.zone ?? run.core.settings.defaultZone;
}

async function connectNetworks(run: TaskRun, ports: readonly RequestedPort[]): Promise<readonly ServerInterface[]> {
  const { networks } = run.core.catalogs;
  const { server } = run;
  if (ports.length === 0) return [];
  const caller: Caller = run.context.caller;
  const binding = { deviceId: server.id, deviceOwner: deviceOwner(await zoneOf(run)), hostId: server.host! };
  const made = await networks.createPorts(
    caller,
    ports
      .filter(({ existing }) => !existing)
      .map(({ portId, networkId, addresses }) => ({
        key: portId,
        networkId,
        addresses,
        projectId: server.projectId,
        securityGroups: server.securityGroups,
        ...binding,
      })),
  );
  const bound = await Promise.all(
    ports.filter(({ existing }) => existing).map(({ portId }) => networks.bindPort(caller, portId, binding)),
  );
  return ports.flatMap(({ existing, portId, tag }) => {
    const position = ports.filter((p) => !p.existing).findIndex((p) => p.portId === portId);
    const port = existing ? bound.find(({ id }) => id === portId) : made[position];
    return port ? [interfaceOf(port, tag, !existing)] : [];
  });
}

type CatalogPort = Awaited<ReturnType<TaskRun['core']['catalogs']['networks']['getPort']>>;

/** A port as its server remembers it. */
export function interfaceOf(port: CatalogPort, tag: string | null, owned: boolean): ServerInterface {
  return {
    portId: port.id,
    networkId: port.networkId,
    label: port.networkName,
    mac: port.mac,
    fixedIps: port.fixedIps,
    securityGroups: port.securityGroups.map(({ name }) => name),
    tag,
    owned,
  };
}

/**
 * Takes all ports away from a server: those made for it are deleted, those it was given are unbound. Asks the catalog
 * which there are, since a process that died may have made some that the server does not know of.
 */
export async function releaseNetworks(run: TaskRun, interfaces: readonly ServerInterface[]): Promise<void> {
  if (interfaces.length === 0) return;
  const { networks } = run.core.catalogs;
  const { caller } = run.context;
  const given = new Set(interfaces.filter(({ owned }) => !owned).map(({ portId }) => portId));
  const ids = (await networks.listPorts(caller, { deviceIds: [run.server.id] })).map(({ id }) => id);
  await networks.releasePorts(caller, run.server.id, {
    owned: ids.filter((id) => !given.has(id)),
    bound: ids.filter((id) => given.has(id)),
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
    const interfaces = await connectNetworks(run, ports);
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
      (tx, server) => releaseClaims(tx, server.claims),
    );
  },
};

/** Gives back what a build has taken of the catalogs. */
async function giveBack(
  run: TaskRun,
  interfaces: readonly ServerInterface[],
  devices: readonly BlockDevice[],
): Promise<void> {
  await releaseNetworks(run, interfaces);
  await releaseVolumes(run, devices);
}

function buildAborted(run: TaskRun, error: Error): Error {
  const aborted = new Error(`Build of instance ${run.server.id} aborted: ${error.message}`, { cause: error });
  aborted.stack = error.stack;
  return aborted;
}
