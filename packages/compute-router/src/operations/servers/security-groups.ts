import { object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import { idText } from '../../schemas/id-text.js';
import { nullableText } from '../../schemas/reply-types.js';
import { securityGroupRule, showRules } from '../proxies/security-group-rule.js';
import { serverSecurityGroupDocs } from './server-insight.docs.js';
import { serverDocs } from './servers.docs.js';
import { parentServer, serverById } from './target.js';

const path = '/servers/{id}/action';

const group = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: nullableText,
  tenant_id: z.string(),
  rules: z.array(securityGroupRule),
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
    reply: { security_groups: z.array(group) },
    run: async ({ engine, context, target }) => {
      const groups = await engine.serverNetwork.securityGroups(context, target);
      const remote = groups.flatMap(({ rules }) => rules.flatMap(({ remoteGroupId }) => remoteGroupId ?? []));
      const byId = await engine.serverNetwork.groupsById(context, [...new Set(remote)]);
      return {
        security_groups: groups.map(({ id, name, description, projectId, rules }) => ({
          id,
          name,
          description,
          tenant_id: projectId,
          rules: showRules(rules, byId),
        })),
      };
    },
  }),
  operation({
    ...serverDocs,
    name: 'addServerSecurityGroup',
    method: 'POST',
    path,
    action: 'addSecurityGroup',
    summary: 'Add a security group to a server',
    description: 'Adds a security group to all ports of a server.',
    policy: 'os_compute_api:os-security-groups:add',
    status: 202,
    errors: [400, 404, 409],
    body: object({ addSecurityGroup: object({ name: idText.min(1) }) }),
    target: serverById,
    run: ({ engine, context, target, body }) =>
      engine.serverNetwork.addSecurityGroup(context, target, body.addSecurityGroup.name),
  }),
  operation({
    ...serverDocs,
    name: 'removeServerSecurityGroup',
    method: 'POST',
    path,
    action: 'removeSecurityGroup',
    summary: 'Remove a security group from a server',
    description: 'Removes a security group from all ports of a server.',
    policy: 'os_compute_api:os-security-groups:remove',
    status: 202,
    errors: [400, 404, 409],
    body: object({ removeSecurityGroup: object({ name: idText.min(1) }) }),
    target: serverById,
    run: ({ engine, context, target, body }) =>
      engine.serverNetwork.removeSecurityGroup(context, target, body.removeSecurityGroup.name),
  }),
];
