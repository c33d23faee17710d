import { randomUUID } from 'node:crypto';
import type { Tx } from '@apistrata/record-store';
import type { Caller } from '../../caller/caller.js';
import { CatalogError } from '../../errors/catalog-error.js';
import { canonicalIp } from '../ip-address.js';
import { isAutoconfigured } from './auto-address.js';
import { allocateFromSubnets, releaseAddresses, subnetsById } from './ip-allocations.js';
import { NameCache, type NetworkContext, networkNotFound } from './network-context.js';
import {
  type FloatingIpRecord,
  GATEWAY_PORT_OWNER,
  networkTables,
  type PortRecord,
  type RouterRecord,
  type SubnetRecord,
} from './network-tables.js';
import { canSeeNetwork } from './network-visibility.js';
import { type FixedIpRequest, insertPort, removePort, sortAddresses } from './port-records.js';

const { floatingIps, networks, ports, routers } = networkTables;

type ExternalAddresses = RouterRecord['externalAddresses'];

function externalAddresses({ fixedIps }: Pick<PortRecord, 'fixedIps'>): ExternalAddresses {
  return fixedIps.map(({ subnetId, address }) => ({ subnetId, address }));
}

function isSameSet(first: readonly string[], second: readonly string[]): boolean {
  return first.every((one) => second.includes(one)) && second.every((one) => first.includes(one));
}

/**
 * Returns whether the requested addresses equal the router's external addresses: the request contains exactly the
 * router's subnets and addresses, or each requested address matches a current one. As in Neutron, a second address on
 * the same subnet is added only if the request specifies the address.
 */
function hasSameAddresses(previous: ExternalAddresses, requests: readonly FixedIpRequest[]): boolean {
  const addresses = requests.flatMap(({ address }) => (address === undefined ? [] : [canonicalIp(address)]));
  const subnetIds = requests.flatMap(({ subnetId }) => subnetId ?? []);
  const isExactMatch =
    isSameSet(
      addresses,
      previous.map(({ address }) => address),
    ) &&
    isSameSet(
      subnetIds,
      previous.map(({ subnetId }) => subnetId),
    );
  const hasPreviousMatch = ({ address, subnetId }: FixedIpRequest) =>
    previous.some(
      (one) =>
        (address === undefined || one.address === canonicalIp(address)) &&
        (subnetId === undefined || one.subnetId === subnetId),
    );
  return isExactMatch || (previous.length === requests.length && requests.every(hasPreviousMatch));
}

/** Returns the floating IPs that a router's gateway connects to ports on the given networks. */
export async function findFloatingIpsOf(
  tx: Tx,
  { externalNetworkId }: RouterRecord,
  networkIds: readonly string[],
): Promise<readonly FloatingIpRecord[]> {
  if (externalNetworkId === null || networkIds.length === 0) return [];
  const portIds = tx.db.selectFrom('ports').select('id').where('network_id', 'in', networkIds);
  const floatingIpRecords = await floatingIps.find(tx, (q) => q.where('port_id', 'in', portIds));
  return floatingIpRecords.filter(({ networkId }) => networkId === externalNetworkId);
}

/** Throws `ROUTER_GATEWAY_IN_USE` if floating IPs use the router's connection to its external network. */
async function rejectGatewayInUse(tx: Tx, router: RouterRecord): Promise<void> {
  const routerPorts = await ports.find(tx, (q) => q.where('device_id', '=', router.id));
  const connectedNetworkIds = routerPorts.map(({ networkId }) => networkId);
  if ((await findFloatingIpsOf(tx, router, connectedNetworkIds)).length > 0)
    throw new CatalogError(
      'ROUTER_GATEWAY_IN_USE',
      `Gateway cannot be updated for router ${router.id}, since a gateway to external network ${router.externalNetworkId} is required by one or more floating IPs.`,
    );
}

function rejectGatewayOfSubnet(subnets: readonly SubnetRecord[], requests: readonly FixedIpRequest[]): void {
  for (const { address } of requests)
    if (address !== undefined && subnets.some(({ gatewayIp }) => gatewayIp === canonicalIp(address)))
      throw new CatalogError(
        'ROUTER_INTERFACE_INVALID',
        `Bad router request: External IP ${address} is the same as the gateway IP.`,
      );
}

/** Deletes a router's port on the external network, and releases the port's addresses. */
export async function removeGateway(tx: Tx, router: RouterRecord, now: number): Promise<void> {
  const routerPorts = await ports.find(tx, (q) => q.where('device_id', '=', router.id));
  const foundPort = routerPorts.find(({ deviceOwner }) => deviceOwner === GATEWAY_PORT_OWNER);
  // A concurrent request may change the port's addresses, so the port is locked and read again.
  const port = foundPort && (await ports.lock(tx, foundPort.id));
  if (port) await removePort(tx, port, now);
  // Routers that an earlier version created have external addresses but no gateway port.
  else await releaseAddresses(tx, router.externalAddresses);
}

/**
 * Connects a router to an external network by creating a port there, or disconnects the router.
 * @param router the router's current record
 * @param networkId the external network's id; null disconnects the router
 * @param requests the requested addresses; default: one per IP version, and all addresses derived from the port's MAC
 * address
 * @returns the router's addresses on the external network
 */
export async function setGateway(
  context: NetworkContext,
  tx: Tx,
  caller: Caller,
  router: RouterRecord,
  networkId: string | null,
  requests: readonly FixedIpRequest[] | undefined,
): Promise<ExternalAddresses> {
  const { externalAddresses: previous, externalNetworkId } = router;
  if (networkId === externalNetworkId && (!requests?.length || hasSameAddresses(previous, requests))) return previous;
  if (networkId !== externalNetworkId) await rejectGatewayInUse(tx, router);
  const network = networkId === null ? undefined : await networks.get(tx, networkId);
  if (networkId !== null && !(network && canSeeNetwork(caller, network))) throw networkNotFound(networkId);
  if (network && !network.external)
    throw new CatalogError(
      'ROUTER_INTERFACE_INVALID',
      `Bad router request: Network ${networkId} is not an external network.`,
    );
  const subnets = network ? await subnetsById(tx, network.subnetIds) : [];
  rejectGatewayOfSubnet(subnets, requests ?? []);
  await removeGateway(tx, router, context.clock.now());
  if (!network) return [];
  const portSpec = {
    id: randomUUID(),
    networkId: network.id,
    // The port does not belong to a project, so that project members do not see the port.
    projectId: '',
    deviceId: router.id,
    deviceOwner: GATEWAY_PORT_OWNER,
    fixedIps: requests?.length ? requests : undefined,
    securityGroups: [],
    bare: true,
  };
  return externalAddresses(await insertPort(context, tx, { ...caller, isAdmin: true }, portSpec, new NameCache(tx)));
}

/**
 * Adds an address in a new subnet to the router gateways on the subnet's external network. As in Neutron, a gateway
 * receives an address only if it does not have an address of the same IP version. Addresses derived from MAC addresses
 * do not count, and a subnet with such addresses extends all gateways.
 */
export async function extendGateways(
  context: NetworkContext,
  tx: Tx,
  subnet: SubnetRecord,
  others: readonly SubnetRecord[],
): Promise<void> {
  const autoconfiguredSubnetIds = new Set(others.filter((other) => isAutoconfigured(other)).map(({ id }) => id));
  for (const port of await ports.find(tx, (q) => q.where('network_id', '=', subnet.networkId))) {
    if (port.deviceOwner !== GATEWAY_PORT_OWNER) continue;
    const assignedIps = port.fixedIps.filter(({ subnetId }) => !autoconfiguredSubnetIds.has(subnetId));
    const hasSufficientIps = assignedIps.length > 1 || assignedIps.some(({ version }) => version === subnet.ipVersion);
    if (hasSufficientIps && !isAutoconfigured(subnet)) continue;
    const router = await routers.lock(tx, port.deviceId);
    const addedIp = router && (await allocateFromSubnets(tx, context.blocks, [subnet], port.id, port.mac));
    if (!addedIp) continue;
    const updatedAt = context.clock.now();
    const changedPort = { ...port, fixedIps: sortAddresses([...port.fixedIps, addedIp]), updatedAt };
    await ports.update(tx, changedPort);
    await routers.update(tx, { ...router, externalAddresses: externalAddresses(changedPort), updatedAt });
  }
}
