// Valid requests for placement's operations, in the newest version or by version. See `placement-fixture.ts`.

interface RequestSample {
  /** The path and query; default: the path of the operation with the ids that `stage()` returns. */
  readonly path?: string;
  /** The path of a resource that the request creates. */
  readonly createdPath?: string;
  /** The body. Fields that later versions introduced are removed. */
  readonly body?: unknown | ((minor: number) => unknown);
}

const allocation = (generation: number | null) => ({
  allocations: { '{provider}': { resources: { VCPU: 1 }, generation: 1 } },
  project_id: 'p',
  user_id: 'u',
  consumer_generation: generation,
  mappings: { _A: ['{provider}'] },
  consumer_type: 'INSTANCE',
});

const { allocations, project_id, user_id } = allocation(null);
const oldAllocation = { allocations, project_id, user_id };
const oldestAllocation = {
  ...oldAllocation,
  allocations: [{ resource_provider: { uuid: '{provider}' }, resources: { VCPU: 1 } }],
};

function allocationAt(minor: number) {
  if (minor < 12) return oldestAllocation;
  return minor < 28 ? oldAllocation : allocation(null);
}

const inventory = {
  resource_provider_generation: '{generation}',
  total: 50,
  reserved: 1,
  min_unit: 1,
  max_unit: 10,
  step_size: 1,
  allocation_ratio: 1.5,
};

const childInventories = {
  resource_provider_generation: 0,
  inventories: { VCPU: { ...inventory, resource_provider_generation: 0 } },
};

const aggregate = '33333333-3333-4333-8333-333333333333';
const provider = '/resource_providers/{provider}';

export const SAMPLES: Readonly<Record<string, RequestSample>> = {
  'POST /resource_classes': { body: { name: '{freshClass}' } },
  'GET /resource_classes/{name}': { path: '/resource_classes/{usedClass}' },
  'PUT /resource_classes/{name}': {
    path: '/resource_classes/{unusedClass}',
    createdPath: '/resource_classes/{freshClass}',
    body: (minor: number) => (minor < 7 ? { name: '{freshClass}' } : undefined),
  },
  'DELETE /resource_classes/{name}': { path: '/resource_classes/{unusedClass}' },
  'POST /resource_providers': { body: { name: '{fresh}', uuid: '{fresh}', parent_provider_uuid: '{provider}' } },
  'PUT /resource_providers/{uuid}': {
    path: '/resource_providers/{child}',
    body: { name: '{fresh}', parent_provider_uuid: '{provider}' },
  },
  'DELETE /resource_providers/{uuid}': { path: '/resource_providers/{child}' },
  'POST /resource_providers/{uuid}/inventories': { body: { ...inventory, resource_class: 'MEMORY_MB' } },
  'PUT /resource_providers/{uuid}/inventories': {
    body: { resource_provider_generation: '{generation}', inventories: { VCPU: inventory, DISK_GB: { total: 1 } } },
  },
  'DELETE /resource_providers/{uuid}/inventories': { path: '/resource_providers/{child}/inventories' },
  'GET /resource_providers/{uuid}/inventories/{resource_class}': { path: `${provider}/inventories/VCPU` },
  'PUT /resource_providers/{uuid}/inventories/{resource_class}': {
    path: `${provider}/inventories/DISK_GB`,
    body: inventory,
  },
  'DELETE /resource_providers/{uuid}/inventories/{resource_class}': { path: `${provider}/inventories/DISK_GB` },
  'PUT /resource_providers/{uuid}/aggregates': {
    body: (minor: number) =>
      minor < 19 ? [aggregate] : { aggregates: [aggregate], resource_provider_generation: '{generation}' },
  },
  'POST /allocations': { body: { '{fresh}': allocation(null) } },
  'PUT /allocations/{consumer_uuid}': {
    path: '/allocations/{fresh}',
    body: allocationAt,
  },
  'GET /allocation_candidates': { path: '/allocation_candidates?resources=VCPU:1' },
  'GET /traits/{name}': { path: '/traits/{usedTrait}' },
  'PUT /traits/{name}': { path: '/traits/{unusedTrait}', createdPath: '/traits/{freshTrait}' },
  'DELETE /traits/{name}': { path: '/traits/{unusedTrait}' },
  'PUT /resource_providers/{uuid}/traits': {
    body: { traits: ['COMPUTE_NODE', 'HW_CPU_X86_AVX'], resource_provider_generation: '{generation}' },
  },
  'GET /usages': { path: '/usages?project_id=p' },
  'POST /reshaper': {
    body: {
      inventories: { '{child}': childInventories },
      allocations: {
        '{fresh}': { ...allocation(null), allocations: { '{child}': { resources: { VCPU: 1 }, generation: 1 } } },
      },
    },
  },
};
