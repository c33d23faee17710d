import { randomUUID } from 'node:crypto';
import type { Tx } from '@apistrata/record-store';
import { rejectNul } from '../../builtin/json-conditions.js';
import { listPage, type Page } from '../../builtin/list-page.js';
import type { Caller } from '../../caller/caller.js';
import { canAccessProject, isAdmin } from '../../caller/caller-scope.js';
import { CatalogError } from '../../errors/catalog-error.js';
import { type Cidr, canonicalIp, parseCidr } from '../ip-address.js';
import type { NewSecurityGroupRule, SecurityGroupRule } from '../network-catalog.js';
import type { NetworkContext } from './network-context.js';
import { networkTables, type SecurityGroupRecord, type SecurityGroupRuleRecord } from './network-tables.js';

const { securityGroups: groups, rules } = networkTables;

export function toRule({ seq: _, revision: __, ...rule }: SecurityGroupRuleRecord): SecurityGroupRule {
  return rule;
}

function ruleNotFound(id: string): CatalogError {
  return new CatalogError('SECURITY_GROUP_RULE_NOT_FOUND', `Security group rule ${id} does not exist`);
}

function invalidRule(message: string): CatalogError {
  return new CatalogError('SECURITY_GROUP_RULE_INVALID', message);
}

/** Returns a rule with defaults for omitted fields. Rejects contradictory fields. */
function validateRule(rule: NewSecurityGroupRule): Omit<SecurityGroupRule, 'id'> {
  const { portMin = null, portMax = null, remoteGroupId = null } = rule;
  const protocol = rule.protocol?.toLowerCase() ?? null;
  const cidr = rule.remoteCidr
    ? parseCidr(
        rule.remoteCidr.includes('/')
          ? rule.remoteCidr
          : `${rule.remoteCidr}/${rule.remoteCidr.includes(':') ? 128 : 32}`,
      )
    : null;
  if (cidr === undefined) throw invalidRule(`Invalid CIDR ${rule.remoteCidr} given as IP prefix.`);
  if (cidr && remoteGroupId) throw invalidRule('Only remote_ip_prefix or remote_group_id may be provided.');
  const ethertype = rule.ethertype ?? (cidr?.version === 6 ? 'IPv6' : 'IPv4');
  if (cidr && ethertype !== `IPv${cidr.version}`)
    throw invalidRule(`Conflicting value ethertype ${ethertype} for CIDR ${rule.remoteCidr}`);
  const isIcmp = protocol?.includes('icmp') === true;
  if ((portMin !== null || portMax !== null) && protocol === null)
    throw invalidRule('Must also specify protocol if port range is given.');
  if (!isIcmp && portMin !== null && portMax !== null && portMin > portMax)
    throw invalidRule('For TCP/UDP protocols, port_range_min must be <= port_range_max');
  const { securityGroupId, direction, description = '' } = rule;
  // Keeps the host bits, unlike `parseCidr()`, which clears them.
  const remoteCidr = rule.remoteCidr && cidr ? canonicalCidr(rule.remoteCidr, cidr) : null;
  return { securityGroupId, direction, description, protocol, portMin, portMax, remoteCidr, remoteGroupId, ethertype };
}

/** Returns a CIDR with the address in canonical form. Bits after the prefix are not changed. */
function canonicalCidr(text: string, { prefix }: Cidr): string {
  return `${canonicalIp(text.replace(/\/.*$/, ''))}/${prefix}`;
}

const COMPARED_FIELDS = [
  'direction',
  'ethertype',
  'protocol',
  'portMin',
  'portMax',
  'remoteCidr',
  'remoteGroupId',
] as const;

/** Creates the security group rule operations of the embedded network catalog. */
export function createSecurityGroupRuleOperations({ store, clock }: NetworkContext) {
  async function getVisible(caller: Caller, id: string): Promise<SecurityGroupRuleRecord> {
    const rule = await rules.get(store, id);
    if (!rule || !canAccessProject(caller, rule.projectId)) throw ruleNotFound(id);
    return rule;
  }

  /**
   * Locks a rule's security group and its remote group, and returns the former. The groups are locked in the order of
   * their ids, so that concurrent requests for two groups that refer to each other do not deadlock.
   */
  async function lockGroups(tx: Tx, caller: Caller, rule: NewSecurityGroupRule): Promise<SecurityGroupRecord> {
    const { securityGroupId, remoteGroupId } = rule;
    const ids = remoteGroupId ? [securityGroupId, remoteGroupId] : [securityGroupId];
    const lockedGroups = new Map<string, SecurityGroupRecord | undefined>();
    for (const id of [...new Set(ids)].sort()) lockedGroups.set(id, await groups.lock(tx, id));
    for (const id of ids) {
      const group = lockedGroups.get(id);
      if (!group || !canAccessProject(caller, group.projectId))
        throw new CatalogError('SECURITY_GROUP_NOT_FOUND', `Security group ${id} does not exist`);
    }
    return lockedGroups.get(securityGroupId) as SecurityGroupRecord;
  }

  return {
    getSecurityGroupRule: getVisible,

    listSecurityGroupRules: (
      caller: Caller,
      query: { readonly securityGroupId?: string } & Page = {},
    ): Promise<readonly SecurityGroupRuleRecord[]> =>
      listPage(store, rules, 'oldest first', query, (rows) => {
        const visibleRows = isAdmin(caller) ? rows : rows.where('project_id', '=', caller.projectId);
        return query.securityGroupId === undefined
          ? visibleRows
          : visibleRows.where('group_id', '=', query.securityGroupId);
      }),

    async createSecurityGroupRule(caller: Caller, newRule: NewSecurityGroupRule): Promise<SecurityGroupRuleRecord> {
      rejectNul(newRule);
      const rule = validateRule(newRule);
      return store.transaction(async (tx) => {
        const group = await lockGroups(tx, caller, rule);
        const existingRules = await rules.find(tx, (q) => q.where('group_id', '=', rule.securityGroupId));
        const duplicateRule = existingRules.find((other) =>
          COMPARED_FIELDS.every((field) => other[field] === rule[field]),
        );
        if (duplicateRule)
          throw new CatalogError(
            'SECURITY_GROUP_RULE_EXISTS',
            `Security group rule already exists. Rule id is ${duplicateRule.id}.`,
          );
        const now = clock.now();
        await groups.update(tx, { ...group, updatedAt: now });
        return rules.insert(tx, { ...rule, id: randomUUID(), projectId: group.projectId, createdAt: now });
      });
    },

    async deleteSecurityGroupRule(caller: Caller, id: string): Promise<void> {
      const { securityGroupId } = await getVisible(caller, id);
      await store.transaction(async (tx) => {
        const group = await groups.lock(tx, securityGroupId);
        if (!(await rules.delete(tx, id))) throw ruleNotFound(id);
        if (group) await groups.update(tx, { ...group, updatedAt: clock.now() });
      });
    },
  };
}
