import { at, until } from '@apistrata/microversion';
import { object } from '@apistrata/microversion/schema';
import { z } from 'zod';
import { requireKnownProject } from '../http/known-project.js';
import { operation } from '../operation.js';

const path = '/flavors/{id}/action';
const tenant = object({ tenant: z.string().min(1).max(255) });
const reply = { flavor_access: z.array(z.strictObject({ flavor_id: z.string(), tenant_id: z.string() })) };

/** Until 2.6, access to a public flavor could also be granted to a project, without effect. */
const publicToo = until('2.6', true);

function accessOf(flavorId: string, projects: readonly string[]) {
  return { flavor_access: projects.map((project) => ({ flavor_id: flavorId, tenant_id: project })) };
}

export const flavorAccess = [
  operation({
    method: 'GET',
    path: '/flavors/{flavor_id}/os-flavor-access',
    summary: 'List the projects with access to a flavor',
    policy: 'os_compute_api:os-flavor-access',
    status: 200,
    errors: [404],
    reply,
    run: async ({ engine, context, params: { flavor_id } }) =>
      accessOf(flavor_id, await engine.flavors.access(context, flavor_id)),
  }),
  operation({
    method: 'POST',
    path,
    action: 'addTenantAccess',
    summary: 'Grant flavor access to a project',
    policy: 'os_compute_api:os-flavor-access:add_tenant_access',
    status: 200,
    errors: [400, 403, 404, 409],
    body: object({ addTenantAccess: tenant }),
    reply,
    run: async (call) => {
      const { engine, context, params, version } = call;
      const { tenant: projectId } = call.body.addTenantAccess;
      await requireKnownProject(call, projectId);
      const options = { publicToo: at(publicToo, version) ?? false };
      const flavor = await engine.flavors.grant(context, params.id, projectId, options);
      return accessOf(flavor.id, flavor.projects);
    },
  }),
  operation({
    method: 'POST',
    path,
    action: 'removeTenantAccess',
    summary: 'Revoke flavor access from a project',
    policy: 'os_compute_api:os-flavor-access:remove_tenant_access',
    status: 200,
    errors: [400, 403, 404],
    body: object({ removeTenantAccess: tenant }),
    reply,
    run: async ({ engine, context, params, body: { removeTenantAccess } }) => {
      const flavor = await engine.flavors.revoke(context, params.id, removeTenantAccess.tenant);
      return accessOf(flavor.id, flavor.projects);
    },
  }),
];
