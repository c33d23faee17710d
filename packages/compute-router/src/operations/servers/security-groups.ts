import { derive, described, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import { commonTexts } from '../../reference/common-texts.js';
import { resource } from '../../reference/resource.js';
import { nullableText } from '../../schemas/reply-types.js';
import { storableText } from '../../schemas/storable-text.js';
import { securityGroupRule, toApiRules } from '../proxies/security-group-rule.js';
import { serverAction } from './server-docs.js';
import { parentServer } from './target.js';

const serverSecurityGroupDocs = resource({ tag: 'server-security-groups' });

const groupNameSchema = object({ name: described('Name or UUID of the security group.', storableText.min(1)) });

const group = object({
  id: described('UUID of the security group.', z.string()),
  name: described('Name of the security group.', z.string()),
  description: described('Description of the security group.', nullableText),
  tenant_id: described(commonTexts.tenantId, z.string()),
  rules: described(
    'Ingress rules.',
    derive(securityGroupRule, (item) => item.array()),
  ),
});

export const serverSecurityGroups = [
  operation({
    ...serverSecurityGroupDocs,
    name: 'listServerSecurityGroups',
    method: 'GET',
    path: '/servers/{server_id}/os-security-groups',
    summary: 'List the security groups of a server',
    description: 'Lists the security groups of a server with their rules.',
    policy: 'os_compute_api:os-security-groups:list',
    status: 200,
    errors: [404],
    target: parentServer,
    reply: { security_groups: described('The list of security groups.', [group]) },
    run: async ({ engine, context, target }) => {
      const groups = await engine.serverNetwork.securityGroups(context, target);
      const remoteIds = groups.flatMap(({ rules }) => rules.flatMap(({ remoteGroupId }) => remoteGroupId ?? []));
      const remoteGroups = await engine.serverNetwork.groupsById(context, [...new Set(remoteIds)]);
      return {
        security_groups: groups.map(({ id, name, description, projectId, rules }) => ({
          id,
          name,
          description,
          tenant_id: projectId,
          rules: toApiRules(rules, remoteGroups),
        })),
      };
    },
  }),
  operation({
    ...serverAction,
    name: 'addServerSecurityGroup',
    action: 'addSecurityGroup',
    summary: 'Add a security group to a server',
    description: 'Adds a security group to all ports of a server. Synchronous.',
    policy: 'os_compute_api:os-security-groups:add',
    errors: [400, 404, 409],
    body: object({
      addSecurityGroup: described('The security group to add.', groupNameSchema),
    }),
    run: ({ engine, context, target, body }) =>
      engine.serverNetwork.addSecurityGroup(context, target, body.addSecurityGroup.name),
  }),
  operation({
    ...serverAction,
    name: 'removeServerSecurityGroup',
    action: 'removeSecurityGroup',
    summary: 'Remove a security group from a server',
    description: 'Removes a security group from all ports of a server. Synchronous.',
    policy: 'os_compute_api:os-security-groups:remove',
    errors: [400, 404, 409],
    body: object({
      removeSecurityGroup: described('The security group to remove.', groupNameSchema),
    }),
    run: ({ engine, context, target, body }) =>
      engine.serverNetwork.removeSecurityGroup(context, target, body.removeSecurityGroup.name),
  }),
];
