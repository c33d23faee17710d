import { randomBytes, type Session, type Tx } from '@apistrata/record-store';
import type { Caller } from '../../caller/caller.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { FixedIp } from '../fixed-ip.js';
import { ipOf } from '../ip-address.js';
import type { Port } from '../network-catalog.js';
import { deriveAddress } from './auto-address.js';
import {
  allocateFromSubnets,
  allocatePerVersion,
  allocateRequested,
  releaseAddresses,
  type SlotBlocks,
  subnetsById,
} from './ip-allocations.js';
import {
  getUsableNetwork,
  initialFields,
  NameCache,
  type NetworkContext,
  preventNetworkDeletion,
} from './network-context.js';
import { networkTables, type PortRecord, ROUTER_PORT_OWNER, type SubnetRecord } from './network-tables.js';
import { findPortGroups } from './security-groups.js';

const { floatingIps, ports } = networkTables;

/** A port as returned in responses, with the names of the network and the security groups. */
export type PortView = PortRecord & Port;

/** An address request. Without `address`, any free address in the subnet or the network is allocated. */
export interface FixedIpRequest {
  readonly address?: string;
  readonly subnetId?: string;
}

/** The fields of a new port. The id, the network and the project are required. */
export interface PortSpec extends Partial<Omit<PortRecord, 'fixedIps' | 'seq' | 'revision' | 'securityGroupIds'>> {
  readonly id: string;
  readonly networkId: string;
  readonly projectId: string;
  /** The requested addresses. Default: one address per IP version. An empty list requests none. */
  readonly fixedIps?: readonly FixedIpRequest[];
  /** The security groups, by name or id. Default: the project's `default` group. */
  readonly securityGroups?: readonly string[];
  /** Whether an empty list of security groups means no groups instead of the `default` group. */
  readonly bare?: boolean;
}

/** Returns a MAC address with 40 random bits, so that collisions in a network are improbable. */
function randomMac(): string {
  return Array.from([0xfa, ...randomBytes(5)], (byte) => byte.toString(16).padStart(2, '0')).join(':');
}

export function portNotFound(id: string): CatalogError {
  return new CatalogError('PORT_NOT_FOUND', `Port ${id} could not be found.`);
}

/** Returns a port's status: `ACTIVE` if the port is bound and administratively up, otherwise `DOWN`. */
export function portStatus(port: Pick<PortRecord, 'hostId' | 'deviceOwner' | 'deviceId' | 'adminStateUp'>): string {
  const isBound = port.hostId !== '' || (port.deviceOwner.startsWith('network:') && port.deviceId !== '');
  return isBound && port.adminStateUp ? 'ACTIVE' : 'DOWN';
}

export async function toPortView(
  session: Session,
  port: PortRecord,
  names: NameCache = new NameCache(session),
): Promise<PortView> {
  const securityGroups = [];
  for (const id of port.securityGroupIds) securityGroups.push({ id, name: await names.get('securityGroups', id) });
  return { ...port, networkName: await names.get('networks', port.networkId), securityGroups };
}

async function foreignSubnetError(tx: Tx, id: string): Promise<CatalogError> {
  return (await networkTables.subnets.get(tx, id))
    ? new CatalogError(
        'SUBNET_INVALID',
        `Invalid input for operation: fixed_ips included invalid subnet ${id}: it belongs to another network.`,
      )
    : new CatalogError('SUBNET_NOT_FOUND', `Subnet ${id} could not be found.`);
}

/** Sorts a port's addresses for responses: by IP version, then by numeric value. */
export function sortAddresses(fixedIps: readonly FixedIp[]): readonly FixedIp[] {
  const addressValue = ({ address }: FixedIp) => ipOf(address).value;
  return [...fixedIps].sort((a, b) => a.version - b.version || (addressValue(a) < addressValue(b) ? -1 : 1));
}

/**
 * Returns the subnets from which a port receives addresses if the request does not specify a subnet: the subnets
 * reserved for the device owner, or else the subnets without a reservation.
 * @throws `NO_FREE_ADDRESS` if every subnet is reserved for other device owners
 */
function subnetsForOwner(subnets: readonly SubnetRecord[], deviceOwner: string): readonly SubnetRecord[] {
  const reservedSubnets = subnets.filter(({ serviceTypes = [] }) => serviceTypes.length > 0);
  if (reservedSubnets.length === 0) return subnets;
  const matchingSubnets = reservedSubnets.filter(({ serviceTypes = [] }) => serviceTypes.includes(deviceOwner));
  const usableSubnets =
    matchingSubnets.length > 0 ? matchingSubnets : subnets.filter((subnet) => !reservedSubnets.includes(subnet));
  if (usableSubnets.length === 0)
    throw new CatalogError('NO_FREE_ADDRESS', 'No valid service subnet for the given device owner.');
  return usableSubnets;
}

/**
 * Allocates the requested addresses. By default, allocates one address per IP version.
 *
 * @param mac the MAC address of a guest that may derive its own address
 */
export async function claimAddresses(
  tx: Tx,
  blocks: SlotBlocks,
  subnets: readonly SubnetRecord[],
  requests: readonly FixedIpRequest[] | undefined,
  portId: string,
  mac?: string,
): Promise<FixedIp[]> {
  if (!requests) return allocatePerVersion(tx, blocks, subnets, portId, mac);
  const allocatedIps: FixedIp[] = [];
  for (const { address, subnetId } of requests) {
    const candidateSubnets = subnetId === undefined ? subnets : subnets.filter((subnet) => subnet.id === subnetId);
    if (subnetId !== undefined && candidateSubnets.length === 0) throw await foreignSubnetError(tx, subnetId);
    const [subnet] = candidateSubnets;
    if (address !== undefined && subnetId !== undefined && subnet && mac && deriveAddress(subnet, mac) !== undefined)
      throw new CatalogError(
        'ADDRESS_IN_AUTO_SUBNET',
        `IPv6 address ${address} cannot be directly assigned to a port on subnet ${subnetId} as the subnet is configured for automatic addresses`,
      );
    const fixedIp =
      address === undefined
        ? await allocateFromSubnets(tx, blocks, candidateSubnets, portId, mac)
        : await allocateRequested(tx, candidateSubnets, address, portId);
    if (!fixedIp) throw new CatalogError('NO_FREE_ADDRESS', `No more IP addresses available on subnet ${subnetId}.`);
    allocatedIps.push(fixedIp);
  }
  return allocatedIps;
}

export async function rejectUsedMac(tx: Tx, networkId: string, mac: string): Promise<void> {
  const portCount = await ports.count(tx, (q) => q.where('network_id', '=', networkId).where('mac', '=', mac));
  if (portCount > 0)
    throw new CatalogError('MAC_IN_USE', `MAC address ${mac} is already in use on network ${networkId}.`);
}

/**
 * Rejects security groups and allowed address pairs on a port without port security.
 * @param requested the number of groups and pairs in the request
 * @param resultingCounts the number of groups and pairs that the port would have after the request
 */
export function checkPortSecurity(
  requested: { readonly groups: number; readonly pairs: number },
  resultingCounts: { readonly groups: number; readonly pairs: number } = { groups: 0, pairs: 0 },
): void {
  if (requested.pairs + resultingCounts.pairs > 0)
    throw new CatalogError(
      'PORT_SECURITY_OFF_WITH_PAIRS',
      'Port Security must be enabled in order to have allowed address pairs on a port.',
    );
  if (requested.groups > 0)
    throw new CatalogError(
      'PORT_SECURITY_OFF_WITH_GROUPS',
      'Port security must be enabled and port must have an IP address in order to use security groups.',
    );
  if (resultingCounts.groups > 0)
    throw new CatalogError(
      'PORT_SECURITY_IN_USE',
      'Port has security group associated. Cannot disable port security or IP address until security group is removed.',
    );
}

/** Creates a port and allocates its addresses. Idempotent: if a port with this id exists, that port is returned. */
export async function insertPort(
  context: NetworkContext,
  tx: Tx,
  caller: Caller,
  spec: PortSpec,
  names: NameCache,
): Promise<PortView> {
  const existingPort = await ports.get(tx, spec.id);
  if (existingPort) return toPortView(tx, existingPort, names);
  const network = await getUsableNetwork(context, tx, caller, spec.networkId);
  names.add(network);
  const { fixedIps: requests, securityGroups, bare = false, mac: givenMac, ...given } = spec;
  const mac = givenMac?.toLowerCase() ?? randomMac();
  // Router addresses are never derived from the MAC address.
  const derivationMac = spec.deviceOwner === ROUTER_PORT_OWNER ? undefined : mac;
  const subnets = await subnetsById(tx, network.subnetIds);
  const usableSubnets = requests ? subnets : subnetsForOwner(subnets, spec.deviceOwner ?? '');
  const fixedIps = sortAddresses(
    await claimAddresses(tx, context.blocks, usableSubnets, requests, spec.id, derivationMac),
  );
  if (fixedIps.length === 0) await preventNetworkDeletion(tx, network.id);
  if (givenMac) await rejectUsedMac(tx, network.id, mac);
  const portSecurityEnabled = given.portSecurityEnabled ?? network.portSecurityEnabled;
  if (bare && !portSecurityEnabled)
    checkPortSecurity({ groups: securityGroups?.length ?? 0, pairs: given.allowedAddressPairs?.length ?? 0 });
  const hasNoGroups = !portSecurityEnabled || (bare && securityGroups?.length === 0);
  const groups = hasNoGroups ? [] : await findPortGroups(context, tx, spec.projectId, securityGroups);
  for (const group of groups) names.add(group);
  const record = {
    ...initialFields(context.clock.now()),
    name: '',
    adminStateUp: true,
    deviceId: '',
    deviceOwner: '',
    hostId: '',
    hasResourceRequest: false,
    vnicType: 'normal',
    dnsName: '',
    allowedAddressPairs: [],
    bindingProfile: {},
    ...given,
    mac,
    fixedIps,
    portSecurityEnabled,
    securityGroupIds: groups.map((group) => group.id),
  };
  return toPortView(tx, await ports.insert(tx, { ...record, status: portStatus(record) }), names);
}

/** Disassociates the floating IPs that are assigned to these addresses of a port. */
export async function disassociateFloatingIps(
  tx: Tx,
  port: PortRecord,
  fixedIps: readonly FixedIp[],
  now: number,
): Promise<void> {
  if (fixedIps.every((fixedIp) => fixedIp.floating.length === 0)) return;
  const removedAddresses = new Set(fixedIps.map((fixedIp) => fixedIp.address));
  for (const floating of await floatingIps.find(tx, (q) => q.where('port_id', '=', port.id).orderBy('seq'))) {
    if (!removedAddresses.has(floating.fixedAddress ?? '')) continue;
    const unassociatedFields = { portId: null, fixedAddress: null, deviceId: null, status: 'DOWN', updatedAt: now };
    await floatingIps.update(tx, { ...floating, ...unassociatedFields });
  }
}

/** Deletes a port, whose row the caller has locked, and releases its addresses. */
export async function removePort(tx: Tx, port: PortRecord, now: number): Promise<void> {
  await disassociateFloatingIps(tx, port, port.fixedIps, now);
  await releaseAddresses(tx, port.fixedIps);
  await ports.delete(tx, port.id);
}
