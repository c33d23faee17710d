import { Rejection } from '@apistrata/compute-engine';
import type { SecurityGroup } from '@apistrata/compute-engine/catalogs';
import { derive, described, object, one, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import type { ComputeCall } from '../../http/call.js';
import { operation } from '../../operation.js';
import { commonTexts } from '../../reference/common-texts.js';
import { nullableText } from '../../schemas/reply-types.js';
import { isStorable, STORABLE_RULE } from '../../schemas/storable-text.js';
import { uuid } from '../../schemas/types.js';
import { offsetPage, offsetParameters } from './offset-page.js';
import { networkProxyDocs } from './proxy-docs.js';
import { withRejectionCodes } from './rejected-as.js';
import {
  type RemoteGroup,
  ruleTexts,
  securityGroupRule,
  toApiRule,
  toApiRules,
  toNetworkingRule,
} from './security-group-rule.js';

/** OpenAPI descriptions that several fields share. */
const securityGroupTexts = {
  name: 'Name of the security group. Unique in its project.',
  description: 'Description of the security group or rule.',
  securityGroup: 'A security group.',
  securityGroupRule: 'A security group rule.',
} as const;

const securityGroup = object({
  id: described('UUID of the security group.', z.string()),
  name: described(securityGroupTexts.name, z.string()),
  description: described(securityGroupTexts.description, nullableText),
  tenant_id: described(commonTexts.tenantId, z.string()),
  rules: described(
    'Ingress rules.',
    derive(securityGroupRule, (item) => item.array()),
  ),
});

/** The networking service reports these errors as conflicts, but this API returns 400. */
const badRequestCodes = {
  SECURITY_GROUP_IN_USE: 'BAD_REQUEST',
  SECURITY_GROUP_RULE_EXISTS: 'BAD_REQUEST',
} as const;

const textSchema = z.string().max(255);
const groupBody = z.looseObject({
  security_group: z
    .looseObject({
      name: textSchema.describe(securityGroupTexts.name),
      description: textSchema.describe(securityGroupTexts.description),
    })
    .describe(securityGroupTexts.securityGroup),
});

const groupPaths = { path: '/os-security-groups', item: '/os-security-groups/{id}' } as const;
const rulePaths = { path: '/os-security-group-rules', item: '/os-security-group-rules/{id}' } as const;

function parseGroupId(id: string): string {
  const parsedId = uuid.safeParse(id);
  if (!parsedId.success) throw new Rejection('BAD_REQUEST', 'Security group id should be uuid');
  return parsedId.data;
}

function findGroup({ engine, caller, params }: ComputeCall & { readonly params: { readonly id: string } }) {
  return engine.catalogs.networks.getSecurityGroup(caller, parseGroupId(params.id));
}

/**
 * Loads the groups that the rules of `groups` refer to. Returns a function that converts one of `groups` to this API's
 * representation, with its rules.
 */
async function createGroupConverter({ engine, caller }: ComputeCall, groups: readonly SecurityGroup[]) {
  const remoteGroups = new Map<string, RemoteGroup>(groups.map((group) => [group.id, group]));
  const remote = groups.flatMap(({ rules }) => rules.flatMap(({ remoteGroupId }) => remoteGroupId ?? []));
  const missingIds = [...new Set(remote)].filter((id) => !remoteGroups.has(id));
  if (missingIds.length > 0) {
    for (const group of await engine.catalogs.networks.listSecurityGroups(caller, { ids: missingIds }))
      remoteGroups.set(group.id, group);
  }
  return ({ id, name, description, projectId, rules }: SecurityGroup) => ({
    id,
    name,
    description,
    tenant_id: projectId,
    rules: toApiRules(rules, remoteGroups),
  });
}

const toApiGroups = async (call: ComputeCall, groups: readonly SecurityGroup[]) =>
  groups.map(await createGroupConverter(call, groups));

const toApiGroup = async (call: ComputeCall, group: SecurityGroup) => ({
  security_group: (await createGroupConverter(call, [group]))(group),
});

/** Rejects names and descriptions that databases cannot store. */
function checkText({ name, description }: { readonly name: string; readonly description: string }) {
  if (!isStorable(`${name}\n${description}`)) throw new Rejection('BAD_REQUEST', STORABLE_RULE.message);
  return { name, description };
}

export const securityGroupProxies = [
  operation({
    ...networkProxyDocs,
    name: 'listSecurityGroups',
    method: 'GET',
    path: groupPaths.path,
    summary: 'List security groups',
    description: 'Lists the security groups of the project with their rules.',
    policy: 'os_compute_api:os-security-groups:get',
    status: 200,
    errors: [404],
    query: query(
      {
        ...offsetParameters,
        all_tenants: described(
          'Whether to list the security groups of all projects. Any value means true. Administrators only.',
          one(z.string()),
        ),
      },
      { extra: 'ignore' },
    ),
    reply: { security_groups: described('The security groups on this page.', [securityGroup]) },
    run: async (call) => {
      const allProjects = call.query.all_tenants !== undefined && call.context.isAdmin;
      const projectId = allProjects ? undefined : call.caller.projectId;
      const groups = await call.engine.catalogs.networks.listSecurityGroups(call.caller, { projectId });
      const sortKey = (group: SecurityGroup) => `${group.projectId}\0${group.name}`;
      const sorted = [...groups].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : sortKey(a) > sortKey(b) ? 1 : 0));
      return { security_groups: await toApiGroups(call, offsetPage(call, sorted, call.query)) };
    },
  }),
  operation({
    ...networkProxyDocs,
    name: 'createSecurityGroup',
    method: 'POST',
    path: groupPaths.path,
    summary: 'Create a security group',
    description: 'Creates a security group without ingress rules.',
    policy: 'os_compute_api:os-security-groups:create',
    status: 200,
    errors: [400, 403],
    body: groupBody,
    reply: { security_group: described(securityGroupTexts.securityGroup, securityGroup) },
    run: async (call) => {
      const { networks } = call.engine.catalogs;
      return toApiGroup(call, await networks.createSecurityGroup(call.caller, checkText(call.body.security_group)));
    },
  }),
  operation({
    ...networkProxyDocs,
    name: 'showSecurityGroup',
    method: 'GET',
    path: groupPaths.item,
    summary: 'Show a security group',
    description: 'Shows a security group with its rules.',
    policy: 'os_compute_api:os-security-groups:show',
    status: 200,
    errors: [400, 404],
    target: findGroup,
    reply: { security_group: described(securityGroupTexts.securityGroup, securityGroup) },
    run: (call) => toApiGroup(call, call.target),
  }),
  operation({
    ...networkProxyDocs,
    name: 'updateSecurityGroup',
    method: 'PUT',
    path: groupPaths.item,
    summary: 'Update a security group',
    description: 'Updates the name and the description of a security group.',
    policy: 'os_compute_api:os-security-groups:update',
    status: 200,
    errors: [400, 404],
    body: groupBody,
    target: findGroup,
    reply: { security_group: described(securityGroupTexts.securityGroup, securityGroup) },
    run: async (call) => {
      const { engine, caller, target, body } = call;
      const change = checkText(body.security_group);
      return toApiGroup(call, await engine.catalogs.networks.updateSecurityGroup(caller, target.id, change));
    },
  }),
  operation({
    ...networkProxyDocs,
    name: 'deleteSecurityGroup',
    method: 'DELETE',
    path: groupPaths.item,
    summary: 'Delete a security group',
    description: 'Deletes a security group. It must not be assigned to a port.',
    policy: 'os_compute_api:os-security-groups:delete',
    status: 202,
    errors: [400, 404],
    target: findGroup,
    run: ({ engine, caller, target }) =>
      withRejectionCodes(badRequestCodes, engine.catalogs.networks.deleteSecurityGroup(caller, target.id)),
  }),
  operation({
    ...networkProxyDocs,
    name: 'createSecurityGroupRule',
    method: 'POST',
    path: rulePaths.path,
    summary: 'Create a security group rule',
    description: 'Creates a rule in a security group.',
    policy: 'os_compute_api:os-security-groups:rule:create',
    status: 200,
    errors: [400, 403, 404],
    body: z.looseObject({
      security_group_rule: z
        .looseObject({
          parent_group_id: uuid.describe(ruleTexts.parentGroupId),
          group_id: uuid
            .nullish()
            .describe('UUID of a security group from whose members traffic is allowed. Null if `cidr` is set.'),
          ip_protocol: z.unknown().optional().describe(ruleTexts.ipProtocol),
          from_port: z.unknown().optional().describe(ruleTexts.fromPort),
          to_port: z.unknown().optional().describe(ruleTexts.toPort),
          cidr: z
            .unknown()
            .optional()
            .describe('Source addresses in CIDR notation. Default: all addresses, unless `group_id` is set.'),
        })
        .describe(securityGroupTexts.securityGroupRule),
    }),
    target: ({ engine, caller, body }) =>
      engine.catalogs.networks.getSecurityGroup(caller, body.security_group_rule.parent_group_id),
    reply: { security_group_rule: described(securityGroupTexts.securityGroupRule, securityGroupRule) },
    run: async ({ engine, caller, body }) => {
      const { networks } = engine.catalogs;
      const request = toNetworkingRule(body.security_group_rule);
      const remote = request.remoteGroupId ? await networks.getSecurityGroup(caller, request.remoteGroupId) : undefined;
      const created = await withRejectionCodes(badRequestCodes, networks.createSecurityGroupRule(caller, request));
      return { security_group_rule: toApiRule(created, remote) };
    },
  }),
  operation({
    ...networkProxyDocs,
    name: 'deleteSecurityGroupRule',
    method: 'DELETE',
    path: rulePaths.item,
    summary: 'Delete a security group rule',
    description: 'Deletes a security group rule.',
    policy: 'os_compute_api:os-security-groups:rule:delete',
    status: 202,
    errors: [400, 404],
    run: ({ engine, caller, params }) =>
      engine.catalogs.networks.deleteSecurityGroupRule(caller, parseGroupId(params.id)),
  }),
];
