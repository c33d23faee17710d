import { randomUUID } from 'node:crypto';
import type { Port } from '@apistrata/catalogs';
import type { ServerScope } from '../../core/core.js';
import { badRequest, conflict, forbidden } from '../../errors/rejection.js';
import type { ActionEvent, Server } from '../../model/index.js';
import { throwAddressError } from '../../servers/interfaces/address-rejection.js';
import { excludePort, interfaceOf, type RequestedPort } from '../../servers/interfaces/server-interface.js';
import { createOrBindPort, releaseUnattachedPort } from '../../servers/interfaces/server-ports.js';
import { concurrentAction } from '../runner/action.js';
import type { ConcurrentRun } from '../runner/concurrent-run.js';
import { ignoreIfDeleted } from '../runner/superseded.js';

/** A request to attach a network interface to a server. */
export interface NewInterface {
  readonly networkId?: string;
  readonly portId?: string;
  readonly address?: string;
  readonly tag?: string | null;
  /** Whether the caller may use external networks. */
  readonly toExternal: boolean;
  /** Whether ports that request bandwidth may be attached. Old microversions reject such ports with 400. */
  readonly resourceRequests: boolean;
}

/** A port that is attached to a server, with the device tag that the server record stores for the port. */
export interface AttachedPort {
  readonly port: Port;
  readonly tag: string | null;
}

/** Timeout for attaching an interface to the server's machine. The request waits until the interface is attached. */
const ATTACH_TIMEOUT_MS = 30_000;

async function findOnlyNetwork({ core, context }: ServerScope): Promise<string> {
  const [network, ...others] = await core.catalogs.networks.availableNetworks(context.caller);
  if (!network) throw badRequest('No network was specified, and no network is available.');
  if (others.length > 0) throw badRequest('Multiple possible networks found, use a Network ID to be more specific.');
  return network.id;
}

const portInUse = (id: string) => conflict(`Port ${id} is still in use.`);

/** Selects the port to attach, or the network for a new port, and validates the request without changing anything. */
async function planPort(scope: ServerScope, request: NewInterface): Promise<RequestedPort> {
  const { networks } = scope.core.catalogs;
  const { caller } = scope.context;
  const tag = request.tag ?? null;
  if (request.portId) {
    const port = await networks.getPort(caller, request.portId);
    if (port.deviceId) throw portInUse(port.id);
    if (port.hasResourceRequest && !request.resourceRequests)
      throw badRequest(`Attaching interfaces with QoS policy is not supported: port ${port.id} requests resources.`);
    return { portId: port.id, existing: true, networkId: port.networkId, tag };
  }
  const addresses = request.address === undefined ? undefined : [request.address];
  const networkId = request.networkId ?? (await findOnlyNetwork(scope));
  const network = await networks.getNetwork(caller, networkId);
  if (network.external && !request.toExternal)
    throw forbidden(`It is not allowed to create an interface on external network ${networkId}`);
  await networks.checkAddresses(caller, networkId, addresses).catch(throwAddressError);
  return { portId: randomUUID(), existing: false, networkId, addresses, tag };
}

function createAttachEvent({ core, server }: ServerScope, startTime: number): ActionEvent {
  const finishTime = core.clock.now();
  const noErrorFields = { traceback: null, details: null };
  return {
    name: 'compute_attach_interface',
    startTime,
    finishTime,
    result: 'Success',
    host: server.host,
    ...noErrorFields,
  };
}

/** Removes an interface if the client never received a response that reported it as attached. */
async function detachPort(run: ConcurrentRun<RequestedPort>): Promise<void> {
  const { portId } = run.arguments;
  await releaseUnattachedPort(run, run.arguments);
  await ignoreIfDeleted(() => run.change(({ interfaces }) => ({ interfaces: excludePort(interfaces, portId) })));
}

/**
 * Attaches a new or an existing port to a server. The response is sent after the port is attached. The background job
 * runs only if the request was interrupted, and undoes the request's work.
 */
export const attachInterface = concurrentAction({
  name: 'attachInterface',
  vmStates: ['active', 'paused', 'stopped'],
  lock: true,
  history: 'attach_interface',
  // The job only undoes the work of an interrupted request, so it sends no start and end notifications.
  notifies: { completed: 'interface_attach', failed: 'interface_attach' },
  nameInMessages: 'attach_interface',
  begin: async (scope, request: NewInterface) => {
    const { core, context, server } = scope;
    const requestedPort = await planPort(scope, request);
    const { portId } = requestedPort;
    const guardId = `${server.id}/${portId}`;
    return {
      arguments: requestedPort,
      guardId,
      // Another request may be attaching the port, or may have attached it.
      change: async (tx, { interfaces }) => {
        if (interfaces.some((each) => each.portId === portId) || (await core.guards.exists(tx, guardId)))
          throw portInUse(portId);
        return undefined;
      },
      perform: async () => {
        const startedAt = core.clock.now();
        const port = await createOrBindPort(scope, requestedPort).catch(throwAddressError);
        const attachedInterface = interfaceOf(port, requestedPort.tag, !requestedPort.existing);
        const origin = { action: attachInterface.name, requestId: context.requestId };
        const work = { verb: 'attach_interface', interface: attachedInterface } as const;
        await core.machines.perform({ work, server, origin }, AbortSignal.timeout(ATTACH_TIMEOUT_MS));
        return {
          change: ({ interfaces }: Server) => ({
            interfaces: [...excludePort(interfaces, port.id), attachedInterface],
          }),
          result: (): AttachedPort => ({ port, tag: requestedPort.tag }),
          done: [createAttachEvent(scope, startedAt)],
        };
      },
      release: () => releaseUnattachedPort(scope, requestedPort),
      undo: ({ interfaces }: Server) => ({ interfaces: excludePort(interfaces, portId) }),
    };
  },
  run: detachPort,
  undo: detachPort,
});
