import { resource } from '../reference/resource.js';

export const flavorDocs = resource({
  tag: 'flavors',
  parameters: {
    id: 'ID of the flavor (not its name). Below `os-extra_specs`: the key of the extra spec.',
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
});
