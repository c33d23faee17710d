import { randomUUID } from 'node:crypto';
import type { Port } from '@apistrata/catalogs';
import type { ServerScope } from '../../core/core.js';
import { badRequest, conflict, forbidden } from '../../errors/refusal.js';
import type { ActionEvent, Server } from '../../model/index.js';
import { addressAsBadRequest } from '../../servers/interfaces/address-refusal.js';
import { interfaceOf, type RequestedPort, withoutPort } from '../../servers/interfaces/server-interface.js';
import { returnPort, takePort } from '../../servers/interfaces/server-ports.js';
import { concurrentAction } from '../runner/action.js';
import type { ConcurrentRun } from '../runner/concurrent-run.js';
import { ifStillThere } from '../runner/superseded.js';

/** A request for one more interface. */
export interface NewInterface {
  readonly networkId?: string;
  readonly portId?: string;
  readonly address?: string;
  readonly tag?: string | null;
  /** Whether the caller may use networks that lead outside. */
  readonly toExternal: boolean;
  /** Whether ports that ask for bandwidth may be attached; false is the 400 of old versions. */
  readonly resourceRequests: boolean;
}

/** A port of a server, with what the server knows of it. */
export interface AttachedPort {
  readonly port: Port;
  readonly tag: string | null;
}

/** How long the machine may take to plug an interface in: the request waits for it. */
const PLUG_MS = 30_000;

async function onlyNetwork({ core, context }: ServerScope): Promise<string> {
  const [network, ...others] = await core.catalogs.networks.availableNetworks(context.caller);
  if (!network) throw badRequest('No network was given and none is available.');
  if (others.length > 0) throw badRequest('Multiple possible networks found, use a Network ID to be more specific.');
  return network.id;
}

/** The port or network that is meant, with everything that can be refused beforehand. */
async function plan(scope: ServerScope, request: NewInterface): Promise<RequestedPort> {
  const { networks } = scope.core.catalogs;
  const { caller } = scope.context;
  const tag = request.tag ?? null;
  if (request.portId) {
    const port = await networks.getPort(caller, request.portId);
    if (port.deviceId) throw conflict(`Port ${port.id} is still in use.`);
    if (port.hasResourceRequest && !request.resourceRequests)
      throw badRequest(`Attaching interfaces with QoS policy is not supported: port ${port.id} asks for resources.`);
    return { portId: port.id, existing: true, networkId: port.networkId, tag };
  }
  const addresses = request.address === undefined ? undefined : [request.address];
  const networkId = request.networkId ?? (await onlyNetwork(scope));
  const network = await networks.getNetwork(caller, networkId);
  if (network.external && !request.toExternal)
    throw forbidden(`It is not allowed to create an interface on external network ${networkId}`);
  await networks.checkAddresses(caller, networkId, addresses).catch(addressAsBadRequest);
  return { portId: randomUUID(), existing: false, networkId, addresses, tag };
}

function attached({ core, server }: ServerScope, startTime: number): ActionEvent {
  const finishTime = core.clock.now();
  const none = { traceback: null, details: null };
  return { name: 'compute_attach_interface', startTime, finishTime, result: 'Success', host: server.host, ...none };
}

/** Takes away what nobody was told of. */
async function takeAway(run: ConcurrentRun<RequestedPort>): Promise<void> {
  const { portId } = run.arguments;
  await returnPort(run, run.arguments);
  await ifStillThere(() => run.change(({ interfaces }) => ({ interfaces: withoutPort(interfaces, portId) })));
}

/**
 * Plugs a port in, made for it or given. The request does all of it, and answers once the server has the port; what is
 * left to the background is to take everything back where the request never came to its end.
 */
export const attachInterface = concurrentAction({
  name: 'attachInterface',
  vm: ['active', 'paused', 'stopped'],
  lock: true,
  history: 'attach_interface',
  // Its job gives back what a request that died had begun: nothing else is announced.
  notifies: { completed: 'interface_attach', failed: 'interface_attach' },
  word: 'attach_interface',
  begin: async (scope, request: NewInterface) => {
    const { core, context, server } = scope;
    const requestedPort = await plan(scope, request);
    return {
      arguments: requestedPort,
      ask: async () => {
        const begun = core.clock.now();
        const port = await takePort(scope, requestedPort).catch(addressAsBadRequest);
        const made = interfaceOf(port, requestedPort.tag, !requestedPort.existing);
        const origin = { action: attachInterface.name, requestId: context.requestId };
        const work = { verb: 'attach_interface', interface: made } as const;
        await core.machines.perform({ work, server, origin }, AbortSignal.timeout(PLUG_MS));
        return {
          change: ({ interfaces }: Server) => ({ interfaces: [...withoutPort(interfaces, port.id), made] }),
          result: (): AttachedPort => ({ port, tag: requestedPort.tag }),
          done: [attached(scope, begun)],
        };
      },
      giveBack: () => returnPort(scope, requestedPort),
      undo: ({ interfaces }: Server) => ({ interfaces: withoutPort(interfaces, requestedPort.portId) }),
    };
  },
  run: takeAway,
  undo: takeAway,
});
