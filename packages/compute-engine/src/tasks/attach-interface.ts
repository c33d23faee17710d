import type { PortBinding } from '../catalogs/index.js';
import type { Core } from '../core.js';
import type { Server } from '../model/index.js';
import { ifStillThere, unlessRefused } from './attached-volume.js';
import { deviceOwner } from './build.js';
import type { SideTask } from './side-run.js';

/** An interface that a server is to get. */
export interface AttachInterfaceArguments {
  /** An existing port, or the key under which the new one is made. */
  readonly portId: string;
  readonly existing: boolean;
  readonly networkId: string;
  readonly addresses?: readonly string[];
  readonly tag: string | null;
}

/** How a port belongs to a server where that is now. */
async function bindingOf(core: Core, server: Server): Promise<PortBinding> {
  const { hosts } = await core.infrastructure.hosts();
  const zone = hosts.get(server.host ?? '')?.zone ?? core.settings.defaultZone;
  return { deviceId: server.id, deviceOwner: deviceOwner(zone), hostId: server.host ?? '' };
}

/** Makes the port, or binds the given one. The same call made twice gives the same port. */
export async function takePort(
  core: Core,
  server: Server,
  caller: Parameters<Core['catalogs']['networks']['getPort']>[0],
  { portId, existing, networkId, addresses }: AttachInterfaceArguments,
) {
  const { networks } = core.catalogs;
  const binding = await bindingOf(core, server);
  if (existing) return networks.bindPort(caller, portId, binding);
  const [port] = await networks.createPorts(caller, [
    { key: portId, networkId, addresses, projectId: server.projectId, ...binding },
  ]);
  return port!;
}

/** Gives back a port that was taken for a server and did not become one of its interfaces. */
export async function returnPort(
  core: Core,
  server: Server,
  caller: Parameters<Core['catalogs']['networks']['getPort']>[0],
  asked: AttachInterfaceArguments,
): Promise<void> {
  const { networks } = core.catalogs;
  const id = asked.existing ? asked.portId : (await unlessRefused(takePort(core, server, caller, asked)))?.id;
  if (id === undefined) return;
  const ids = asked.existing ? { owned: [], bound: [id] } : { owned: [id], bound: [] };
  await unlessRefused(networks.releasePorts(caller, server.id, ids));
}

/**
 * What is left to do when the request that attached an interface never came to its end. Nobody was told that the
 * interface is there, so it is taken away.
 */
export const attachInterfaceTask: SideTask = {
  action: 'attachInterface',
  run: (run) => attachInterfaceTask.undo(run),
  undo: async (run) => {
    const asked = run.arguments as AttachInterfaceArguments;
    await returnPort(run.core, run.server, run.context.caller, asked);
    await ifStillThere(() =>
      run.change(({ interfaces }) => ({ interfaces: interfaces.filter(({ portId }) => portId !== asked.portId) })),
    );
  },
};
