import { randomUUID } from 'node:crypto';
import { isInSubquery, type Tx } from '@apistrata/record-store';
import { rejectNul } from '../../builtin/json-conditions.js';
import { listPage, type Page } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject, isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import { type Cidr, cidrOf, formatIp, ipOf, parseCidr, parseIp } from '../ip-address.js';
import { AUTOCONFIGURED_MODES, isAutoconfigured } from './auto-address.js';
import { releaseAddresses, subnetsById } from './ip-allocations.js';
import { type NetworkContext, networkNotFound, newSubnetRecord } from './network-context.js';
import { networkTables, type PortRecord, type SubnetRecord } from './network-tables.js';
import { canSeeNetwork, isSharedWith, sharedNetworkCondition } from './network-visibility.js';
import { extendGateways } from './router-gateways.js';

const { networks, ports, subnets } = networkTables;

/** The fields of a new subnet. `gatewayIp` is null for no gateway. Default: the subnet's first usable address. */
export interface NewSubnet
  extends Partial<
    Pick<
      SubnetRecord,
      | 'id'
      | 'name'
      | 'description'
      | 'projectId'
      | 'gatewayIp'
      | 'allocationPools'
      | 'dnsNameservers'
      | 'hostRoutes'
      | 'enableDhcp'
      | 'ipv6AddressMode'
      | 'ipv6RaMode'
      | 'serviceTypes'
      | 'tags'
    >
  > {
  readonly networkId: string;
  readonly cidr: string;
}

/** The changes to a subnet. Omitted fields are not changed. */
export type SubnetChange = Partial<
  Pick<
    SubnetRecord,
    | 'name'
    | 'description'
    | 'gatewayIp'
    | 'allocationPools'
    | 'dnsNameservers'
    | 'hostRoutes'
    | 'enableDhcp'
    | 'serviceTypes'
    | 'tags'
  >
>;

export interface SubnetQuery extends Page {
  readonly networkId?: string;
  readonly name?: string;
  readonly cidr?: string;
  readonly ipVersion?: 4 | 6;
}

/** Returns whether two CIDRs have the same IP version and overlap. */
export function overlaps(one: string, other: string): boolean {
  const a = cidrOf(one);
  const b = cidrOf(other);
  return a.version === b.version && a.first <= b.last && b.first <= a.last;
}

function invalidSubnet(message: string): CatalogError {
  return new CatalogError('SUBNET_INVALID', message);
}

function subnetNotFound(id: string): CatalogError {
  return new CatalogError('SUBNET_NOT_FOUND', `Subnet ${id} could not be found.`);
}

/**
 * Validates that a subnet's IPv6 modes agree with the IP version, the prefix, DHCP and each other.
 *
 * @throws `SUBNET_INVALID`
 */
function checkIpv6Modes(
  { enableDhcp = true, ipv6AddressMode, ipv6RaMode }: Pick<NewSubnet, 'enableDhcp' | 'ipv6AddressMode' | 'ipv6RaMode'>,
  { version, prefix }: Cidr,
): void {
  const modes = Object.entries({ ipv6_ra_mode: ipv6RaMode, ipv6_address_mode: ipv6AddressMode }).filter(
    ([, mode]) => mode,
  );
  const [first] = modes;
  if (!first) return;
  if (version === 4) throw invalidSubnet(`Invalid input for operation: ${first[0]} is not valid when ip_version is 4.`);
  if (!enableDhcp)
    throw invalidSubnet(
      'Invalid input for operation: ipv6_ra_mode or ipv6_address_mode cannot be set when enable_dhcp is set to False.',
    );
  if (ipv6RaMode && ipv6AddressMode && ipv6RaMode !== ipv6AddressMode)
    throw invalidSubnet(
      `Invalid input for operation: ipv6_ra_mode set to '${ipv6RaMode}' with ipv6_address_mode set to '${ipv6AddressMode}' is not valid. If both attributes are set, they must be the same value.`,
    );
  if (modes.some(([, mode]) => AUTOCONFIGURED_MODES.has(mode ?? null)) && prefix !== 64)
    throw invalidSubnet(
      'Invalid input for operation: Invalid CIDR for IPv6 address mode. The EUI-64 address format requires the prefix to be /64.',
    );
}

/**
 * Validates a subnet's CIDR, gateway, allocation pools and IPv6 modes.
 *
 * @throws `SUBNET_INVALID`
 */
export function checkSubnet({
  cidr: text,
  gatewayIp,
  allocationPools,
  ...modes
}: Pick<NewSubnet, 'cidr' | 'gatewayIp' | 'allocationPools' | 'enableDhcp' | 'ipv6AddressMode' | 'ipv6RaMode'>) {
  const cidr = parseCidr(text);
  if (!cidr) throw invalidSubnet(`'${text}' is not a valid IP subnet.`);
  const isInside = (address: string) => {
    const parsedAddress = parseIp(address);
    return (
      parsedAddress?.version === cidr.version && parsedAddress.value >= cidr.first && parsedAddress.value <= cidr.last
    );
  };
  if (gatewayIp && parseIp(gatewayIp)?.version !== cidr.version)
    throw invalidSubnet(`'${gatewayIp}' is not a valid gateway.`);
  checkIpv6Modes(modes, cidr);
  for (const { start, end } of allocationPools ?? []) {
    if (!isInside(start) || !isInside(end))
      throw invalidSubnet(`The allocation pool ${start}-${end} spans beyond the subnet cidr ${text}.`);
    if (ipOf(start).value > ipOf(end).value) throw invalidSubnet(`The allocation pool ${start}-${end} is not valid.`);
  }
}

/** Returns a subnet's default gateway, which is its first usable address. */
export function defaultGateway(cidrText: string): string {
  const { version, first, last } = cidrOf(cidrText);
  return formatIp({ version, value: first === last ? first : first + 1n });
}

/** Returns the ports with an address in the subnet, except router ports, in the order in which they were created. */
async function findPortsIn(tx: Tx, { id, networkId }: SubnetRecord): Promise<readonly PortRecord[]> {
  const networkPorts = await ports.find(tx, (q) => q.where('network_id', '=', networkId).orderBy('seq'));
  return networkPorts.filter(
    ({ deviceOwner, fixedIps }) =>
      !deviceOwner.startsWith('network:router') && fixedIps.some(({ subnetId }) => subnetId === id),
  );
}

/** Removes the subnet's addresses from all ports except router ports. */
async function removeDerivedAddresses(tx: Tx, subnet: SubnetRecord, now: number): Promise<void> {
  for (const { id } of await findPortsIn(tx, subnet)) {
    const port = await ports.lock(tx, id);
    if (!port) continue;
    const removedIps = port.fixedIps.filter(({ subnetId }) => subnetId === subnet.id);
    await releaseAddresses(tx, removedIps);
    const fixedIps = port.fixedIps.filter((fixedIp) => !removedIps.includes(fixedIp));
    await ports.update(tx, { ...port, fixedIps, updatedAt: now });
  }
}

/** Creates the subnet operations of the embedded network catalog. */
export function createSubnetOperations(context: NetworkContext) {
  const { store, clock } = context;

  async function getVisible(caller: Caller, id: string): Promise<SubnetRecord> {
    const subnet = await subnets.get(store, id);
    const network = subnet && (await networks.get(store, subnet.networkId));
    // Project members see an external network's subnets only if the network is also shared with their project.
    const isUsable =
      network && (canAccessProject(caller, network.projectId) || isSharedWith(caller.projectId, network));
    if (!isUsable && !(network && canAccessProject(caller, subnet.projectId))) throw subnetNotFound(id);
    return subnet;
  }

  async function getChangeable(caller: Caller, id: string): Promise<SubnetRecord> {
    const subnet = await getVisible(caller, id);
    if (!canAccessProject(caller, subnet.projectId))
      throw new CatalogError('NETWORK_FORBIDDEN', `Subnet ${id} belongs to another project.`);
    return subnet;
  }

  return {
    getSubnet: getVisible,

    async listSubnets(caller: Caller, query: SubnetQuery = {}): Promise<readonly SubnetRecord[]> {
      const page = await listPage(store, subnets, 'oldest first', query, (rows) => {
        let narrowed = rows;
        if (query.networkId !== undefined) narrowed = narrowed.where('network_id', '=', query.networkId);
        if (query.name !== undefined) narrowed = narrowed.where('name', '=', query.name);
        if (isAdmin(caller)) return narrowed;
        const { projectId } = caller;
        const visibleNetworkIds = store.db
          .selectFrom('networks')
          .select('id')
          .where((eb) => eb.or([eb('project_id', '=', projectId), sharedNetworkCondition(store, projectId)(eb)]));
        const selectSeqs = () => store.db.selectFrom('subnets').select('seq');
        const ownRows = selectSeqs().where('project_id', '=', projectId);
        return narrowed.where(
          isInSubquery(
            store,
            'seq',
            ownRows.union(selectSeqs().where(isInSubquery(store, 'network_id', visibleNetworkIds))),
          ),
        );
      });
      return page.filter(
        (subnet) =>
          (query.cidr === undefined || subnet.cidr === query.cidr) &&
          (query.ipVersion === undefined || subnet.ipVersion === query.ipVersion),
      );
    },

    async createSubnet(caller: Caller, subnetFields: NewSubnet): Promise<SubnetRecord> {
      rejectNul(subnetFields);
      checkSubnet(subnetFields);
      const { id = randomUUID(), gatewayIp = defaultGateway(subnetFields.cidr), ...fields } = subnetFields;
      return store.transaction(async (tx) => {
        const network = await networks.lock(tx, subnetFields.networkId);
        if (!network || !canSeeNetwork(caller, network)) throw networkNotFound(subnetFields.networkId);
        if (!canAccessProject(caller, network.projectId))
          throw new CatalogError('NETWORK_FORBIDDEN', `Network ${network.id} belongs to another project.`);
        const otherSubnets = await subnetsById(tx, network.subnetIds);
        for (const other of otherSubnets)
          if (overlaps(other.cidr, subnetFields.cidr))
            throw invalidSubnet(
              `Requested subnet with cidr: ${subnetFields.cidr} for network: ${network.id} overlaps with another subnet.`,
            );
        const now = clock.now();
        const { projectId = network.projectId } = fields;
        const createdSubnet = await subnets.insert(tx, newSubnetRecord({ ...fields, id, projectId, gatewayIp }, now));
        await networks.update(tx, { ...network, subnetIds: [...network.subnetIds, id], updatedAt: now });
        if (network.external) await extendGateways(context, tx, createdSubnet, otherSubnets);
        return createdSubnet;
      });
    },

    async updateSubnet(caller: Caller, id: string, change: SubnetChange): Promise<SubnetRecord> {
      rejectNul(change);
      await getChangeable(caller, id);
      const subnetFields = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      return store.transaction(async (tx) => {
        const subnet = await subnets.lock(tx, id);
        if (!subnet) throw subnetNotFound(id);
        const changedSubnet = { ...subnet, ...subnetFields, updatedAt: clock.now() };
        checkSubnet(changedSubnet);
        return subnets.update(tx, changedSubnet);
      });
    },

    /**
     * Deletes a subnet.
     *
     * @throws `SUBNET_IN_USE` if a port has an address in the subnet, except for addresses derived from MAC addresses
     */
    async deleteSubnet(caller: Caller, id: string): Promise<void> {
      const deletedSubnet = await getChangeable(caller, id);
      const { networkId } = deletedSubnet;
      await store.transaction(async (tx) => {
        // As in deletions of networks, the network is locked first, so that concurrent deletions do not deadlock.
        const network = await networks.lock(tx, networkId);
        // Changes to a port lock the port before its subnets and addresses.
        if (isAutoconfigured(deletedSubnet))
          for (const port of await findPortsIn(tx, deletedSubnet)) await ports.lock(tx, port.id);
        const subnet = await subnets.lock(tx, id);
        if (!subnet) throw subnetNotFound(id);
        if (isAutoconfigured(subnet)) await removeDerivedAddresses(tx, subnet, clock.now());
        const { n } = await tx.db
          .selectFrom('ip_allocations')
          .select(({ fn }) => fn.countAll().as('n'))
          .where('subnet_id', '=', id)
          .executeTakeFirstOrThrow();
        if (Number(n) > 0)
          throw new CatalogError(
            'SUBNET_IN_USE',
            `Unable to complete operation on subnet ${id}: One or more ports have an IP allocation from this subnet.`,
          );
        if (network) {
          const subnetIds = network.subnetIds.filter((other) => other !== id);
          await networks.update(tx, { ...network, subnetIds, updatedAt: clock.now() });
        }
        await subnets.delete(tx, id);
      });
    },
  };
}
