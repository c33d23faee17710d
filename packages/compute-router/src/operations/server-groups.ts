import { Rejection } from '@apistrata/compute-engine';
import { between, since, until } from '@apistrata/microversion';
import { described, object, one, query } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { pageSize } from '../http/paging.js';
import { operation } from '../operation.js';
import { commonTexts } from '../reference/common-texts.js';
import { resource } from '../reference/resource.js';
import { rejectedSince275 } from '../schemas/extra-parameters.js';
import { limitSchema, name, positiveInteger } from '../schemas/types.js';
import { serverGroup, serverGroupTexts } from '../views/server-group.js';

const serverGroupDocs = resource({
  tag: 'server-groups',
  parameters: { id: 'UUID of the server group.' },
});

const hardPolicies = ['anti-affinity', 'affinity'] as const;
const policy = z.enum([...hardPolicies, 'soft-anti-affinity', 'soft-affinity']);

export const serverGroupOperations = [
  operation({
    ...serverGroupDocs,
    name: 'listServerGroups',
    method: 'GET',
    path: '/os-server-groups',
    summary: 'List server groups',
    description: 'Lists the server groups of the project. Administrators can list the server groups of all projects.',
    policy: 'os_compute_api:os-server-groups:index',
    status: 200,
    query: query(
      {
        all_projects: described(
          'Whether to list the server groups of all projects. Any value means true. Administrators only; ignored for other callers.',
          one(z.string()),
        ),
        limit: described(commonTexts.limit, one(limitSchema)),
        offset: described(commonTexts.offset, one(limitSchema)),
      },
      { extra: rejectedSince275 },
    ),
    reply: { server_groups: described('The server groups on this page.', [serverGroup]) },
    run: async (call) => {
      const { all_projects, limit, offset } = call.query;
      // Any value of `all_projects` means true. The parameter has an effect only for administrators.
      const allProjects = all_projects !== undefined && call.context.isAdmin;
      if (allProjects) call.require('os_compute_api:os-server-groups:index:all_projects');
      // In this operation, a limit of 0 means the maximum page size.
      const size = pageSize(call, limit || undefined);
      return { server_groups: await call.engine.serverGroups.list(call.context, { allProjects, limit: size, offset }) };
    },
  }),
  operation({
    ...serverGroupDocs,
    name: 'createServerGroup',
    method: 'POST',
    path: '/os-server-groups',
    summary: 'Create a server group',
    description:
      'Creates an empty server group. To add a server to a group, create the server with the scheduler hint `group`. The policy of a group cannot be changed.',
    policy: 'os_compute_api:os-server-groups:create',
    status: 200,
    errors: [400, 403, 409],
    when: {
      403: 'The policy does not allow the operation, or the quota for server groups is exceeded.',
      409: 'The hosts do not support the policy.',
    },
    body: object({
      server_group: described(
        serverGroupTexts.serverGroup,
        object({
          name: described(serverGroupTexts.name, name),
          policies: [
            until(
              '2.14',
              described(
                serverGroupTexts.policies,
                z.array<z.ZodType<z.infer<typeof policy>>>(z.enum(hardPolicies)).length(1),
              ),
            ),
            between('2.15', '2.63', described(serverGroupTexts.policies, z.array(policy).length(1))),
          ],
          policy: since('2.64', described(serverGroupTexts.policy, policy)),
          rules: since(
            '2.64',
            described(
              serverGroupTexts.rules,
              z
                .strictObject({
                  max_server_per_host: positiveInteger.optional().describe(serverGroupTexts.rulesMaxServerPerHost),
                })
                .optional(),
            ),
          ),
        }),
      ),
    }),
    reply: { server_group: described(serverGroupTexts.serverGroup, serverGroup) },
    run: async ({ engine, context, body: { server_group: requested } }) => {
      // The schema requires either `policy` or `policies`.
      const requestedPolicy = requested.policy ?? (requested.policies?.[0] as z.infer<typeof policy>);
      const maxServerPerHost = requested.rules?.max_server_per_host;
      if (maxServerPerHost !== undefined && requestedPolicy !== 'anti-affinity')
        throw new Rejection('BAD_REQUEST', 'Only anti-affinity policy supports rules.');
      const newGroup = { name: requested.name, policy: requestedPolicy, maxServerPerHost };
      return { server_group: await engine.serverGroups.create(context, newGroup) };
    },
  }),
  operation({
    ...serverGroupDocs,
    name: 'showServerGroup',
    method: 'GET',
    path: '/os-server-groups/{id}',
    summary: 'Show a server group',
    description: 'Shows a server group with its members.',
    policy: 'os_compute_api:os-server-groups:show',
    status: 200,
    errors: [404],
    target: ({ engine, context, params }) => engine.serverGroups.get(context, params.id),
    reply: { server_group: described(serverGroupTexts.serverGroup, serverGroup) },
    run: ({ target }) => ({ server_group: target }),
  }),
  operation({
    ...serverGroupDocs,
    name: 'deleteServerGroup',
    method: 'DELETE',
    path: '/os-server-groups/{id}',
    summary: 'Delete a server group',
    description: 'Deletes a server group. Its servers are kept, but no longer belong to a group.',
    policy: 'os_compute_api:os-server-groups:delete',
    status: 204,
    errors: [404],
    target: ({ engine, context, params }) => engine.serverGroups.get(context, params.id),
    run: ({ engine, target }) => engine.serverGroups.delete(target.id),
  }),
];
