import { formatCidr, type NewSecurityGroupRule, parseCidr } from '@apistrata/compute-engine/catalogs';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, fixed, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import type { Wire } from '../service/wire.js';
import { anyId, flag, text } from '../service/wire-types.js';
import { missingResource, networkError } from './network-errors.js';
import { ruleView, securityGroupView } from './network-views.js';
import { checkProtocol, normalizeRule } from './security-rule-checks.js';
import { isAccessible } from './sharing.js';
import { resourceNames, standardFields } from './standard-fields.js';
import { toCamelCase } from './to-camel-case.js';

/**
 * Creates the `default` group of the project in the filter, or else of the caller's project, if the group does not
 * exist. Neutron also does this when it lists groups.
 */
async function createDefaultGroup({ cloud, caller, query }: Call): Promise<void> {
  const projectId = query.get('project_id') ?? query.get('tenant_id') ?? caller.projectId;
  const isAllowed = caller.isAdmin || projectId === caller.projectId;
  if (projectId && isAllowed)
    await cloud.catalogs.networks.resolveSecurityGroups({ ...caller, projectId }, ['default']);
}

/** Returns whether a security group is stateful. */
const isStateful = ({ cloud }: Call, groupId: string) =>
  cloud.documents.table<Wire>('network/security_groups').get(groupId)?.stateful !== false;

/** Rejects a port with both stateful and stateless security groups. */
export function rejectMixedGroups(call: Call, groupIds: unknown): void {
  if (new Set(((groupIds ?? []) as readonly string[]).map((id) => isStateful(call, id))).size > 1)
    throw networkError(
      'SecurityGroupConflict',
      'Error Cannot apply both stateful and stateless security groups on the same port at the same time while attempting the operation.',
    );
}

/** Rejects a change from stateful to stateless, or vice versa, if ports use the security group. */
async function rejectUsedGroup(call: Call, { id }: Doc, stateful: unknown): Promise<void> {
  if (stateful === undefined || stateful === isStateful(call, id)) return;
  const ports = await call.cloud.catalogs.networks.listPorts(call.elevatedCaller);
  if (ports.some(({ securityGroupIds }) => securityGroupIds.includes(id)))
    throw networkError('SecurityGroupInUse', `Security Group ${id} in use.`);
}

/** Security groups. Every project has a group named `default`. */
export const securityGroups: ResourceSpec = {
  ...resourceNames('security_group'),
  tags: true,
  fields: () => ({
    ...standardFields,
    name: settable(text, ''),
    stateful: settable(flag, true, { inDocuments: true, filter: 'only' }),
    shared: derived(false, { inDocuments: true, filter: 'only' }),
    security_group_rules: derived(undefined, { filter: false }),
  }),
  changing: async (call, before, { stateful }) => {
    await rejectUsedGroup(call, before, stateful);
    return undefined;
  },
  storage: {
    list: async (call) => {
      await createDefaultGroup(call);
      return (await call.cloud.catalogs.networks.listSecurityGroups(call.caller)).map(securityGroupView);
    },
    get: async ({ cloud, caller }, id) => securityGroupView(await cloud.catalogs.networks.getSecurityGroup(caller, id)),
    create: async ({ cloud, caller }, body) =>
      securityGroupView(await cloud.catalogs.networks.createSecurityGroup(caller, toCamelCase<{ name: string }>(body))),
    update: async ({ cloud, caller }, { id }, change) =>
      securityGroupView(await cloud.catalogs.networks.updateSecurityGroup(caller, id, toCamelCase(change))),
    remove: ({ cloud, caller }, { id }) => cloud.catalogs.networks.deleteSecurityGroup(caller, id),
  },
};

/** Extends a schema so that null and the empty string count as missing values. */
const allowMissing = <S extends z.ZodType>(schema: S) =>
  z.union([z.null().transform(() => undefined), z.literal('').transform(() => undefined), schema]);
const portNumber = allowMissing(z.union([z.number(), z.string()]));

/** An IP prefix. A single address becomes a /32 or /128 prefix. Host bits are not cleared. */
export const ipPrefix = z
  .string()
  .transform((written) => (written.includes('/') ? written : `${written}/${written.includes(':') ? 128 : 32}`))
  .refine((written) => parseCidr(written) !== undefined, 'is not a valid IP subnet');

export const ethertype = z
  .string()
  .transform((name) => name.toLowerCase())
  .pipe(z.enum(['ipv4', 'ipv6']))
  .transform((name) => (name === 'ipv4' ? 'IPv4' : 'IPv6'));

/** The name or number of an IP protocol, as a string. */
export const protocol = z.union([z.string(), z.number()]).transform((written) => {
  const name = String(written).toLowerCase();
  checkProtocol(name);
  return name;
});

/** Security group rules. */
export const securityGroupRules: ResourceSpec = {
  ...resourceNames('security_group_rule'),
  verbs: ['list', 'show', 'create', 'remove'],
  fields: () => ({
    ...standardFields,
    security_group_id: required(fixed(text.max(36))),
    direction: required(fixed(z.enum(['ingress', 'egress']))),
    ethertype: fixed(ethertype),
    protocol: fixed(allowMissing(protocol)),
    port_range_min: fixed(portNumber),
    port_range_max: fixed(portNumber),
    remote_ip_prefix: fixed(allowMissing(ipPrefix)),
    remote_group_id: fixed(allowMissing(anyId)),
    remote_address_group_id: fixed(allowMissing(anyId), null, { inDocuments: true }),
    normalized_cidr: derived(),
    belongs_to_default_sg: derived(undefined, { filter: 'only' }),
  }),
  async creating(call, rule) {
    const { security_group_id, remote_address_group_id } = rule;
    const normalizedFields = normalizeRule(rule);
    const addressGroup = call.cloud.documents.table<Doc>('network/address_groups').get(String(remote_address_group_id));
    if (remote_address_group_id && !(addressGroup && isAccessible(call, addressGroup)))
      throw missingResource('Address group', String(remote_address_group_id));
    // A rule belongs to its security group's project, even if another project creates the rule.
    const group = await call.cloud.catalogs.networks.getSecurityGroup(call.caller, String(security_group_id));
    return { project_id: group.projectId, ...normalizedFields };
  },
  shows: (_call, { remote_ip_prefix }) => {
    const cidr = typeof remote_ip_prefix === 'string' ? parseCidr(remote_ip_prefix) : undefined;
    return { normalized_cidr: cidr ? formatCidr(cidr) : null };
  },
  storage: {
    list: async (call) => {
      await createDefaultGroup(call);
      const rules = await call.cloud.catalogs.networks.listSecurityGroupRules(call.caller);
      return rules.map((rule) => ruleView(rule));
    },
    get: async ({ cloud, caller }, id) => ruleView(await cloud.catalogs.networks.getSecurityGroupRule(caller, id)),
    create: async ({ cloud, caller }, { project_id: _, ...body }) =>
      ruleView(await cloud.catalogs.networks.createSecurityGroupRule(caller, toCamelCase<NewSecurityGroupRule>(body))),
    update: (_call, before) => before,
    remove: ({ cloud, caller }, { id }) => cloud.catalogs.networks.deleteSecurityGroupRule(caller, id),
  },
};
