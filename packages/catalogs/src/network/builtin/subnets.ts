import { randomUUID } from 'node:crypto';
import { isOneOf } from '@apistrata/record-store';
import { refuseNul } from '../../builtin/json-conditions.js';
import { listPage, type Page } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { isAdmin, owns } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import { cidrOf, formatIp, ipOf, parseCidr, parseIp } from '../ip-address.js';
import { maySeeNetwork, type NetworkContext, networkNotFound, newSubnet } from './network-context.js';
import { networkTables, type SubnetRecord } from './network-tables.js';

const { networks, subnets } = networkTables;

/** What can be said of a subnet when it is made; `gatewayIp: null` means none, left out the first address. */
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
      | 'tags'
    >
  > {
  readonly networkId: string;
  readonly cidr: string;
}

/** What may be changed of a subnet; what is left out stays. */
export type SubnetChange = Partial<
  Pick<
    SubnetRecord,
    'name' | 'description' | 'gatewayIp' | 'allocationPools' | 'dnsNameservers' | 'hostRoutes' | 'enableDhcp' | 'tags'
  >
>;

export interface SubnetQuery extends Page {
  readonly networkId?: string;
  readonly name?: string;
  readonly cidr?: string;
  readonly ipVersion?: 4 | 6;
}

/** Whether two address ranges of the same version meet. */
function overlaps(one: string, other: string): boolean {
  const a = cidrOf(one);
  const b = cidrOf(other);
  return a.version === b.version && a.first <= b.last && b.first <= a.last;
}

function invalid(message: string): CatalogError {
  return new CatalogError('SUBNET_INVALID', message);
}

function subnetNotFound(id: string): CatalogError {
  return new CatalogError('SUBNET_NOT_FOUND', `Subnet ${id} could not be found.`);
}

/** Throws `SUBNET_INVALID` unless gateway and pools are addresses of the subnet. */
export function checkSubnet({
  cidr: text,
  gatewayIp,
  allocationPools,
}: Pick<NewSubnet, 'cidr' | 'gatewayIp' | 'allocationPools'>) {
  const cidr = parseCidr(text);
  if (!cidr) throw invalid(`'${text}' is not a valid IP subnet.`);
  const inside = (address: string) => {
    const parsed = parseIp(address);
    return parsed?.version === cidr.version && parsed.value >= cidr.first && parsed.value <= cidr.last;
  };
  if (gatewayIp && parseIp(gatewayIp)?.version !== cidr.version)
    throw invalid(`'${gatewayIp}' is not a valid gateway.`);
  for (const { start, end } of allocationPools ?? []) {
    if (!inside(start) || !inside(end))
      throw invalid(`The allocation pool ${start}-${end} spans beyond the subnet cidr ${text}.`);
    if (ipOf(start).value > ipOf(end).value) throw invalid(`The allocation pool ${start}-${end} is not valid.`);
  }
}

/** The address a subnet's router has when nobody says otherwise. */
export function usualGateway(cidrText: string): string {
  const { version, first, last } = cidrOf(cidrText);
  return formatIp({ version, value: first === last ? first : first + 1n });
}

/** The part of the embedded network catalog that keeps subnets. */
export function subnetVerbs({ store, clock }: NetworkContext) {
  async function visible(caller: Caller, id: string): Promise<SubnetRecord> {
    const subnet = await subnets.get(store, id);
    const network = subnet && (await networks.get(store, subnet.networkId));
    if (!network || !(owns(caller, subnet.projectId) || maySeeNetwork(caller, network))) throw subnetNotFound(id);
    return subnet;
  }

  async function changeable(caller: Caller, id: string): Promise<SubnetRecord> {
    const subnet = await visible(caller, id);
    if (!owns(caller, subnet.projectId))
      throw new CatalogError('NETWORK_FORBIDDEN', `Subnet ${id} is not yours to change.`);
    return subnet;
  }

  return {
    getSubnet: visible,

    async listSubnets(caller: Caller, query: SubnetQuery = {}): Promise<readonly SubnetRecord[]> {
      const page = await listPage(store, subnets, 'oldest first', query, (rows) => {
        let narrowed = rows;
        if (query.networkId !== undefined) narrowed = narrowed.where('network_id', '=', query.networkId);
        if (query.name !== undefined) narrowed = narrowed.where('name', '=', query.name);
        if (isAdmin(caller)) return narrowed;
        const { projectId } = caller;
        const visible = store.db
          .selectFrom('networks')
          .select('id')
          .where((e) => e.or([e('project_id', '=', projectId), e('shared', '=', 1), e('external', '=', 1)]));
        const seqs = () => store.db.selectFrom('subnets').select('seq');
        const own = seqs().where('project_id', '=', projectId);
        return narrowed.where(isOneOf(store, 'seq', own.union(seqs().where(isOneOf(store, 'network_id', visible)))));
      });
      return page.filter(
        (subnet) =>
          (query.cidr === undefined || subnet.cidr === query.cidr) &&
          (query.ipVersion === undefined || subnet.ipVersion === query.ipVersion),
      );
    },

    async createSubnet(caller: Caller, given: NewSubnet): Promise<SubnetRecord> {
      refuseNul(given);
      checkSubnet(given);
      const { id = randomUUID(), gatewayIp = usualGateway(given.cidr), ...fields } = given;
      return store.transaction(async (tx) => {
        const network = await networks.lock(tx, given.networkId);
        if (!network || !maySeeNetwork(caller, network)) throw networkNotFound(given.networkId);
        if (!owns(caller, network.projectId))
          throw new CatalogError('NETWORK_FORBIDDEN', `Network ${network.id} is not yours to change.`);
        for (const otherId of network.subnetIds) {
          const other = await subnets.get(tx, otherId);
          if (other && overlaps(other.cidr, given.cidr))
            throw invalid(
              `Requested subnet with cidr: ${given.cidr} for network: ${network.id} overlaps with another subnet.`,
            );
        }
        const now = clock.now();
        const { projectId = network.projectId } = fields;
        const made = await subnets.insert(tx, newSubnet({ ...fields, id, projectId, gatewayIp }, now));
        await networks.update(tx, { ...network, subnetIds: [...network.subnetIds, id], updatedAt: now });
        return made;
      });
    },

    async updateSubnet(caller: Caller, id: string, change: SubnetChange): Promise<SubnetRecord> {
      refuseNul(change);
      await changeable(caller, id);
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      return store.transaction(async (tx) => {
        const subnet = await subnets.lock(tx, id);
        if (!subnet) throw subnetNotFound(id);
        const changed = { ...subnet, ...given, updatedAt: clock.now() };
        checkSubnet(changed);
        return subnets.update(tx, changed);
      });
    },

    /** Throws `SUBNET_IN_USE` while a port has an address of it. */
    async deleteSubnet(caller: Caller, id: string): Promise<void> {
      await changeable(caller, id);
      await store.transaction(async (tx) => {
        const subnet = await subnets.lock(tx, id);
        if (!subnet) throw subnetNotFound(id);
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
        const network = await networks.lock(tx, subnet.networkId);
        if (network) {
          const subnetIds = network.subnetIds.filter((other) => other !== id);
          await networks.update(tx, { ...network, subnetIds, updatedAt: clock.now() });
        }
        await subnets.delete(tx, id);
      });
    },
  };
}
