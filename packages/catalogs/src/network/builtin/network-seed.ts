import { retryOnUniqueViolation } from '@apistrata/record-store';
import { derivedUuid } from '../../builtin/derived-uuid.js';
import type { NewSecurityGroupRule } from '../network-catalog.js';
import { initialFields, insertNetwork, type NetworkContext, newSubnetRecord } from './network-context.js';
import { type NetworkRecord, networkTables, type SecurityGroupRecord, type SubnetRecord } from './network-tables.js';
import { checkSubnet, defaultGateway } from './subnets.js';

const { networks, rules, securityGroups, subnets } = networkTables;

/** A subnet of a preset network. */
export type SubnetSeed = Pick<SubnetRecord, 'cidr'> &
  Partial<Pick<SubnetRecord, 'id' | 'name' | 'gatewayIp' | 'allocationPools' | 'dnsNameservers'>>;

/** A preset network. A network without a project is shared with all projects, unless it is external. */
export interface NetworkSeed extends Partial<Omit<NetworkRecord, 'id' | 'subnetIds' | 'seq' | 'revision'>> {
  readonly id: string;
  readonly subnets?: readonly SubnetSeed[];
}

/** A rule of a preset security group. */
export type RuleSeed = Omit<NewSecurityGroupRule, 'securityGroupId'>;

/** A preset security group, with its rules. */
export interface SecurityGroupSeed extends Pick<SecurityGroupRecord, 'id' | 'name' | 'projectId'> {
  readonly description?: string;
  readonly rules?: readonly RuleSeed[];
}

/** The preset networks and security groups. */
export interface NetworksSeed {
  readonly networks?: readonly NetworkSeed[];
  readonly securityGroups?: readonly SecurityGroupSeed[];
}

/** Creates the preset networks and security groups that do not exist yet. Existing ones are not changed. */
export async function seedNetworks(context: NetworkContext, seed: NetworksSeed): Promise<void> {
  const { store, clock } = context;
  for (const { id, projectId = '', subnets: subnetSeeds = [], ...fields } of seed.networks ?? []) {
    for (const subnet of subnetSeeds) checkSubnet(subnet);
    await retryOnUniqueViolation(store, async (tx) => {
      if (await networks.get(tx, id)) return;
      const subnetIds: string[] = [];
      for (const [index, subnet] of subnetSeeds.entries()) {
        const { id: subnetId = derivedUuid(`subnet/${id}/${index}`), gatewayIp = defaultGateway(subnet.cidr) } = subnet;
        const record = { ...subnet, id: subnetId, networkId: id, projectId, gatewayIp };
        await subnets.insert(tx, newSubnetRecord(record, clock.now()));
        subnetIds.push(subnetId);
      }
      const isShared = projectId === '' && !fields.external;
      await insertNetwork(context, tx, { shared: isShared, ...fields, id, projectId, subnetIds }, clock.now());
    });
  }
  for (const { id, name, projectId, description = '', rules: ruleSeeds = [] } of seed.securityGroups ?? []) {
    await retryOnUniqueViolation(store, async (tx) => {
      if (await securityGroups.get(tx, id)) return;
      const now = clock.now();
      await securityGroups.insert(tx, { ...initialFields(now), id, name, projectId, description });
      for (const [index, rule] of ruleSeeds.entries())
        await rules.insert(tx, {
          ethertype: 'IPv4',
          protocol: null,
          portMin: null,
          portMax: null,
          remoteCidr: null,
          remoteGroupId: null,
          description: '',
          ...rule,
          id: derivedUuid(`rule/${id}/${index}`),
          securityGroupId: id,
          projectId,
          createdAt: now,
        });
    });
  }
}
