import { defaultPreset } from '@apistrata/compute-engine';
import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, serverBody } from '../clouds.js';

it('placement shows the hosts and their inventories to administrators', async () => {
  const cloud = await cloudUnderTest();
  const request = clientOf(cloud);
  const { body } = await request('GET', '/placement/resource_providers?name=host1');
  expect(body.resource_providers).toHaveLength(1);
  const inventory = await request(
    'GET',
    `/placement/resource_providers/${body.resource_providers[0].uuid}/inventories`,
  );
  expect(inventory.body.inventories.VCPU).toMatchObject({ total: 64, allocation_ratio: 16 });
  expect((await request('GET', '/placement/resource_providers/x')).body.errors[0].status).toBe(404);
  const member = clientOf(cloud, cloud.token('demo', 'demo'));
  expect((await member('GET', '/placement/resource_providers')).status).toBe(403);
});

describe('hosts in placement', () => {
  const VERSION = { 'OpenStack-API-Version': 'placement 1.39' };

  /** A cloud with one host, its provider, and a function that creates a server of a flavor with extra specs. */
  async function stage(more: object = {}) {
    const host = { name: 'only', vcpus: 8, memoryMb: 8192, diskGb: 100, ...more };
    const cloud = await cloudUnderTest({ preset: { ...defaultPreset, hosts: [host] } });
    const raw = clientOf(cloud);
    const request = (method: string, path: string, body?: unknown) => raw(method, `/placement/${path}`, body, VERSION);
    const { uuid } = (await request('GET', 'resource_providers')).body.resource_providers[0];
    const compute = (method: string, path: string, body?: unknown) => raw(method, `/compute/v2.1/${path}`, body);
    let count = 0;
    const created = async (extra_specs: Record<string, string>) => {
      const id = `f${++count}`;
      await compute('POST', 'flavors', { flavor: { id, name: id, vcpus: 1, ram: 512, disk: 1 } });
      await compute('POST', `flavors/${id}/os-extra_specs`, { extra_specs });
      const body = serverBody();
      const { server } = (await compute('POST', 'servers', { server: { ...body.server, flavorRef: id } })).body;
      await cloud.idle();
      const { status } = (await compute('GET', `servers/${server.id}`)).body.server;
      return { id: server.id as string, status: status as string };
    };
    return { request, compute, created, path: `resource_providers/${uuid}`, uuid };
  }

  it('have the inventories and traits that they declare, and the allocations of their servers', async () => {
    const inventories = { CUSTOM_LICENCE: { total: 3, reserved: 1 } };
    const { request, created, path, uuid } = await stage({ inventories, traits: ['CUSTOM_FAST'] });
    const shown = (await request('GET', `${path}/inventories`)).body.inventories;
    expect(Object.keys(shown).sort()).toEqual(['CUSTOM_LICENCE', 'DISK_GB', 'MEMORY_MB', 'VCPU']);
    expect(shown.CUSTOM_LICENCE).toMatchObject({ total: 3, reserved: 1, min_unit: 1, allocation_ratio: 1 });
    expect((await request('GET', `${path}/traits`)).body.traits).toEqual(
      expect.arrayContaining(['COMPUTE_NODE', 'CUSTOM_FAST']),
    );
    expect((await request('GET', 'traits/CUSTOM_FAST')).status).toBe(204);
    expect((await request('GET', 'resource_classes/CUSTOM_LICENCE')).status).toBe(200);
    const { id, status } = await created({ 'resources:CUSTOM_LICENCE': '2' });
    expect(status).toBe('ACTIVE');
    const resources = { VCPU: 1, MEMORY_MB: 512, DISK_GB: 1, CUSTOM_LICENCE: 2 };
    expect((await request('GET', `allocations/${id}`)).body.allocations[uuid].resources).toEqual(resources);
    expect((await request('GET', `${path}/usages`)).body.usages).toEqual(resources);
    const { allocation_requests } = (await request('GET', 'allocation_candidates?resources=CUSTOM_LICENCE:1')).body;
    expect(allocation_requests).toEqual([]);
    expect((await created({ 'resources:CUSTOM_LICENCE': '1' })).status).toBe('ERROR');
  });

  it('use inventories and traits that clients write', async () => {
    const { request, created, path } = await stage();
    const expected = { 'resources:CUSTOM_LICENCE': '1', 'trait:CUSTOM_FAST': 'required' };
    expect((await created(expected)).status).toBe('ERROR');
    await request('PUT', 'resource_classes/CUSTOM_LICENCE');
    await request('PUT', 'traits/CUSTOM_FAST');
    const { traits, resource_provider_generation } = (await request('GET', `${path}/traits`)).body;
    const fast = { traits: [...traits, 'CUSTOM_FAST'], resource_provider_generation };
    expect((await request('PUT', `${path}/traits`, fast)).status).toBe(200);
    const licence = { resource_class: 'CUSTOM_LICENCE', total: 1 };
    expect((await request('POST', `${path}/inventories`, licence)).status).toBe(201);
    expect((await created(expected)).status).toBe('ACTIVE');
    expect((await created(expected)).status).toBe('ERROR');
    const inUse = await request('DELETE', `${path}/inventories/CUSTOM_LICENCE`);
    expect(inUse.body.errors[0].code).toBe('placement.concurrent_update');
    const processors = await request('GET', `${path}/inventories/VCPU`);
    const fewer = { ...processors.body, reserved: 8 };
    expect((await request('PUT', `${path}/inventories/VCPU`, fewer)).status).toBe(200);
    expect((await created({})).status).toBe('ERROR');
    await request('PUT', `${path}/inventories/VCPU`, {
      ...fewer,
      reserved: 0,
      resource_provider_generation: fewer.resource_provider_generation + 1,
    });
    expect((await created({})).status).toBe('ACTIVE');
    expect((await request('DELETE', `${path}/traits`)).status).toBe(204);
    expect((await created({ 'trait:COMPUTE_NODE': 'required' })).status).toBe('ERROR');
  });

  it('are members of their aggregates, and have a trait while they are disabled', async () => {
    const { request, compute, path } = await stage();
    const { aggregate } = (await compute('POST', 'os-aggregates', { aggregate: { name: 'fast' } })).body;
    await compute('POST', `os-aggregates/${aggregate.id}/action`, { add_host: { host: 'only' } });
    const { aggregates } = (await request('GET', `${path}/aggregates`)).body;
    expect(aggregates).toHaveLength(1);
    const found = await request('GET', `resource_providers?member_of=${aggregates[0]}`);
    expect(found.body.resource_providers).toHaveLength(1);
    await compute('POST', `os-aggregates/${aggregate.id}/action`, { remove_host: { host: 'only' } });
    expect((await request('GET', `${path}/aggregates`)).body.aggregates).toEqual([]);
    const disabled = async () =>
      (await request('GET', `${path}/traits`)).body.traits.includes('COMPUTE_STATUS_DISABLED');
    const [{ id }] = (await compute('GET', 'os-services?host=only')).body.services;
    expect(await disabled()).toBe(false);
    await compute('PUT', `os-services/${id}`, { status: 'disabled' });
    expect(await disabled()).toBe(true);
    await compute('PUT', `os-services/${id}`, { status: 'enabled' });
    expect(await disabled()).toBe(false);
  });
});
