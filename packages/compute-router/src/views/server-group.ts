import type { GroupWithMembers } from '@apistrata/compute-engine/api';
import { since, until } from '@apistrata/microversion';
import { field, view } from '@apistrata/microversion/router';
import { z } from 'zod';
import type { ComputeCall } from '../http/call.js';

/** All policies at any version: a group may have been created with a newer version. */
const policy = z.enum(['affinity', 'anti-affinity', 'soft-affinity', 'soft-anti-affinity']);

const rules = z.strictObject({ max_server_per_host: z.int().min(1).optional() });

export const serverGroup = view<GroupWithMembers, ComputeCall>({
  id: field(z.string(), (g) => g.id),
  name: field(z.string(), (g) => g.name),
  members: field(z.array(z.string()), (g) => [...g.members]),
  project_id: since(
    '2.13',
    field(z.string(), (g) => g.projectId),
  ),
  user_id: since(
    '2.13',
    field(z.string(), (g) => g.userId),
  ),
  policies: until(
    '2.63',
    field(z.array(policy).length(1), (g) => [g.policy]),
  ),
  metadata: until(
    '2.63',
    field(z.strictObject({}), () => ({})),
  ),
  policy: since(
    '2.64',
    field(policy, (g) => g.policy),
  ),
  rules: since(
    '2.64',
    field(rules, (g) => (g.maxServerPerHost === null ? {} : { max_server_per_host: g.maxServerPerHost })),
  ),
});
