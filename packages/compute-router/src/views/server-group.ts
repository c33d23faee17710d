import type { GroupWithMembers } from '@apistrata/compute-engine/api';
import { since, until } from '@apistrata/microversion';
import { view } from '@apistrata/microversion-router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';
import { field, text } from './fields.js';

/** OpenAPI descriptions that several fields share. */
export const serverGroupTexts = {
  serverGroup: 'A server group.',
  name: 'Name of the server group, which is not necessarily unique.',
  policies:
    'List that contains exactly one policy: `affinity`, `anti-affinity`, or since 2.15 `soft-affinity` or `soft-anti-affinity`. Replaced by `policy`.',
  policy:
    'Policy of the group: `affinity` (same host), `anti-affinity` (different hosts), or `soft-affinity` or `soft-anti-affinity`, which the scheduler follows if possible.',
  rules: 'Rules that refine the policy.',
  rulesMaxServerPerHost:
    'Maximum number of servers in the group on the same host. Allowed only with `anti-affinity`. Default: 1.',
} as const;

/** Responses can contain all policies at any version, because a group may have been created at a newer version. */
const policy = z.enum(['affinity', 'anti-affinity', 'soft-affinity', 'soft-anti-affinity']);

const rules = z.strictObject({
  max_server_per_host: z.int().min(1).optional().describe(serverGroupTexts.rulesMaxServerPerHost),
});

export const serverGroup = view<GroupWithMembers, ComputeCall>({
  id: text('UUID of the server group.', (g) => g.id),
  name: text(serverGroupTexts.name, (g) => g.name),
  members: field('UUIDs of the servers in the group. Deleted servers are not included.', z.array(z.string()), (g) => [
    ...g.members,
  ]),
  project_id: since(
    '2.13',
    text('ID of the project that owns the group.', (g) => g.projectId),
  ),
  user_id: since(
    '2.13',
    text('ID of the user who created the group.', (g) => g.userId),
  ),
  policies: until(
    '2.63',
    field(serverGroupTexts.policies, z.array(policy).length(1), (g) => [g.policy]),
  ),
  metadata: until(
    '2.63',
    field('Always empty.', z.strictObject({}), () => ({})),
  ),
  policy: since(
    '2.64',
    field(serverGroupTexts.policy, policy, (g) => g.policy),
  ),
  rules: since(
    '2.64',
    field(serverGroupTexts.rules, rules, (g) =>
      g.maxServerPerHost === null ? {} : { max_server_per_host: g.maxServerPerHost },
    ),
  ),
});
