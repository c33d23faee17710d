import { ignoreRejection, type Port, type PortBinding } from '@apistrata/catalogs';
import type { ServerScope } from '../../core/core.js';
import type { ServerInterface } from '../../model/index.js';
import { interfaceOf, type RequestedPort } from './server-interface.js';

/** Returns the binding of a server's ports to its current host. */
async function bindingOf({ core, server }: ServerScope): Promise<PortBinding> {
  const { hosts } = await core.infrastructure.hosts();
  const zone = hosts.get(server.host ?? '')?.zone ?? core.settings.defaultZone;
  return { deviceId: server.id, deviceOwner: `compute:${zone}`, hostId: server.host ?? '' };
}

/** Creates a server's new ports, and binds its existing ports. Returns the resulting interfaces. */
export async function connectPorts(
  scope: ServerScope,
  ports: readonly RequestedPort[],
): Promise<readonly ServerInterface[]> {
  if (ports.length === 0) return [];
  const { server, context } = scope;
  const { caller } = context;
  const { networks } = scope.core.catalogs;
  const binding = await bindingOf(scope);
  const newPorts = ports.filter(({ existing }) => !existing);
  const createdPorts = await networks.createPorts(
    caller,
    newPorts.map(({ portId, networkId, addresses }) => ({
      key: portId,
      networkId,
      addresses,
      projectId: server.projectId,
      securityGroups: server.securityGroups,
      ...binding,
    })),
  );
  const existingPorts = ports.filter(({ existing }) => existing);
  const boundPorts = await Promise.all(existingPorts.map(({ portId }) => networks.bindPort(caller, portId, binding)));
  return ports.flatMap((requestedPort) => {
    const port = requestedPort.existing
      ? boundPorts[existingPorts.indexOf(requestedPort)]
      : createdPorts[newPorts.indexOf(requestedPort)];
    return port ? [interfaceOf(port, requestedPort.tag, !requestedPort.existing)] : [];
  });
}

/**
 * Releases all ports of a server: deletes the ports that were created for the server, and unbinds the others. Lists the
 * ports in the network service, because a crashed process may have created ports that the server record does not
 * contain.
 */
export async function releasePorts(scope: ServerScope, interfaces: readonly ServerInterface[]): Promise<void> {
  if (interfaces.length === 0) return;
  const { networks } = scope.core.catalogs;
  const { caller } = scope.context;
  const existingIds = new Set(interfaces.filter(({ owned }) => !owned).map(({ portId }) => portId));
  const ids = (await networks.listPorts(caller, { deviceIds: [scope.server.id] })).map(({ id }) => id);
  await networks.releasePorts(caller, scope.server.id, {
    owned: ids.filter((id) => !existingIds.has(id)),
    bound: ids.filter((id) => existingIds.has(id)),
  });
}

/** Creates a port for a running server, or binds an existing one. Idempotent. */
export async function createOrBindPort(
  scope: ServerScope,
  { portId, existing, networkId, addresses }: RequestedPort,
): Promise<Port> {
  const { networks } = scope.core.catalogs;
  const { caller } = scope.context;
  const binding = await bindingOf(scope);
  if (existing) return networks.bindPort(caller, portId, binding);
  const [port] = await networks.createPorts(caller, [
    { key: portId, networkId, addresses, projectId: scope.server.projectId, ...binding },
  ]);
  if (!port) throw new Error(`The network service did not create a port on network ${networkId}.`);
  return port;
}

/** Releases a port that did not become an interface of its server. */
export async function releaseUnattachedPort(scope: ServerScope, requestedPort: RequestedPort): Promise<void> {
  const id = requestedPort.existing
    ? requestedPort.portId
    : (await ignoreRejection(createOrBindPort(scope, requestedPort)))?.id;
  if (id === undefined) return;
  const ids = requestedPort.existing ? { owned: [], bound: [id] } : { owned: [id], bound: [] };
  await ignoreRejection(scope.core.catalogs.networks.releasePorts(scope.context.caller, scope.server.id, ids));
}
