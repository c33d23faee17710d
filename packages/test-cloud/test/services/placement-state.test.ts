// Tests of placement over several requests. The facts of single requests are in `reference/placement.json`.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

/** A provider with 8 processors. A consumer has 4 of them. */
async function placement() {
  const cloud = await cloudUnderTest({
    preset: { flavors: [], hosts: [], images: [], networks: [], volumeTypes: [] },
  });
  const raw = clientOf(cloud);
  const request = (method: string, path: string, body?: unknown, minor = 39) =>
    raw(method, `/placement${path}`, body, { 'OpenStack-API-Version': `placement 1.${minor}` });
  const { uuid } = (await request('POST', '/resource_providers', { name: 'one' })).body;
  const path = `/resource_providers/${uuid}`;
  const generation = async () => (await request('GET', path)).body.generation as number;
  const resize = async (fields: object) =>
    request('PUT', `${path}/inventories/VCPU`, { resource_provider_generation: await generation(), ...fields });
  await request('POST', `${path}/inventories`, { resource_class: 'VCPU', total: 8 });
  const consumer = randomUUID();
  const allocate = (VCPU: number, consumer_generation: number | null, fields: object = {}, minor = 39, id = consumer) =>
    request(
      'PUT',
      `/allocations/${id}`,
      {
        ...{ allocations: { [uuid]: { resources: { VCPU } } }, project_id: 'p', user_id: 'u' },
        ...(minor >= 28 && { consumer_generation }),
        ...(minor >= 38 && { consumer_type: 'INSTANCE' }),
        ...fields,
      },
      minor,
    );
  expect((await allocate(4, null)).status).toBe(204);
  const usages = async (query: string) => (await request('GET', `/usages?project_id=p${query}`)).body.usages;
  return { request, uuid, path, generation, resize, consumer, allocate, usages };
}

describe('generations of a provider', () => {
  it('are not compared when an inventory is created, and ignored in the inventories of a replacement', async () => {
    const { request, path, generation } = await placement();
    const disk = { resource_class: 'DISK_GB', total: 1, resource_provider_generation: 99 };
    expect((await request('POST', `${path}/inventories`, disk)).status).toBe(201);
    const inventories = { VCPU: { total: 4, resource_provider_generation: 99 } };
    const before = await generation();
    const changed = await request('PUT', `${path}/inventories`, { inventories, resource_provider_generation: before });
    expect(changed.body).toMatchObject({ resource_provider_generation: before + 1 });
    expect(changed.body.inventories.VCPU).not.toHaveProperty('resource_provider_generation');
  });

  it('change with traits only if the traits differ', async () => {
    const { request, path, generation } = await placement();
    const set = async (traits: readonly string[]) =>
      (await request('PUT', `${path}/traits`, { traits, resource_provider_generation: await generation() })).body;
    const first = (await set(['COMPUTE_NODE', 'HW_CPU_X86_AVX'])).resource_provider_generation;
    expect((await set(['HW_CPU_X86_AVX', 'COMPUTE_NODE'])).resource_provider_generation).toBe(first);
    await request('DELETE', `${path}/traits`);
    await request('DELETE', `${path}/traits`);
    expect(await generation()).toBe(first + 1);
  });
});

describe('allocations of an exceeded inventory', () => {
  it('may shrink or stay, but not grow', async () => {
    const { allocate, resize } = await placement();
    expect((await resize({ total: 2 })).status).toBe(200);
    const grown = await allocate(5, 1);
    expect([grown.status, grown.body.errors[0].detail]).toEqual([409, expect.stringContaining('exceed the capacity')]);
    expect((await allocate(4, 1)).status).toBe(204);
    expect((await allocate(3, 2)).status).toBe(204);
    expect((await allocate(1, null, {}, 39, randomUUID())).status).toBe(409);
  });

  it('must have its units', async () => {
    const { allocate, resize } = await placement();
    expect((await resize({ total: 8, step_size: 2 })).status).toBe(200);
    const odd = await allocate(3, 1);
    expect(odd.body.errors[0].detail).toContain('would violate inventory constraints.');
  });
});

describe('types of consumers', () => {
  it('are kept by requests of versions without types', async () => {
    const { request, consumer, allocate } = await placement();
    expect((await allocate(2, 1, {}, 37)).status).toBe(204);
    expect((await request('GET', `/allocations/${consumer}`)).body.consumer_type).toBe('INSTANCE');
  });

  it('group usages, without types that have no consumers', async () => {
    const { allocate, usages } = await placement();
    const instance = { VCPU: 4, consumer_count: 1 };
    expect(await usages('&consumer_type=unknown')).toEqual({});
    await allocate(1, null, {}, 37, randomUUID());
    expect(await usages('')).toEqual({ INSTANCE: instance, unknown: { VCPU: 1, consumer_count: 1 } });
    expect(await usages('&consumer_type=all')).toEqual({ all: { VCPU: 5, consumer_count: 2 } });
    expect(await usages('&consumer_type=INSTANCE')).toEqual({ INSTANCE: instance });
    expect(await usages('&consumer_type=MIGRATION')).toEqual({});
    expect(await usages('&consumer_type=all&user_id=v')).toEqual({});
  });
});

describe('filters', () => {
  it('of providers match nothing for a trait that is required and forbidden, and ignore an empty name', async () => {
    const { request } = await placement();
    const list = async (query: string) =>
      (await request('GET', `/resource_providers?${query}`)).body.resource_providers.length;
    expect(await list('required=COMPUTE_NODE,!COMPUTE_NODE')).toBe(0);
    expect(await list('name=')).toBe(1);
    expect(await list('required=!!COMPUTE_NODE')).toBe(1);
  });

  it('of traits ignore unknown operators', async () => {
    const { request } = await placement();
    const all = (await request('GET', '/traits')).body.traits;
    expect((await request('GET', '/traits?name=contains:HW')).body.traits).toEqual(all);
  });
});

describe('names and ids', () => {
  it('of aggregates are returned as they were written', async () => {
    const { request, path, generation } = await placement();
    const aggregates = ['AAAAAAAA-2222-4222-8222-222222222222', 'cccccccc222242228222222222222222'];
    const body = { aggregates, resource_provider_generation: await generation() };
    expect((await request('PUT', `${path}/aggregates`, body)).body.aggregates).toEqual(aggregates);
    expect((await request('GET', `${path}/aggregates`)).body.aggregates).toEqual(aggregates);
  });

  it('of a provider may become empty', async () => {
    const { request, path } = await placement();
    expect((await request('PUT', path, { name: '' })).body.name).toBe('');
  });

  it('of a resource class may be changed to themselves before 1.7', async () => {
    const { request } = await placement();
    await request('PUT', '/resource_classes/CUSTOM_A');
    const renamed = await request('PUT', '/resource_classes/CUSTOM_A', { name: 'CUSTOM_A' }, 6);
    expect([renamed.status, renamed.body.name]).toEqual([200, 'CUSTOM_A']);
  });
});
