import type { Resource } from '../description/resource.js';

export const serverGroupDocs: Resource = {
  tag: 'server-groups',
  about: 'Groups of servers that the scheduler shall put on one host, or on different ones.',
  parameters: { id: 'Id of the server group, a UUID' },
  operations: {
    'GET /os-server-groups': [
      'listServerGroups',
      'The server groups of the project; those of all projects for administrators who ask for them.',
    ],
    'POST /os-server-groups': [
      'createServerGroup',
      'Makes an empty group. Servers join it when they are created, by a scheduler hint; the rule of a group can never change.',
      {
        403: 'The policy does not allow it, or the quota of server groups is used up',
        409: 'The policy needs hosts that are newer than those there are',
      },
    ],
    'GET /os-server-groups/{id}': ['showServerGroup', 'One server group with its members.'],
    'DELETE /os-server-groups/{id}': [
      'deleteServerGroup',
      'Deletes a group. Its servers stay where they are and belong to no group any more.',
    ],
  },
  fields: {
    'query.all_projects': 'With any value, and for administrators: the groups of all projects',
    server_groups: 'The server groups of this page',
    server_group: 'A server group',
    id: 'Id of the server group, a UUID',
    name: 'Name of the server group; others may have the same',
    members: 'Ids of the servers in the group, without deleted ones',
    policies:
      'A list of one: `affinity` or `anti-affinity`, and from 2.15 on `soft-affinity` or `soft-anti-affinity`. Replaced by `policy` in 2.64, since a group never had more than one',
    policy:
      '`affinity` for one host, `anti-affinity` for different ones, `soft-...` for as far as possible. New in 2.64',
    metadata: 'Always empty; up to 2.63',
    rules: 'What the policy means in detail. New in 2.64',
    'rules.max_server_per_host': 'For `anti-affinity`: servers of the group that one host may have; default 1',
    project_id: 'Id of the project that owns the group. New in 2.13',
    user_id: 'Id of the user who made the group. New in 2.13',
  },
};
