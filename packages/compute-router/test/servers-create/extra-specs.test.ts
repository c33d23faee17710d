import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest, type Client } from '../api-under-test.js';

const owner = { userId: 'ada', projectId: 'f00', roles: ['member'] };

/** Extra specs of a flavor with 2 CPUs and 512 MiB, the original service's message, and image properties. */
const REJECTED: readonly (readonly [
  specs: Record<string, string>,
  expectedMessage: string,
  properties?: Record<string, string>,
])[] = [
  [{ 'hw:mem_page_size': 'foo' }, "Invalid memory page size 'foo'"],
  [{}, "Page size large forbidden against '<empty>'", { hw_mem_page_size: 'large' }],
  [{ 'hw:mem_page_size': 'small' }, "Page size 2048 forbidden against 'small'", { hw_mem_page_size: '2048' }],
  [{ 'hw:numa_nodes': '0' }, "The property 'numa_nodes' cannot be '0'. It must be a number greater than 0"],
  [{ 'hw:numa_nodes': 'x' }, "The property 'numa_nodes' cannot be 'x'. It must be a number greater than 0"],
  [
    { 'hw:numa_nodes': '4' },
    'Instance CPUs and/or memory cannot be evenly distributed across instance NUMA nodes. Explicit assignment of CPUs and memory to nodes is required',
  ],
  [
    {
      'hw:numa_nodes': '2',
      'hw:numa_cpus.0': '0',
      'hw:numa_cpus.1': '0-1',
      'hw:numa_mem.0': '256',
      'hw:numa_mem.1': '256',
    },
    'CPU number 0 is assigned to two nodes',
  ],
  [
    {
      'hw:numa_nodes': '2',
      'hw:numa_cpus.0': '0',
      'hw:numa_cpus.1': '2',
      'hw:numa_mem.0': '256',
      'hw:numa_mem.1': '256',
    },
    'CPU number 2 is larger than max 1',
  ],
  [
    { 'hw:numa_nodes': '1', 'hw:numa_cpus.0': '0', 'hw:numa_mem.0': '512' },
    'CPU number {1} is not assigned to any node',
  ],
  [
    { 'hw:numa_nodes': '1', 'hw:numa_cpus.0': '0-1', 'hw:numa_mem.0': '500' },
    '500 MB of memory assigned, but expected 512 MB',
  ],
  [{ 'hw:numa_nodes': '2', 'hw:numa_cpus.0': '0-1' }, 'CPU and memory allocation must be provided for all NUMA nodes'],
  [
    { 'hw:numa_nodes': '2' },
    "Image property 'hw_numa_nodes' is not permitted to override NUMA configuration set against the flavor",
    { hw_numa_nodes: '2' },
  ],
  [
    { 'hw:cpu_policy': 'foo' },
    "CPU policy requested from 'flavor extra specs' is invalid, given: 'foo', available: '('dedicated', 'shared', 'mixed')'.",
  ],
  [{}, 'Invalid image metadata. Error: Field value foo is invalid', { hw_cpu_policy: 'foo' }],
  [
    { 'hw:cpu_policy': 'shared' },
    "Image property 'hw_cpu_policy' is not permitted to override CPU pinning policy set against the flavor",
    { hw_cpu_policy: 'dedicated' },
  ],
  [
    { 'hw:cpu_policy': 'mixed' },
    "Dedicated CPU set can be specified from either 'hw:cpu_dedicated_mask' or 'hw:cpu_realtime_mask' when using 'mixed' CPU policy. 'hw:cpu_dedicated_mask' and 'hw:cpu_realtime_mask' can not be specified at the same time, or be specified with none of them.",
  ],
  [{ 'hw:cpu_dedicated_mask': '0' }, "Cannot specify 'hw:cpu_dedicated_mask' without the 'mixed' policy."],
  [
    { 'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '0-1' },
    "Mixed instance must have at least 1 pinned vCPU and 1 unpinned vCPU. See 'hw:cpu_dedicated_mask'.",
  ],
  [{ 'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': 'x' }, "Invalid inclusion expression 'x'"],
  [{ 'hw:cpu_thread_policy': 'require' }, 'Cannot set cpu thread pinning policy in a non dedicated cpu pinning policy'],
  [
    { 'hw:cpu_thread_policy': 'foo' },
    "CPU thread policy requested from 'flavor extra specs' is invalid, given: 'foo', available: '('prefer', 'isolate', 'require')'.",
  ],
  [
    { 'hw:cpu_realtime': 'yes' },
    'Use of realtime CPUs requires either one or more non-realtime CPU(s) or offloaded emulator threads.',
  ],
  [
    { 'hw:cpu_realtime': 'yes', 'hw:cpu_realtime_mask': '^0' },
    'Cannot set realtime policy in a non dedicated cpu pinning policy',
  ],
  [
    { 'hw:emulator_threads_policy': 'isolate' },
    'An isolated CPU emulator threads option requires a dedicated CPU policy option.',
  ],
  [
    { 'hw:emulator_threads_policy': 'foo' },
    "CPU emulator threads option requested is invalid, given: 'foo', available: '('share', 'isolate')'.",
  ],
  [{ 'hw:cpu_sockets': 'x' }, "Invalid flavor extra spec. Error: invalid literal for int() with base 10: 'x'"],
  [
    { 'hw:cpu_max_sockets': '1' },
    'Image vCPU topology (sockets=2, cores=0, threads=0) exceeds the limits of the flavor or image (sockets=1, cores=65536, threads=65536)',
    { hw_cpu_sockets: '2' },
  ],
  [
    { 'hw:serial_port_count': 'x' },
    "Number of serial ports specified in flavor is invalid: expected an integer, got 'x'",
  ],
  [
    { 'hw:serial_port_count': '1' },
    'Forbidden to exceed flavor value of number of serial ports passed in image meta.',
    { hw_serial_port_count: '2' },
  ],
  [
    { 'hw:locked_memory': 'true' },
    'locked_memory value in image or flavor is forbidden when mem_page_size is not set.',
  ],
  [
    { 'hw:mem_encryption': 'true' },
    "Memory encryption is requested by hw:mem_encryption extra spec in NAME flavor but the image metadata doesn't have the 'hw_firmware_type' property set to 'uefi'",
  ],
  [{ 'pci_passthrough:alias': 'x:1' }, 'PCI alias x is not defined'],
  [
    { 'hw:cpu_policy': 'dedicated', 'resources:PCPU': '2' },
    "It is not possible to use the 'resources:VCPU' or 'resources:PCPU' extra specs in combination with the 'hw:cpu_policy' extra spec or 'hw_cpu_policy' image metadata property; use one or the other",
  ],
];

/** Valid combinations, which are accepted. */
const ACCEPTED: readonly (readonly [Record<string, string>, Record<string, string>?])[] = [
  [{ 'hw:numa_nodes': '2', 'hw:mem_page_size': 'large' }, { hw_mem_page_size: '2MB' }],
  [
    {
      'hw:numa_nodes': '2',
      'hw:numa_cpus.0': '0',
      'hw:numa_cpus.1': '1',
      'hw:numa_mem.0': '128',
      'hw:numa_mem.1': '384',
    },
  ],
  [{ 'hw:cpu_policy': 'dedicated', 'hw:cpu_thread_policy': 'require', 'hw:emulator_threads_policy': 'isolate' }],
  [{ 'hw:cpu_policy': 'mixed', 'hw:cpu_dedicated_mask': '^1' }],
  [{ 'hw:cpu_policy': 'dedicated', 'hw:cpu_realtime': 'yes', 'hw:cpu_realtime_mask': '^0' }],
  [
    { 'hw:cpu_max_sockets': '4', 'hw:serial_port_count': '2' },
    { hw_cpu_sockets: '2', hw_serial_port_count: '1' },
  ],
  [{ 'hw:locked_memory': 'true', 'hw:mem_page_size': 'any' }],
  [{ 'quota:cpu_shares': '10', colour: 'blue' }],
];

describe('extra specs that were not validated when they were set', () => {
  let api: Api;
  let ada: Client;
  let admin: Client;
  beforeAll(async () => {
    api = await apiUnderTest({
      engine: { settings: { quotas: { instances: -1, cores: -1, ram: -1 } as never } },
    });
    ada = api.as('ada:f00', '2.37');
    // Since 2.86 such extra specs are rejected when they are set.
    admin = api.as('admin:f00', '2.85');
  });
  afterAll(async () => {
    expect(api.errors).toEqual([]);
    await api.close();
  });

  async function flavorWith(specs: Record<string, string>): Promise<{ id: string; name: string }> {
    const flavor = { name: randomUUID(), ram: 512, vcpus: 2, disk: 1 };
    const { id, name } = (await admin.post('/flavors', { flavor })).body.flavor;
    if (Object.keys(specs).length > 0)
      expect((await admin.post(`/flavors/${id}/os-extra_specs`, { extra_specs: specs })).status).toBe(200);
    return { id, name };
  }

  async function imageWith(properties: Record<string, string>): Promise<string> {
    const { images } = api.engine.catalogs;
    const id = randomUUID();
    await images.create(owner, { id, name: 'made', properties });
    await images.upload(owner, id, Buffer.from('content'));
    return id;
  }

  const boot = (flavorRef: string, imageRef: string) =>
    ada.post('/servers', { server: { name: 'web', flavorRef, imageRef, networks: 'none' } });

  it.each(REJECTED.map(([specs, expectedMessage, properties = {}]) => [specs, expectedMessage, properties] as const))(
    '%j: rejected for a creation and for a resize',
    async (specs, expectedMessage, properties) => {
      const flavor = await flavorWith(specs);
      const image = await imageWith(properties);
      const message = expectedMessage.replace('NAME', flavor.name);
      const created = await boot(flavor.id, image);
      expect([created.status, created.body]).toEqual([400, { badRequest: { code: 400, message } }]);
      if (Object.keys(properties).length > 0) return;
      const { id } = await ada.boot({ imageRef: image });
      const resized = await ada.act(id, 'resize', { flavorRef: flavor.id });
      expect([resized.status, resized.body]).toEqual([400, { badRequest: { code: 400, message } }]);
      expect((await ada.get(`/servers/${id}`)).body.server).toMatchObject({
        status: 'ACTIVE',
        'OS-EXT-STS:task_state': null,
      });
    },
  );

  it.each(ACCEPTED.map(([specs, properties = {}]) => [specs, properties] as const))(
    '%j: accepted',
    async (specs, properties) => {
      expect((await boot((await flavorWith(specs)).id, await imageWith(properties))).status).toBe(202);
    },
  );

  it('of the image: a rebuild cannot change the NUMA layout of a server', async () => {
    const flavor = await flavorWith({});
    const { id } = await ada.boot({ flavorRef: flavor.id, imageRef: await imageWith({}) });
    const rebuilt = await ada.act(id, 'rebuild', { imageRef: await imageWith({ hw_numa_nodes: '2' }) });
    expect([rebuilt.status, rebuilt.body.badRequest?.message]).toEqual([
      400,
      "An instance's NUMA topology cannot be changed as part of a rebuild. The image provided is invalid for this instance.",
    ]);
    expect((await ada.act(id, 'rebuild', { imageRef: await imageWith({ hw_rng_model: 'virtio' }) })).status).toBe(202);
  });
});
