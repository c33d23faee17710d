import type { SecurityGroup, SecurityGroupRule } from '@apistrata/compute-engine';
import { object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { operation } from '../../operation.js';
import { idText } from '../../schemas/id-text.js';
import { nullableText } from '../../schemas/reply-types.js';
import { parentServer, serverById } from './target.js';

const path = '/servers/{id}/action';

const rule = z.strictObject({
  id: z.string(),
  parent_group_id: z.string(),
  ip_protocol: nullableText,
  from_port: z.int().min(-1).nullable(),
  to_port: z.int().min(-1).nullable(),
  group: z.strictObject({ name: z.string().optional(), tenant_id: z.string().optional() }),
  ip_range: z.strictObject({ cidr: z.string().optional() }),
});

const group = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: nullableText,
  tenant_id: z.string(),
  rules: z.array(rule),
});

/** What a rule without ports lets through, in the notation of this API. */
function portsOf({ protocol, portMin, portMax }: SecurityGroupRule): readonly [number | null, number | null] {
  if (portMin !== null || portMax !== null) return [portMin, portMax];
  if (protocol === 'icmp') return [-1, -1];
  return protocol === 'tcp' || protocol === 'udp' ? [1, 65535] : [null, null];
}

function showRule(r: SecurityGroupRule, groups: ReadonlyMap<string, SecurityGroup>): z.infer<typeof rule> {
  const [from_port, to_port] = portsOf(r);
  const remote = r.remoteGroupId === null ? undefined : groups.get(r.remoteGroupId);
  const anywhere = r.ethertype === 'IPv6' ? '::/0' : '0.0.0.0/0';
  return {
    id: r.id,
    parent_group_id: r.securityGroupId,
    ip_protocol: r.protocol,
    from_port,
    to_port,
    group: remote ? { name: remote.name, tenant_id: remote.projectId } : {},
    ip_range: r.remoteGroupId === null ? { cidr: r.remoteCidr ?? anywhere } : {},
  };
}

export const serverSecurityGroups = [
  operation({
    method: 'GET',
    path: '/servers/{server_id}/os-security-groups',
    summary: 'List the security groups of a server',
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
          rules: rules.filter(({ direction }) => direction === 'ingress').map((r) => showRule(r, byId)),
        })),
      };
    },
  }),
  operation({
    method: 'POST',
    path,
    action: 'addSecurityGroup',
    summary: 'Add a security group to a server',
    policy: 'os_compute_api:os-security-groups:add',
    status: 202,
    errors: [400, 404, 409],
    body: object({ addSecurityGroup: z.looseObject({ name: idText.min(1) }) }),
    target: serverById,
    run: ({ engine, context, target, body }) =>
      engine.serverNetwork.addSecurityGroup(context, target, body.addSecurityGroup.name),
  }),
  operation({
    method: 'POST',
    path,
    action: 'removeSecurityGroup',
    summary: 'Remove a security group from a server',
    policy: 'os_compute_api:os-security-groups:remove',
    status: 202,
    errors: [400, 404, 409],
    body: object({ removeSecurityGroup: z.looseObject({ name: idText.min(1) }) }),
    target: serverById,
    run: ({ engine, context, target, body }) =>
      engine.serverNetwork.removeSecurityGroup(context, target, body.removeSecurityGroup.name),
  }),
];
