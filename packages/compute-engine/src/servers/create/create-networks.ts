import { randomUUID } from 'node:crypto';
import { CatalogError, type Network } from '@apistrata/catalogs';
import type { Context } from '../../core/context.js';
import type { Core } from '../../core/core.js';
import { badRequest, conflict, forbidden } from '../../errors/rejection.js';
import type { RequestedPort } from '../interfaces/server-interface.js';
import type { NewServer, RequestedNetwork } from './create-request.js';

/** The plan for the network interfaces of new servers. */
export interface NetworkPlan {
  /** Maximum number of servers for which the project may create ports. */
  readonly maxServers: number;
  /**
   * Returns a function that generates the ports of one server, with new ids in each call. If the request specifies
   * `auto`, first creates the network if necessary.
   */
  ports(): Promise<() => readonly RequestedPort[]>;
}

const UUID_PATTERN = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

function createPlan(ports: readonly RequestedPort[], maxServers = Number.POSITIVE_INFINITY): NetworkPlan {
  const copyWithNewIds = () => ports.map((port) => (port.existing ? port : { ...port, portId: randomUUID() }));
  return { maxServers, ports: async () => copyWithNewIds };
}

function createRequestedPort(networkId: string, options: Partial<RequestedPort> = {}): RequestedPort {
  return { portId: randomUUID(), existing: false, networkId, tag: null, ...options };
}

/**
 * Plans the network interfaces of new servers. Throws 400 for unusable networks, ports and addresses, 403 for external
 * networks that the caller may not use and for exceeded port quotas, and 409 if a port is in use or several networks
 * are possible.
 */
export async function planNetworks(core: Core, context: Context, request: NewServer): Promise<NetworkPlan> {
  const { networks: catalog } = core.catalogs;
  const { caller } = context;
  const { networks } = request;
  await checkSecurityGroups(core, context, request.securityGroups ?? []);
  if (networks === 'none') return createPlan([]);
  if (networks === 'auto') {
    await toBadRequest(catalog.autoNetwork(caller, { dryRun: true }));
    return {
      maxServers: await maxServersForPorts(core, context, 1),
      ports: async () => {
        const network = await toBadRequest(catalog.autoNetwork(caller));
        return createPlan(network ? [createRequestedPort(network.id)] : []).ports();
      },
    };
  }
  if (networks === undefined || networks.length === 0) {
    const availableNetworks = await catalog.availableNetworks(caller);
    if (availableNetworks.length > 1)
      throw conflict('Multiple possible networks found, use a Network ID to be more specific.');
    const [onlyNetwork] = availableNetworks;
    if (onlyNetwork) await toBadRequest(catalog.checkAddresses(caller, onlyNetwork.id));
    return onlyNetwork
      ? createPlan([createRequestedPort(onlyNetwork.id)], await maxServersForPorts(core, context, 1))
      : createPlan([]);
  }
  validateNetworks(networks, (request.maxCount ?? request.minCount ?? 1) > 1);
  const ports = await Promise.all(networks.map((network) => planPort(core, context, network, request)));
  return createPlan(ports, await maxServersForPorts(core, context, ports.filter(({ existing }) => !existing).length));
}

/**
 * Returns the maximum number of servers that can be created if each needs the given number of new ports. Throws 403 if
 * the project may not create enough ports for one server.
 */
async function maxServersForPorts({ catalogs }: Core, { caller }: Context, newPorts: number): Promise<number> {
  if (newPorts === 0) return Number.POSITIVE_INFINITY;
  const freePorts = (await catalogs.networks.countFreePorts?.(caller)) ?? Number.POSITIVE_INFINITY;
  const serverCount = Math.floor(freePorts / newPorts);
  if (serverCount === 0) throw forbidden('Maximum number of ports exceeded');
  return serverCount;
}

/** Validates the requested networks without looking them up in the network service. */
function validateNetworks(networks: readonly RequestedNetwork[], isMultiple: boolean): void {
  const ports = networks.flatMap(({ portId }) => portId ?? []);
  if (new Set(ports).size < ports.length) throw badRequest('A port is listed twice: each port can be used only once.');
  const addresses = networks.flatMap(({ address, networkId }) => (address ? `${networkId} ${address}` : []));
  if (new Set(addresses).size < addresses.length)
    throw badRequest('A fixed IP is listed twice: each fixed IP can be used only once.');
  for (const { networkId, portId, address } of networks) {
    if (portId && address) throw badRequest(`Specified Fixed IP '${address}' cannot be used with port '${portId}'.`);
    if (portId === undefined) {
      if (networkId === undefined) throw badRequest('Bad networks format: an item needs a network uuid or a port.');
      if (!UUID_PATTERN.test(networkId))
        throw badRequest(`Bad networks format: network uuid is not in proper format (${networkId})`);
    }
    if (isMultiple && portId) throw badRequest('Cannot launch multiple instances with a single port.');
    if (isMultiple && address) throw badRequest('Cannot launch multiple instances with a single fixed IP.');
  }
}

async function planPort(
  { catalogs }: Core,
  { caller, isAdmin }: Context,
  { networkId, portId, address, tag }: RequestedNetwork,
  { may }: NewServer,
): Promise<RequestedPort> {
  if (portId) {
    const port = await toBadRequest(catalogs.networks.getPort(caller, portId));
    if (port.deviceId) throw conflict(`Port ${portId} is still in use.`);
    if (port.hasResourceRequest && may?.resourceRequest === false) {
      throw badRequest('Ports with resource requests are only supported starting with compute API version 2.72.');
    }
    return { portId: port.id, existing: true, networkId: port.networkId, tag: tag ?? null };
  }
  const network = await toBadRequest(catalogs.networks.getNetwork(caller, (networkId ?? '').toLowerCase()));
  checkExternal(network, may?.externalNetwork ?? isAdmin);
  await toBadRequest(catalogs.networks.checkAddresses(caller, network.id, address ? [address] : undefined));
  return createRequestedPort(network.id, { addresses: address ? [address] : undefined, tag: tag ?? null });
}

function checkExternal({ id, external, shared }: Network, isAllowed: boolean): void {
  if (external && !shared && !isAllowed)
    throw forbidden(`It is not allowed to create an interface on external network ${id}`);
}

/**
 * Throws 400 for unknown security groups, and 409 for ambiguous names. The project's own security group `default`
 * always exists.
 */
async function checkSecurityGroups({ catalogs }: Core, { caller }: Context, names: readonly string[]): Promise<void> {
  const namedGroups = names.filter((name) => name !== 'default');
  if (namedGroups.length > 0)
    await toBadRequest(catalogs.networks.resolveSecurityGroups(caller, namedGroups), ['SECURITY_GROUP_AMBIGUOUS']);
}

/**
 * Converts the not-found, invalid and conflict errors of a catalog to 400 errors, except conflicts with the given
 * codes.
 */
async function toBadRequest<T>(promise: Promise<T>, conflicts: readonly string[] = []): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    if (error.kind === 'not-found' || error.kind === 'invalid') throw badRequest(error.message);
    if (error.kind === 'conflict' && !conflicts.includes(error.code)) throw badRequest(error.message);
    throw error;
  }
}
