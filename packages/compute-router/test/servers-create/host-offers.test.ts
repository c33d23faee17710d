import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Api, apiUnderTest, type Client, ids } from '../api-under-test.js';
import { plain } from './cloud.js';

const imageWithAvx = '11111111-1111-4111-8111-111111111111';
const tpmImage = '22222222-2222-4222-8222-222222222222';
const avx512Image = '44444444-4444-4444-8444-444444444444';
const secureImage = '33333333-3333-4333-8333-333333333333';

/** A host with special hardware, and a larger one without. */
const hosts = [
  {
    name: 'special',
    vcpus: 4,
    memoryMb: 4096,
    diskGb: 100,
    inventories: {
      CUSTOM_LICENCE: { total: 3, reserved: 1 },
      CUSTOM_PAIR: { total: 2, allocationRatio: 2, stepSize: 2, maxUnit: 4 },
      PCPU: { total: 2 },
    },
    traits: ['HW_CPU_X86_AVX', 'CUSTOM_FAST', 'COMPUTE_SECURITY_UEFI_SECURE_BOOT', 'COMPUTE_SECURITY_TPM_2_0'],
    capabilities: { gpu_model: 'T4', slots: 3 },
  },
  { name: 'ordinary', vcpus: 16, memoryMb: 16_384, diskGb: 100, hypervisorType: 'KVM' },
];

describe('what hosts offer', () => {
  let api: Api;
  let ada: Client;
  let admin: Client;
  let count = 0;

  beforeAll(async () => {
    api = await apiUnderTest({
      router: { maxVersion: '2.104' },
      engine: { settings: { quotas: { instances: -1, cores: -1, ram: -1 } as never } },
      preset: {
        flavors: [{ id: ids.tiny, name: 'tiny', vcpus: 1, memoryMb: 512, diskGb: 1 }],
        hosts,
        images: [
          { id: ids.image, name: 'cirros', visibility: 'public' },
          { id: imageWithAvx, visibility: 'public', properties: { 'trait:HW_CPU_X86_AVX': 'required' } },
          { id: avx512Image, visibility: 'public', properties: { 'trait:HW_CPU_X86_AVX512F': 'required' } },
          { id: tpmImage, visibility: 'public', properties: { hw_tpm_version: '1.2' } },
          { id: secureImage, visibility: 'public', properties: { os_secure_boot: 'required' } },
        ],
      },
    });
    ada = api.as('ada:p1', '2.85');
    admin = api.as('admin:p1', '2.85');
    return async () => {
      expect(api.errors).toEqual([]);
      await api.close();
    };
  });
  afterEach(async () => {
    for (const { id } of (await ada.get('/servers')).body.servers) await ada.delete(`/servers/${id}`);
    await api.idle();
  });

  async function flavorWith(extraSpecs: Record<string, string>, more: object = {}): Promise<string> {
    const id = `f${++count}`;
    const flavor = { id, name: id, vcpus: 1, ram: 512, disk: 1, ...more };
    expect((await admin.post('/flavors', { flavor })).status).toBe(200);
    if (Object.keys(extraSpecs).length > 0)
      expect((await admin.post(`/flavors/${id}/os-extra_specs`, { extra_specs: extraSpecs })).status).toBe(200);
    return id;
  }
  const shown = async (id: string) => {
    const { server } = (await admin.get(`/servers/${id}`)).body;
    const { status, fault, 'OS-EXT-SRV-ATTR:host': host } = server;
    return { id, status, host, message: fault?.message };
  };
  async function create(extraSpecs: Record<string, string>, fields: object = {}, client = ada) {
    const flavorRef = await flavorWith(extraSpecs);
    const created = await client.post('/servers', { server: { ...plain, flavorRef, ...fields } });
    expect([created.status, created.body]).toEqual([202, expect.anything()]);
    await api.idle();
    return shown(created.body.server.id);
  }
  const none = { status: 'ERROR', host: null, message: expect.stringContaining('No valid host was found. ') };

  it.each<[string, Record<string, string>, string | undefined, object?]>([
    ['a custom resource', { 'resources:CUSTOM_LICENCE': '1' }, 'special'],
    ['a larger amount than is available', { 'resources:CUSTOM_LICENCE': '3' }, undefined],
    ['a class that no host has', { 'resources:CUSTOM_NONE': '1' }, undefined],
    ['none of a class', { 'resources:CUSTOM_NONE': '0' }, 'ordinary'],
    ['a multiple of the step size', { 'resources:CUSTOM_PAIR': '4' }, 'special'],
    ['another amount', { 'resources:CUSTOM_PAIR': '1' }, undefined],
    ['too many processors', { 'resources:VCPU': '99999' }, undefined],
    ['more processors than a host has, in spite of its ratio', { 'resources:VCPU': '17' }, undefined],
    ['memory of one host', { 'resources:MEMORY_MB': '5000' }, 'ordinary'],
    ['dedicated processors', { 'resources:PCPU': '1' }, 'special'],
    ['one group', { 'resources1:CUSTOM_LICENCE': '1', 'trait1:CUSTOM_FAST': 'required' }, 'special'],
    [
      'groups of one provider',
      { 'resources1:CUSTOM_LICENCE': '1', 'resources2:CUSTOM_PAIR': '2', group_policy: 'none' },
      'special',
    ],
    ['groups of different providers', { 'resources1:CUSTOM_LICENCE': '1', 'resources2:CUSTOM_PAIR': '2' }, undefined],
    ['a trait', { 'trait:HW_CPU_X86_AVX': 'required' }, 'special'],
    ['the absence of a trait', { 'trait:HW_CPU_X86_AVX': 'forbidden' }, 'ordinary'],
    ['a trait that no host has', { 'trait:HW_CPU_X86_AVX2': 'required' }, undefined],
    ['the absence of a trait of all', { 'trait:COMPUTE_NODE': 'forbidden' }, undefined],
    ['a trait by its image', {}, 'special', { imageRef: imageWithAvx }],
    ['contradictory traits', { 'trait:HW_CPU_X86_AVX': 'forbidden' }, undefined, { imageRef: imageWithAvx }],
    ['secure boot', { 'os:secure_boot': 'required' }, 'special'],
    ['secure boot by its image', {}, 'special', { imageRef: secureImage }],
    ['no secure boot', { 'os:secure_boot': 'disabled' }, 'ordinary'],
    ['a TPM', { 'hw:tpm_version': '2.0', 'hw:tpm_model': 'tpm-crb' }, 'special'],
    ['an older TPM by its image', {}, undefined, { imageRef: tpmImage }],
    ['a capability', { 'capabilities:hypervisor_type': 's== KVM' }, 'ordinary'],
    ['a capability that no host has', { 'capabilities:hypervisor_type': 'VMware' }, undefined],
    ['an unknown capability', { 'capabilities:nothing': '1' }, undefined],
    ['a declared capability', { 'capabilities:gpu_model': '<or> P4 <or> T4' }, 'special'],
    ['a declared number', { 'capabilities:slots': '>= 3' }, 'special'],
    ['a nested capability', { 'capabilities:cpu_info:features': '<in> pge' }, 'ordinary'],
    ['free memory, without a scope', { free_ram_mb: '>= 10000' }, 'ordinary'],
    ['something without a scope that hosts do not have', { colour: 'red' }, 'ordinary'],
  ])('decides where a server that requests %s runs', async (_what, extraSpecs, host, fields) => {
    const server = await create(extraSpecs, fields);
    expect(server).toMatchObject(host === undefined ? none : { status: 'ACTIVE', host });
  });

  it('names the missing traits and the rejecting filters in the details of the fault, for administrators', async () => {
    const { id } = await create({ 'trait:HW_CPU_X86_AVX': 'required' }, { imageRef: tpmImage });
    const faultFor = async (client: Client) => (await client.get(`/servers/${id}`)).body.server.fault;
    const message = 'No valid host was found. There are not enough hosts available.';
    expect(await faultFor(ada)).toEqual({ code: 500, created: expect.any(String), message });
    const { details } = await faultFor(admin);
    expect(details).toMatch(/^Rejected hosts: \{"traits":2,"capacity":0\}; missing traits: COMPUTE_SECURITY_TPM_1_2$/m);
    const other = await create({ 'capabilities:nothing': '1' });
    const { fault } = (await admin.get(`/servers/${other.id}`)).body.server;
    expect(fault.details).toMatch(/; missing traits: none$/m);
  });

  it('is consumed by servers, and available again after their deletion', async () => {
    const expected = { 'resources:CUSTOM_LICENCE': '1' };
    const [first] = [await create(expected), await create(expected)];
    expect(await create(expected)).toMatchObject(none);
    await ada.delete(`/servers/${first?.id}`);
    await api.idle();
    expect(await create(expected)).toMatchObject({ status: 'ACTIVE', host: 'special' });
  });

  it('is never claimed twice by concurrent requests', async () => {
    const licensed = await flavorWith({ 'resources:CUSTOM_LICENCE': '1' });
    const ordinary = await flavorWith({});
    const created = await Promise.all(
      Array.from({ length: 24 }, (_, n) =>
        ada.post('/servers', { server: { ...plain, flavorRef: n % 2 === 0 ? licensed : ordinary } }),
      ),
    );
    await api.idle();
    const servers = await Promise.all(created.map(({ body }) => shown(body.server.id)));
    const active = (of: typeof servers) => of.filter(({ status }) => status === 'ACTIVE').length;
    expect(active(servers.filter((_, n) => n % 2 === 0))).toBe(2);
    expect(active(servers.filter((_, n) => n % 2 === 1))).toBe(12);
    expect(await api.engine.hosts.allocations('special')).toMatchObject({ CUSTOM_LICENCE: 2 });
  });

  it('also applies to forced hosts, except for capabilities', async () => {
    const forced = { availability_zone: 'nova:ordinary' };
    expect(await create({ 'trait:HW_CPU_X86_AVX': 'required' }, forced, admin)).toMatchObject(none);
    expect(await create({ 'capabilities:gpu_model': 'T4' }, forced, admin)).toMatchObject({ host: 'ordinary' });
  });

  it('applies to resizes, which fail without a change to the server', async () => {
    const server = await create({});
    const resize = async (extraSpecs: Record<string, string>) => {
      const flavorRef = await flavorWith(extraSpecs);
      expect((await ada.post(`/servers/${server.id}/action`, { resize: { flavorRef } })).status).toBe(202);
      await api.idle();
      return shown(server.id);
    };
    expect(await resize({ 'trait:CUSTOM_NONE': 'required' })).toMatchObject({ status: 'ACTIVE', host: 'ordinary' });
    expect(await resize({ 'resources:CUSTOM_LICENCE': '2' })).toMatchObject({
      status: 'VERIFY_RESIZE',
      host: 'special',
    });
    expect(await create({ 'resources:CUSTOM_LICENCE': '1' })).toMatchObject(none);
    await ada.post(`/servers/${server.id}/action`, { revertResize: null });
    await api.idle();
    expect(await create({ 'resources:CUSTOM_LICENCE': '2' })).toMatchObject({ status: 'ACTIVE' });
  });

  describe('rebuilds with another image, which stay on their host,', () => {
    const rebuild = async (id: string, imageRef: string) => {
      expect((await ada.post(`/servers/${id}/action`, { rebuild: { imageRef } })).status).toBe(202);
      await api.idle();
      const { server } = (await admin.get(`/servers/${id}`)).body;
      return { ...(await shown(id)), image: server.image.id };
    };
    const rejection = (message: string) => ({ status: 'ERROR', image: ids.image, message });

    it('succeed if the host has the traits of the image', async () => {
      const { id } = await create({ 'trait:CUSTOM_FAST': 'required' });
      expect(await rebuild(id, imageWithAvx)).toMatchObject({ status: 'ACTIVE', host: 'special', image: imageWithAvx });
    });

    it('set the server to ERROR, with its former image, if the host lacks a trait of the image', async () => {
      const { id } = await create({});
      const message =
        'No valid host was found. Image traits cannot be satisfied by the current resource providers. Either specify a different image during rebuild or create a new server with the specified image.';
      expect(await rebuild(id, imageWithAvx)).toMatchObject({ ...rejection(message), host: 'ordinary' });
      const [{ request_id: requestId }] = (await admin.get(`/servers/${id}/os-instance-actions`)).body.instanceActions;
      const { instanceAction } = (await admin.get(`/servers/${id}/os-instance-actions/${requestId}`)).body;
      expect(instanceAction).toMatchObject({ action: 'rebuild', message: 'Error' });
      expect(instanceAction.events).toMatchObject([{ event: 'conductor_rebuild_server', result: 'Error' }]);
      expect(await rebuild(id, ids.image)).toMatchObject({ status: 'ACTIVE', image: ids.image });
    });

    it('fail if the flavor forbids a trait of the image', async () => {
      const { id } = await create({ 'trait:CUSTOM_FAST': 'required', 'trait:HW_CPU_X86_AVX512F': 'forbidden' });
      const message =
        'No valid host was found. Image traits are part of forbidden traits in flavor associated with the server. Either specify a different image during rebuild or create a new server with the specified image and a compatible flavor.';
      expect(await rebuild(id, avx512Image)).toMatchObject(rejection(message));
    });

    it('ignore the options of the image, and the current image of the server', async () => {
      const { id } = await create({});
      expect(await rebuild(id, secureImage)).toMatchObject({ status: 'ACTIVE', host: 'ordinary', image: secureImage });
      const { id: onAvx } = await create({}, { imageRef: imageWithAvx });
      expect(await rebuild(onAvx, imageWithAvx)).toMatchObject({ status: 'ACTIVE', host: 'special' });
    });
  });

  it('applies to migrations', async () => {
    const server = await create({ 'trait:CUSTOM_FAST': 'required' });
    const live = { 'os-migrateLive': { host: null, block_migration: 'auto' } };
    for (const action of [{ migrate: null }, live]) {
      expect((await admin.post(`/servers/${server.id}/action`, action)).status).toBe(202);
      await api.idle();
      expect(await shown(server.id)).toMatchObject({ status: 'ACTIVE', host: 'special' });
    }
    const { migrations } = (await admin.get(`/os-migrations?instance_uuid=${server.id}`)).body;
    expect(migrations.map((one: any) => one.status)).toEqual(['error', 'error']);
  });

  it('decides where shelved servers start again', async () => {
    const server = await create({ 'resources:CUSTOM_LICENCE': '2' });
    const act = async (action: object) => {
      expect((await admin.post(`/servers/${server.id}/action`, action)).status).toBe(202);
      await api.idle();
    };
    await act({ shelve: null });
    const other = await create({ 'resources:CUSTOM_LICENCE': '1' });
    expect(other).toMatchObject({ status: 'ACTIVE' });
    await act({ unshelve: null });
    expect(await shown(server.id)).toMatchObject({ status: 'SHELVED_OFFLOADED', host: null });
    await ada.delete(`/servers/${other.id}`);
    await api.idle();
    await act({ unshelve: null });
    expect(await shown(server.id)).toMatchObject({ status: 'ACTIVE', host: 'special' });
  });

  it('applies to evacuations', async () => {
    const server = await create({ 'trait:CUSTOM_FAST': 'required' });
    const force = (forced_down: boolean) =>
      api.as('admin:p1', '2.30').put('/os-services/force-down', {
        host: 'special',
        binary: 'nova-compute',
        forced_down,
      });
    expect((await force(true)).status).toBe(200);
    expect((await admin.post(`/servers/${server.id}/action`, { evacuate: {} })).status).toBe(200);
    await api.idle();
    expect(await shown(server.id)).toMatchObject({ status: 'ERROR', host: 'special' });
    expect((await force(false)).status).toBe(200);
  });
});
