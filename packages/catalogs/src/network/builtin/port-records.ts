import { randomBytes, type Session, type Tx } from '@apistrata/record-store';
import type { Caller } from '../../caller/caller.js';
import { CatalogError } from '../../errors/catalog-error.js';
import type { FixedIp } from '../fixed-ip.js';
import type { Port } from '../network-catalog.js';
import {
  allocateEach,
  allocateFrom,
  allocateOne,
  freeAddresses,
  type SlotBlocks,
  subnetsById,
} from './ip-allocations.js';
import { dated, NameCache, type NetworkContext, networkFor } from './network-context.js';
import { networkTables, type PortRecord, ROUTER_PORTS, type SubnetRecord } from './network-tables.js';
import { groupsFor } from './security-groups.js';

const { floatingIps, ports } = networkTables;

/** A port as it is shown: with the names of what it refers to. */
export type PortView = PortRecord & Port;

/** An address that a port is to get: this one, or any one of a subnet. */
export interface FixedIpRequest {
  readonly address?: string;
  readonly subnetId?: string;
}

/** Everything that can be said of a new port; only the network must be. */
export interface PortSpec extends Partial<Omit<PortRecord, 'fixedIps' | 'seq' | 'revision' | 'securityGroupIds'>> {
  readonly id: string;
  readonly networkId: string;
  readonly projectId: string;
  /** Left out: one address of each version. Empty: none. */
  readonly fixedIps?: readonly FixedIpRequest[];
  /** Names or ids. Left out: the default one. */
  readonly securityGroups?: readonly string[];
  /** True: an empty list of groups means none instead of the default one. */
  readonly bare?: boolean;
}

/** Locally administered, and long enough that two ports of a network never meet by chance. */
function randomMac(): string {
  return Array.from([0xfa, ...randomBytes(5)], (byte) => byte.toString(16).padStart(2, '0')).join(':');
}

export function portNotFound(id: string): CatalogError {
  return new CatalogError('PORT_NOT_FOUND', `Port ${id} could not be found.`);
}

/** A port is up when it is plugged in somewhere. */
export function portStatus(port: Pick<PortRecord, 'hostId' | 'deviceOwner' | 'deviceId' | 'adminStateUp'>): string {
  const plugged = port.hostId !== '' || (port.deviceOwner.startsWith('network:') && port.deviceId !== '');
  return plugged && port.adminStateUp ? 'ACTIVE' : 'DOWN';
}

export async function presentPort(
  session: Session,
  port: PortRecord,
  names: NameCache = new NameCache(session),
): Promise<PortView> {
  const securityGroups = [];
  for (const id of port.securityGroupIds) securityGroups.push({ id, name: await names.of('securityGroups', id) });
  return { ...port, networkName: await names.of('networks', port.networkId), securityGroups };
}

/** The addresses asked for, or the usual ones. @param mac of a guest that may make its address itself */
export async function takeAddresses(
  tx: Tx,
  blocks: SlotBlocks,
  subnets: readonly SubnetRecord[],
  requests: readonly FixedIpRequest[] | undefined,
  portId: string,
  mac?: string,
): Promise<FixedIp[]> {
  if (!requests) return allocateEach(tx, blocks, subnets, portId, mac);
  const taken: FixedIp[] = [];
  for (const { address, subnetId } of requests) {
    const among = subnetId === undefined ? subnets : subnets.filter((subnet) => subnet.id === subnetId);
    if (among.length === 0) throw new CatalogError('SUBNET_INVALID', `Subnet ${subnetId} is not one of the network's.`);
    const fixedIp =
      address === undefined
        ? await allocateFrom(tx, blocks, among, portId, mac)
        : await allocateOne(tx, among, address, portId);
    if (!fixedIp) throw new CatalogError('NO_FREE_ADDRESS', `No more IP addresses available on subnet ${subnetId}.`);
    taken.push(fixedIp);
  }
  return taken;
}

export async function refuseTakenMac(tx: Tx, networkId: string, mac: string): Promise<void> {
  const users = await ports.count(tx, (q) => q.where('network_id', '=', networkId).where('mac', '=', mac));
  if (users > 0) throw new CatalogError('MAC_IN_USE', `MAC address ${mac} is already in use on network ${networkId}.`);
}

/** Makes a port with its addresses; one that is there already under this id is left as it is. */
export async function insertPort(
  context: NetworkContext,
  tx: Tx,
  caller: Caller,
  spec: PortSpec,
  names: NameCache,
): Promise<PortView> {
  const existing = await ports.get(tx, spec.id);
  if (existing) return presentPort(tx, existing, names);
  const network = await networkFor(context, tx, caller, spec.networkId);
  names.know(network);
  const { fixedIps: requests, securityGroups, bare = false, mac: givenMac, ...given } = spec;
  const mac = givenMac?.toLowerCase() ?? randomMac();
  // A router tells others what their addresses are made of; its own are as they were given.
  const maker = spec.deviceOwner === ROUTER_PORTS ? undefined : mac;
  const subnets = await subnetsById(tx, network.subnetIds);
  const fixedIps = await takeAddresses(tx, context.blocks, subnets, requests, spec.id, maker);
  if (givenMac) await refuseTakenMac(tx, network.id, mac);
  const portSecurityEnabled = given.portSecurityEnabled ?? network.portSecurityEnabled;
  const none = !portSecurityEnabled || (bare && securityGroups?.length === 0);
  const groups = none ? [] : await groupsFor(context, tx, spec.projectId, securityGroups);
  for (const group of groups) names.know(group);
  const record = {
    ...dated(context.clock.now()),
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
  return presentPort(tx, await ports.insert(tx, { ...record, status: portStatus(record) }), names);
}

/** Frees the floating addresses that lead to the port, or to these of its addresses. */
export async function dropFloating(tx: Tx, port: PortRecord, fixedIps: readonly FixedIp[], now: number): Promise<void> {
  if (fixedIps.every((fixedIp) => fixedIp.floating.length === 0)) return;
  const gone = new Set(fixedIps.map((fixedIp) => fixedIp.address));
  for (const floating of await floatingIps.find(tx, (q) => q.where('port_id', '=', port.id))) {
    if (!gone.has(floating.fixedAddress ?? '')) continue;
    const free = { portId: null, fixedAddress: null, deviceId: null, status: 'DOWN', updatedAt: now };
    await floatingIps.update(tx, { ...floating, ...free });
  }
}

/** Removes a port, gives its addresses back and frees the floating ones that led to it. */
export async function removePort(tx: Tx, port: PortRecord, now: number): Promise<void> {
  await dropFloating(tx, port, port.fixedIps, now);
  await freeAddresses(tx, port.fixedIps);
  await ports.delete(tx, port.id);
}
