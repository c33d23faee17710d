import { resource } from '../reference/resource.js';

export const serverGroupDocs = resource({
  tag: 'server-groups',
  parameters: { id: 'UUID of the server group.' },
  fields: {
    'query.all_projects':
      'Lists the server groups of all projects. Any value enables it. Administrators only; ignored for other callers.',
    server_groups: 'The server groups of this page.',
    server_group: 'A server group.',
    id: 'UUID of the server group.',
    name: 'Name of the server group. Not unique.',
    members: 'UUIDs of the servers in the group, without deleted servers.',
    policies:
      'List with exactly one policy: `affinity`, `anti-affinity`, or since 2.15 `soft-affinity` or `soft-anti-affinity`. Replaced by `policy`.',
    policy:
      'Policy of the group: `affinity` (same host), `anti-affinity` (different hosts), `soft-affinity` or `soft-anti-affinity` (same, as far as possible).',
    metadata: 'Always empty.',
    rules: 'Rules that refine the policy.',
    'rules.max_server_per_host':
      'Maximum number of servers of the group on one host. Only with `anti-affinity`. Default: 1.',
    project_id: 'ID of the project that owns the group.',
    user_id: 'ID of the user who created the group.',
  },
});
