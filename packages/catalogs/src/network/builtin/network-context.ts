import { retryOnUniqueViolation, type Session, type Tx } from '@apistrata/record-store';
import { derivedUuid } from '../../builtin/derived-uuid.js';
import type { EmbeddedContext } from '../../builtin/embedded-options.js';
import { rejectNul } from '../../builtin/json-conditions.js';
import type { Caller } from '../../caller/caller.js';
import { CatalogError } from '../../errors/catalog-error.js';
import { cidrOf, formatCidr } from '../ip-address.js';
import { usesPhysicalNetwork } from '../provider-segment.js';
import { type SlotBlocks, sharedLockOn } from './ip-allocations.js';
import { defaultMtu, type HostTunnel } from './network-mtu.js';
import { type NetworkRecord, networkTables, type SubnetRecord } from './network-tables.js';
import { canSeeNetwork } from './network-visibility.js';
import { defaultPools } from './subnet-slots.js';

/** The options and state that the modules of the embedded network catalog share. */
export interface NetworkContext extends EmbeddedContext {
  readonly blocks: SlotBlocks;
  readonly onServerPortsChanged: (serverId: string) => void;
  readonly hostTunnels: (session: Session) => Promise<readonly HostTunnel[]>;
}

/** Returns the initial values of the fields that most network records have in common. */
export function initialFields(now: number) {
  return { description: '', tags: [], createdAt: now, updatedAt: now } as const;
}

const lockNetworkShared = sharedLockOn('networks');

/** Prevents the deletion of a network until the transaction ends. Locks on its subnets have the same effect. */
export async function preventNetworkDeletion(tx: Tx, id: string): Promise<void> {
  const { rows } = await lockNetworkShared(tx, [id]);
  if (rows.length === 0) throw networkNotFound(id);
}

export function networkNotFound(id: string): CatalogError {
  return new CatalogError('NETWORK_NOT_FOUND', `Network ${id} could not be found.`);
}

/** Calls `onServerPortsChanged` after the commit if the port is attached to a device. */
export function notifyPortsChanged({ onServerPortsChanged }: NetworkContext, tx: Tx, deviceId: string | null): void {
  if (deviceId) tx.afterCommit(() => onServerPortsChanged(deviceId));
}

/** Returns a new subnet record, with defaults for omitted fields. */
export function newSubnetRecord(
  fields: Pick<SubnetRecord, 'id' | 'networkId' | 'projectId' | 'cidr'> & Partial<SubnetRecord>,
  now: number,
) {
  const cidr = cidrOf(fields.cidr);
  const gatewayIp = fields.gatewayIp ?? null;
  return {
    ...initialFields(now),
    name: '',
    ipVersion: cidr.version,
    dnsNameservers: [],
    hostRoutes: [],
    enableDhcp: true,
    ipv6AddressMode: null,
    ipv6RaMode: null,
    ...fields,
    cidr: formatCidr(cidr),
    gatewayIp,
    allocationPools: fields.allocationPools ?? defaultPools(fields.cidr, gatewayIp),
  };
}

/** Inserts a network record, with defaults for omitted fields. */
export async function insertNetwork(
  context: NetworkContext,
  tx: Tx,
  { mtu, ...fields }: Pick<NetworkRecord, 'id' | 'projectId'> & Partial<NetworkRecord>,
  now: number,
): Promise<NetworkRecord> {
  return networkTables.networks.insert(tx, {
    ...initialFields(now),
    name: '',
    adminStateUp: true,
    status: 'ACTIVE',
    shared: false,
    external: false,
    mtu: mtu ?? (await defaultMtu(context, tx, fields.external || usesPhysicalNetwork(fields))),
    subnetIds: [],
    isDefault: false,
    auto: false,
    accepted: false,
    portSecurityEnabled: true,
    ...fields,
  });
}

/** Creates a shared network with a /16 subnet for an unknown network id. */
async function acceptNetwork(context: NetworkContext, tx: Tx, id: string, now: number): Promise<NetworkRecord> {
  rejectNul(id);
  const octet = 16 + (Number.parseInt(derivedUuid(id).slice(0, 4), 16) % 200);
  const subnetId = derivedUuid(`accepted-subnet/${id}`);
  const projectId = '';
  const cidr = `10.${octet}.0.0/16`;
  const subnet = newSubnetRecord({ id: subnetId, networkId: id, projectId, cidr, gatewayIp: `10.${octet}.0.1` }, now);
  await networkTables.subnets.insert(tx, subnet);
  const network = { id, projectId, name: id, shared: true, accepted: true, subnetIds: [subnetId] };
  return insertNetwork(context, tx, network, now);
}

/** Returns a network that the caller may use. If the catalog accepts unknown ids, a missing network is created. */
export async function getUsableNetwork(
  context: NetworkContext,
  tx: Tx,
  caller: Caller,
  id: string,
): Promise<NetworkRecord> {
  const network = await networkTables.networks.get(tx, id);
  if (!network && context.acceptsUnknownIds) return acceptNetwork(context, tx, id, context.clock.now());
  if (!network || !canSeeNetwork(caller, network)) throw networkNotFound(id);
  return network;
}

/** Like `getUsableNetwork()`, but outside of a transaction. */
export async function getVisibleNetwork(context: NetworkContext, caller: Caller, id: string): Promise<NetworkRecord> {
  const network = await networkTables.networks.get(context.store, id);
  if (network && canSeeNetwork(caller, network)) return network;
  if (network || !context.acceptsUnknownIds) throw networkNotFound(id);
  return retryOnUniqueViolation(context.store, (tx) => getUsableNetwork(context, tx, caller, id));
}

/** Caches the names of networks and security groups, so that each name is read once per list of ports. */
export class NameCache {
  readonly #session: Session;
  readonly #names = new Map<string, string>();

  constructor(session: Session) {
    this.#session = session;
  }

  /** Adds the name of a record that has already been read. */
  add(record: { readonly id: string; readonly name: string }): void {
    this.#names.set(record.id, record.name);
  }

  async get(kind: 'networks' | 'securityGroups', id: string): Promise<string> {
    let name = this.#names.get(id);
    if (name === undefined) {
      name = (await networkTables[kind].get(this.#session, id))?.name ?? id;
      this.#names.set(id, name);
    }
    return name;
  }
}
