import type { Preset } from '../../preset/preset.js';
import { lookThenInsert } from '../../store/look-then-insert.js';
import { derivedUuid } from '../derived-uuid.js';
import { dated, insertNetwork, type NetworkContext, newSubnet } from './network-context.js';
import { networkTables } from './network-tables.js';
import { checkSubnet, usualGateway } from './subnets.js';

const { networks, rules, securityGroups, subnets } = networkTables;

/** Networks and security groups of a preset. */
export type NetworksSeed = Pick<Preset, 'networks' | 'securityGroups'>;

/** Adds what is not there yet; what is there stays as it has become. */
export async function seedNetworks({ store, clock }: NetworkContext, seed: NetworksSeed): Promise<void> {
  for (const { id, projectId = '', subnets: nets = [], ...fields } of seed.networks ?? []) {
    for (const subnet of nets) checkSubnet(subnet);
    await lookThenInsert(store, async (tx) => {
      if (await networks.get(tx, id)) return;
      const subnetIds: string[] = [];
      for (const [index, subnet] of nets.entries()) {
        const { id: subnetId = derivedUuid(`subnet/${id}/${index}`), gatewayIp = usualGateway(subnet.cidr) } = subnet;
        const record = { ...subnet, id: subnetId, networkId: id, projectId, gatewayIp };
        await subnets.insert(tx, newSubnet(record, clock.now()));
        subnetIds.push(subnetId);
      }
      const shared = projectId === '' && !fields.external;
      await insertNetwork(tx, { shared, ...fields, id, projectId, subnetIds }, clock.now());
    });
  }
  for (const { id, name, projectId, description = '', rules: given = [] } of seed.securityGroups ?? []) {
    await lookThenInsert(store, async (tx) => {
      if (await securityGroups.get(tx, id)) return;
      const now = clock.now();
      await securityGroups.insert(tx, { ...dated(now), id, name, projectId, description });
      for (const [index, rule] of given.entries())
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
