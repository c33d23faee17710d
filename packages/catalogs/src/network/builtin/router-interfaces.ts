import { randomUUID } from 'node:crypto';
import type { Tx } from '@apistrata/record-store';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import { NameCache, type NetworkContext } from './network-context.js';
import { networkTables, type PortRecord, ROUTER_PORT_OWNER, type RouterRecord } from './network-tables.js';
import { insertPort, type PortView, portNotFound, removePort, toPortView } from './port-records.js';
import { findFloatingIpsOf } from './router-gateways.js';
import { overlaps } from './subnets.js';

const { ports, subnets } = networkTables;

/** The subnet in which a router receives the gateway address, or the existing port that a router uses. */
export type RouterInterface = { readonly subnetId: string } | { readonly portId: string };

const invalidRequest = (message: string) =>
  new CatalogError('ROUTER_INTERFACE_INVALID', `Bad router request: ${message}`);

async function findInterfaces(tx: Tx, routerId: string): Promise<readonly PortRecord[]> {
  const routerPorts = await ports.find(tx, (q) => q.where('device_id', '=', routerId));
  return routerPorts.filter(({ deviceOwner }) => deviceOwner === ROUTER_PORT_OWNER);
}

/** Throws an error if a new subnet overlaps with a subnet that is already connected to the router. */
async function rejectOverlap(tx: Tx, router: RouterRecord, addedSubnetIds: readonly string[]): Promise<void> {
  const attachedSubnetIds = (await findInterfaces(tx, router.id)).flatMap(({ fixedIps }) =>
    fixedIps.map(({ subnetId }) => subnetId),
  );
  for (const id of addedSubnetIds) {
    if (attachedSubnetIds.includes(id)) throw invalidRequest(`Router already has a port on subnet ${id}.`);
    const subnet = await subnets.get(tx, id);
    for (const otherId of attachedSubnetIds) {
      const otherSubnet = await subnets.get(tx, otherId);
      if (subnet && otherSubnet && overlaps(subnet.cidr, otherSubnet.cidr))
        throw invalidRequest(
          `Cidr ${subnet.cidr} of subnet ${subnet.id} overlaps with cidr ${otherSubnet.cidr} of subnet ${otherSubnet.id}.`,
        );
    }
  }
}

async function attachPort(context: NetworkContext, tx: Tx, caller: Caller, router: RouterRecord, portId: string) {
  const port = await ports.lock(tx, portId);
  if (!port || !canAccessProject(caller, port.projectId)) throw portNotFound(portId);
  if (port.deviceId !== '')
    throw new CatalogError(
      'PORT_IN_USE',
      `Unable to complete operation on port ${portId} for network ${port.networkId}. Port already has an attached device ${port.deviceId}.`,
    );
  await rejectOverlap(
    tx,
    router,
    port.fixedIps.map(({ subnetId }) => subnetId),
  );
  const ownerFields = { deviceId: router.id, deviceOwner: ROUTER_PORT_OWNER };
  const updatedAt = context.clock.now();
  return toPortView(tx, await ports.update(tx, { ...port, ...ownerFields, status: 'ACTIVE', updatedAt }));
}

/**
 * Connects a router to a subnet, in which the router receives the gateway address, or to the network of an existing
 * port.
 */
export async function addInterface(
  context: NetworkContext,
  tx: Tx,
  caller: Caller,
  router: RouterRecord,
  at: RouterInterface,
): Promise<PortView> {
  if ('portId' in at) return attachPort(context, tx, caller, router, at.portId);
  const subnet = await subnets.get(tx, at.subnetId);
  if (!subnet) throw new CatalogError('SUBNET_NOT_FOUND', `Subnet ${at.subnetId} could not be found.`);
  if (subnet.gatewayIp === null) throw invalidRequest(`Subnet for router interface must have a gateway IP`);
  await rejectOverlap(tx, router, [subnet.id]);
  const portSpec = {
    deviceId: router.id,
    deviceOwner: ROUTER_PORT_OWNER,
    id: randomUUID(),
    networkId: subnet.networkId,
    projectId: router.projectId,
    fixedIps: [{ subnetId: subnet.id, address: subnet.gatewayIp }],
    securityGroups: [],
    bare: true,
  };
  return insertPort(context, tx, caller, portSpec, new NameCache(tx));
}

/** Throws `ROUTER_INTERFACE_IN_USE` if floating IPs reach the router port's subnets through the router. */
async function rejectInterfaceInUse(tx: Tx, router: RouterRecord, { fixedIps, networkId }: PortRecord): Promise<void> {
  const subnetIds = fixedIps.map(({ subnetId }) => subnetId);
  for (const { portId, fixedAddress } of await findFloatingIpsOf(tx, router, [networkId])) {
    const port = portId === null ? undefined : await ports.get(tx, portId);
    const usedIp = port?.fixedIps.find((one) => one.address === fixedAddress && subnetIds.includes(one.subnetId));
    if (usedIp)
      throw new CatalogError(
        'ROUTER_INTERFACE_IN_USE',
        `Router interface for subnet ${usedIp.subnetId} on router ${router.id} cannot be deleted, as it is required by one or more floating IPs.`,
      );
  }
}

/**
 * Disconnects a router from a subnet or a port, and deletes the router port.
 *
 * @throws `ROUTER_INTERFACE_NOT_FOUND`, `ROUTER_INTERFACE_IN_USE`
 */
export async function removeInterface(
  context: NetworkContext,
  tx: Tx,
  router: RouterRecord,
  at: RouterInterface,
): Promise<PortView> {
  const isConnectedBy = (one: PortRecord) =>
    'portId' in at ? one.id === at.portId : one.fixedIps.some(({ subnetId }) => subnetId === at.subnetId);
  const foundPort = (await findInterfaces(tx, router.id)).find(isConnectedBy);
  // A concurrent request may change the port's addresses, so the port is locked and read again.
  const port = foundPort && (await ports.lock(tx, foundPort.id));
  if (!port || port.deviceId !== router.id || !isConnectedBy(port))
    throw new CatalogError(
      'ROUTER_INTERFACE_NOT_FOUND',
      'portId' in at
        ? `Router ${router.id} does not have an interface with id ${at.portId}`
        : `Router ${router.id} has no interface on subnet ${at.subnetId}`,
    );
  await rejectInterfaceInUse(tx, router, port);
  const portView = await toPortView(tx, port);
  await removePort(tx, port, context.clock.now());
  return portView;
}
