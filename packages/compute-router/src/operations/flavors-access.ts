import { at, until } from '@apistrata/microversion';
import { described, object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { requireKnownProject } from '../http/known-project.js';
import { operation } from '../operation.js';
import { flavorDocs } from './flavors.js';

const path = '/flavors/{id}/action';
const projectId = z.string().min(1).max(255);
const accessReply = {
  flavor_access: described(
    'The projects with access to the flavor.',
    z.array(
      z.strictObject({
        flavor_id: z.string().describe('ID of the flavor.'),
        tenant_id: z.string().describe('ID of a project with access.'),
      }),
    ),
  ),
};

/** Since 2.7, a request to grant access to a public flavor is rejected. Until 2.6, it is accepted without effect. */
const acceptsPublicFlavors = until('2.6', true);

function toAccessList(flavorId: string, projects: readonly string[]) {
  return { flavor_access: projects.map((project) => ({ flavor_id: flavorId, tenant_id: project })) };
}

export const flavorAccess = [
  operation({
    ...flavorDocs,
    name: 'listFlavorAccess',
    method: 'GET',
    path: '/flavors/{flavor_id}/os-flavor-access',
    summary: 'List the projects with access to a flavor',
    description: 'Lists the projects with access to a private flavor. Returns 404 for a public flavor.',
    policy: 'os_compute_api:os-flavor-access',
    status: 200,
    errors: [404],
    reply: accessReply,
    run: async ({ engine, context, params: { flavor_id } }) =>
      toAccessList(flavor_id, await engine.flavors.access(context, flavor_id)),
  }),
  operation({
    ...flavorDocs,
    name: 'addFlavorAccess',
    method: 'POST',
    path,
    action: 'addTenantAccess',
    summary: 'Grant flavor access to a project',
    description:
      'Grants a project access to a private flavor. Until 2.6, a request for a public flavor is accepted without effect.',
    policy: 'os_compute_api:os-flavor-access:add_tenant_access',
    status: 200,
    errors: [400, 403, 404, 409],
    when: { 409: 'The project already has access to the flavor, or, since 2.7, the flavor is public.' },
    body: object({
      addTenantAccess: described(
        'The project to grant access to.',
        object({ tenant: described('ID of the project to grant access to.', projectId) }),
      ),
    }),
    reply: accessReply,
    run: async (call) => {
      const { engine, context, params, version } = call;
      const { tenant } = call.body.addTenantAccess;
      await requireKnownProject(call, tenant);
      const options = { allowPublic: at(acceptsPublicFlavors, version) ?? false };
      const flavor = await engine.flavors.grant(context, params.id, tenant, options);
      return toAccessList(flavor.id, flavor.projects);
    },
  }),
  operation({
    ...flavorDocs,
    name: 'removeFlavorAccess',
    method: 'POST',
    path,
    action: 'removeTenantAccess',
    summary: 'Revoke flavor access from a project',
    description:
      'Revokes the access of a project to a private flavor. Existing servers of the project are not affected.',
    policy: 'os_compute_api:os-flavor-access:remove_tenant_access',
    status: 200,
    errors: [400, 403, 404],
    body: object({
      removeTenantAccess: described(
        'The project to revoke access from.',
        object({ tenant: described('ID of the project to revoke access from.', projectId) }),
      ),
    }),
    reply: accessReply,
    run: async ({ engine, context, params, body: { removeTenantAccess } }) => {
      const flavor = await engine.flavors.revoke(context, params.id, removeTenantAccess.tenant);
      return toAccessList(flavor.id, flavor.projects);
    },
  }),
];
