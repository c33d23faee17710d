import type { Resource } from '../description/resource.js';

export const flavorDocs: Resource = {
  tag: 'flavors',
  about: 'Sizes of servers: processors, memory and disks that go together under a name, with specs for the scheduler.',
  parameters: {
    id: 'Id of the flavor, not its name; below `os-extra_specs` the key of the spec',
  },
  operations: {
    'GET /flavors': [
      'listFlavors',
      'Ids and names of the flavors that the caller may use: public ones, and private ones that are open to the project.',
    ],
    'GET /flavors/detail': [
      'listFlavorsDetail',
      'The same flavors as the short list, each with its sizes. From 2.61 on extra specs are among them for callers who may read them.',
    ],
    'GET /flavors/{id}': [
      'showFlavor',
      'One flavor with its sizes. A private flavor is found only by projects that it is open to and by administrators.',
    ],
    'POST /flavors': [
      'createFlavor',
      'Makes a flavor. Sizes can never be changed later; from 2.55 on a description can be given, the only thing that can.',
      { 409: 'Another flavor has that name or id' },
    ],
    'PUT /flavors/{id}': [
      'updateFlavor',
      'Replaces the description. Servers keep the flavor as it was when they were made, so nothing else may change.',
    ],
    'DELETE /flavors/{id}': [
      'deleteFlavor',
      'Deletes a flavor. Servers that were made with it keep their copy and run on.',
    ],
    'GET /flavors/{flavor_id}/os-flavor-access': [
      'listFlavorAccess',
      'The projects that may use a private flavor. A public flavor has no such list, which is a 404.',
    ],
    'POST /flavors/{id}/action addTenantAccess': [
      'addFlavorAccess',
      'Lets a project use a private flavor. Up to 2.6 a public flavor was accepted too, without effect.',
      { 409: 'The project has access already, or, from 2.7 on, the flavor is public' },
    ],
    'POST /flavors/{id}/action removeTenantAccess': [
      'removeFlavorAccess',
      'Takes a private flavor from a project. Servers that it has made with it stay.',
    ],
    'GET /flavors/{flavor_id}/os-extra_specs': [
      'listFlavorExtraSpecs',
      'All extra specs: keyed texts that tell scheduler and hypervisor what a server of this size needs beside its size.',
    ],
    'POST /flavors/{flavor_id}/os-extra_specs': [
      'createFlavorExtraSpecs',
      'Adds specs, or replaces those of the same keys. From 2.86 on the values of known keys are checked, so that misspelt ones do not wait until a server cannot be placed.',
      { 409: 'Somebody else changed the same specs meanwhile' },
    ],
    'GET /flavors/{flavor_id}/os-extra_specs/{id}': [
      'showFlavorExtraSpec',
      'One spec, as an object with its key as the only one.',
    ],
    'PUT /flavors/{flavor_id}/os-extra_specs/{id}': [
      'updateFlavorExtraSpec',
      'Sets one spec. The body has its key as the only one, the same as in the path. From 2.86 on known keys are checked.',
      { 409: 'Somebody else changed the same spec meanwhile' },
    ],
    'DELETE /flavors/{flavor_id}/os-extra_specs/{id}': ['deleteFlavorExtraSpec', 'Removes one spec from a flavor.'],
  },
  fields: {
    'query.is_public':
      'For administrators: `true` for public, `false` for private flavors, `none` for both. Others see public ones and their own',
    'query.minRam': 'Only flavors with at least this much memory, in MiB',
    'query.minDisk': 'Only flavors with at least this much root disk, in GiB',
    'query.name': 'Only flavors whose name matches this regular expression. New in 2.102',
    flavors: 'The flavors of this page',
    flavors_links: 'Link to the next page; absent on the last one',
    flavor: 'A flavor',
    id: 'Id of the flavor, a text; made up when it is created without one or with `auto`',
    name: 'Name of the flavor, unique among all',
    description: 'Text for people, or null. New in 2.55',
    vcpus: 'Virtual processors of a server',
    ram: 'Memory of a server in MiB',
    disk: 'Root disk of a server in GiB; 0 for as large as the image is, or a disk in a volume',
    'OS-FLV-EXT-DATA:ephemeral': 'Further disk that goes with the server, in GiB',
    swap: 'Swap disk in MiB. None is an empty text in answers up to 2.74, and 0 from 2.75 on',
    rxtx_factor:
      'Share of network bandwidth relative to other flavors, for a networking service that is gone; refused and no longer shown from 2.102 on',
    'os-flavor-access:is_public': 'Whether every project may use it; false for those that it is opened to, one by one',
    'OS-FLV-DISABLED:disabled': 'Whether it may not be used any more; always false, and no longer shown from 2.102 on',
    extra_specs:
      'Keyed texts for the scheduler and the hypervisor. In answers that show a flavor since 2.61, to those who may read them',
    flavor_access: 'The projects that may use the flavor',
    'flavor_access.flavor_id': 'Id of the flavor',
    'flavor_access.tenant_id': 'Id of a project that may use the flavor',
    addTenantAccess: 'Says that a project shall have access',
    'addTenantAccess.tenant': 'Id of the project to give access to',
    removeTenantAccess: 'Says that a project shall lose its access',
    'removeTenantAccess.tenant': 'Id of the project to take access from',
  },
};
