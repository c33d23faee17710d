import type { Resource } from '../reference/resource.js';

export const flavorDocs: Resource = {
  tag: 'flavors',
  about:
    'Flavors: named combinations of virtual CPUs, memory and disk for servers, with extra specs for the scheduler and the driver.',
  parameters: {
    id: 'ID of the flavor (not its name). Below `os-extra_specs`: the key of the extra spec.',
  },
  operations: {
    'GET /flavors': [
      'listFlavors',
      'Lists IDs and names of the flavors that the caller can use: public flavors, and private flavors to which the project has access.',
    ],
    'GET /flavors/detail': [
      'listFlavorsDetail',
      'Lists flavors with details. Extra specs are included if the policy allows the caller to read them.',
    ],
    'GET /flavors/{id}': [
      'showFlavor',
      'Shows a flavor. A private flavor is visible only to projects with access and to administrators.',
    ],
    'POST /flavors': [
      'createFlavor',
      'Creates a flavor. Only the description can be changed later.',
      { 409: 'A flavor with this name or ID exists.' },
    ],
    'PUT /flavors/{id}': [
      'updateFlavor',
      'Updates the description of a flavor. Other attributes cannot change because servers keep a copy of their flavor.',
    ],
    'DELETE /flavors/{id}': [
      'deleteFlavor',
      'Deletes a flavor. Existing servers keep their copy of the flavor and are not affected.',
    ],
    'GET /flavors/{flavor_id}/os-flavor-access': [
      'listFlavorAccess',
      'Lists the projects with access to a private flavor. Returns 404 for a public flavor.',
    ],
    'POST /flavors/{id}/action addTenantAccess': [
      'addFlavorAccess',
      'Grants a project access to a private flavor. Until 2.6, a public flavor is accepted without effect.',
      { 409: 'The project already has access. Since 2.7: or the flavor is public.' },
    ],
    'POST /flavors/{id}/action removeTenantAccess': [
      'removeFlavorAccess',
      'Revokes the access of a project to a private flavor. Existing servers of the project are not affected.',
    ],
    'GET /flavors/{flavor_id}/os-extra_specs': [
      'listFlavorExtraSpecs',
      'Lists the extra specs of a flavor: key-value pairs that define further requirements for the scheduler and the driver.',
    ],
    'POST /flavors/{flavor_id}/os-extra_specs': [
      'createFlavorExtraSpecs',
      'Creates or replaces extra specs of a flavor. Since 2.86, values of known keys are validated.',
      { 409: 'Another request changed the same extra specs concurrently.' },
    ],
    'GET /flavors/{flavor_id}/os-extra_specs/{id}': [
      'showFlavorExtraSpec',
      'Shows an extra spec of a flavor, as an object with one key.',
    ],
    'PUT /flavors/{flavor_id}/os-extra_specs/{id}': [
      'updateFlavorExtraSpec',
      'Updates an extra spec of a flavor. The request body has exactly one key, which must equal the key in the path. Since 2.86, values of known keys are validated.',
      { 409: 'Another request changed the same extra spec concurrently.' },
    ],
    'DELETE /flavors/{flavor_id}/os-extra_specs/{id}': ['deleteFlavorExtraSpec', 'Deletes an extra spec of a flavor.'],
  },
  fields: {
    'query.is_public':
      'Filters by visibility: `true` for public flavors, `false` for private flavors, `none` for both. Administrators only; ignored for other callers.',
    'query.minRam': 'Filters flavors by minimum memory, in MiB.',
    'query.minDisk': 'Filters flavors by minimum root disk, in GiB.',
    'query.name': 'Filters flavors by name, as a regular expression.',
    flavors: 'The flavors of this page.',
    flavors_links: 'Link to the next page. Absent on the last page.',
    flavor: 'A flavor.',
    id: 'ID of the flavor: a string. Generated if absent or `auto` in the create request.',
    name: 'Name of the flavor. Unique.',
    description: 'Description of the flavor, or null.',
    vcpus: 'Number of virtual CPUs.',
    ram: 'Memory, in MiB.',
    disk: 'Root disk, in GiB. 0 means the size of the image, or a root disk on a volume.',
    'OS-FLV-EXT-DATA:ephemeral': 'Ephemeral disk, in GiB.',
    swap: 'Swap disk, in MiB. In responses, no swap disk is an empty string until 2.74 and 0 since 2.75.',
    rxtx_factor:
      'Network bandwidth relative to other flavors. Without effect: only a removed networking service used it.',
    'os-flavor-access:is_public':
      'Whether all projects can use the flavor. If false, only projects with access can use it.',
    'OS-FLV-DISABLED:disabled': 'Whether the flavor is disabled. Always false.',
    extra_specs: 'Extra specs of the flavor, as key-value pairs. Present if the policy allows the caller to read them.',
    flavor_access: 'The projects with access to the flavor.',
    'flavor_access.flavor_id': 'ID of the flavor.',
    'flavor_access.tenant_id': 'ID of a project with access.',
    addTenantAccess: 'The access to grant.',
    'addTenantAccess.tenant': 'ID of the project to grant access to.',
    removeTenantAccess: 'The access to revoke.',
    'removeTenantAccess.tenant': 'ID of the project to revoke access from.',
  },
};
