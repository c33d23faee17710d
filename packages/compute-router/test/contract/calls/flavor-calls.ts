import { id, named, nothing, type Prepare, withBody } from './call.js';

export const flavorCalls: Readonly<Record<string, Prepare>> = {
  'GET /flavors': nothing,
  'GET /flavors/detail': nothing,
  'POST /flavors': (cloud) => ({ body: { flavor: { name: cloud.name('flavor'), ram: 64, vcpus: 1, disk: 0 } } }),
  'GET /flavors/{id}': named('1'),
  'PUT /flavors/{id}': withBody(
    id((cloud) => cloud.flavor()),
    { flavor: { description: 'small' } },
  ),
  'DELETE /flavors/{id}': id((cloud) => cloud.flavor()),
  'POST /flavors/{id}/action addTenantAccess': withBody(
    id((cloud) => cloud.flavor({ 'os-flavor-access:is_public': false })),
    { addTenantAccess: { tenant: 'p7' } },
  ),
  'POST /flavors/{id}/action removeTenantAccess': async (cloud) => {
    const flavor = await cloud.flavor({ 'os-flavor-access:is_public': false });
    for (const tenant of ['p7', 'p8']) await cloud.allow(flavor, tenant);
    return { params: { id: flavor }, body: { removeTenantAccess: { tenant: 'p7' } } };
  },
  'GET /flavors/{flavor_id}/os-extra_specs': async (cloud) => ({ params: { flavor_id: await cloud.flavor() } }),
  'POST /flavors/{flavor_id}/os-extra_specs': async (cloud) => ({
    params: { flavor_id: await cloud.flavor() },
    body: { extra_specs: { size: 'small' } },
  }),
  'GET /flavors/{flavor_id}/os-extra_specs/{id}': async (cloud) => ({
    params: { flavor_id: await cloud.flavor(), id: 'colour' },
  }),
  'PUT /flavors/{flavor_id}/os-extra_specs/{id}': async (cloud) => ({
    params: { flavor_id: await cloud.flavor(), id: 'colour' },
    body: { colour: 'red' },
  }),
  'DELETE /flavors/{flavor_id}/os-extra_specs/{id}': async (cloud) => ({
    params: { flavor_id: await cloud.flavor(), id: 'colour' },
  }),
  'GET /flavors/{flavor_id}/os-flavor-access': async (cloud) => {
    const flavor_id = await cloud.flavor({ 'os-flavor-access:is_public': false });
    await cloud.allow(flavor_id, 'p7');
    return { params: { flavor_id } };
  },
};
