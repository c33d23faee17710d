import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, serverBody } from '../clouds.js';

const at = (path: string) => `/placement/${path}`;
const PROJECT = '11111111111111111111111111111111';

async function placement(version = '1.39') {
  const cloud = await cloudUnderTest();
  const raw = clientOf(cloud);
  const request = (method: string, path: string, body?: unknown) =>
    raw(method, at(path), body, { 'OpenStack-API-Version': `placement ${version}` });
  const provider = async (name: string, parent?: string) =>
    (await request('POST', 'resource_providers', { name, ...(parent && { parent_provider_uuid: parent }) })).body;
  return { cloud, request, provider, raw };
}

const inventories = (generation: number) => ({
  resource_provider_generation: generation,
  inventories: { VCPU: { total: 8 }, CUSTOM_GOLD: { total: 2, max_unit: 1 } },
});

describe('resource providers', () => {
  it('are created, found, changed and deleted', async () => {
    const { request, provider } = await placement();
    const created = await provider('mine');
    expect(created).toMatchObject({
      name: 'mine',
      generation: 0,
      root_provider_uuid: created.uuid,
      parent_provider_uuid: null,
    });
    expect((await request('POST', 'resource_providers', { name: 'mine' })).body.errors[0]).toMatchObject({
      status: 409,
      code: 'placement.duplicate_name',
    });
    const child = await provider('child', created.uuid);
    const found = await request('GET', `resource_providers?in_tree=${child.uuid}`);
    expect(found.body.resource_providers.map(({ name }: any) => name)).toEqual(['mine', 'child']);
    expect((await request('PUT', `resource_providers/${created.uuid}`, { name: 'other' })).body.name).toBe('other');
    expect((await request('DELETE', `resource_providers/${created.uuid}`)).status).toBe(409);
    expect((await request('DELETE', `resource_providers/${child.uuid}`)).status).toBe(204);
    expect((await request('DELETE', `resource_providers/${created.uuid}`)).status).toBe(204);
    expect((await request('GET', 'resource_providers?colour=red')).status).toBe(400);
  });

  it('have no response body before 1.20', async () => {
    const { request } = await placement('1.19');
    const { status, body, headers } = await request('POST', 'resource_providers', { name: 'mine' });
    expect({ status, body }).toEqual({ status: 201, body: '' });
    expect(headers.get('location')).toContain('/placement/resource_providers/');
  });

  it('have inventories, traits and aggregates, each changed only with the latest generation', async () => {
    const { request, provider } = await placement();
    const { uuid } = await provider('mine');
    const path = `resource_providers/${uuid}`;
    expect((await request('PUT', `${path}/inventories`, inventories(0))).status).toBe(400);
    expect((await request('PUT', 'resource_classes/CUSTOM_GOLD')).status).toBe(201);
    const set = await request('PUT', `${path}/inventories`, inventories(0));
    expect(set.body).toMatchObject({
      resource_provider_generation: 1,
      inventories: { VCPU: { total: 8, reserved: 0 } },
    });
    const stale = await request('PUT', `${path}/inventories`, inventories(0));
    expect(stale.body.errors[0]).toMatchObject({ status: 409, code: 'placement.concurrent_update' });
    expect((await request('GET', `${path}/inventories/VCPU`)).body).toMatchObject({ total: 8, max_unit: 2 ** 31 - 1 });
    expect((await request('DELETE', `${path}/inventories/CUSTOM_GOLD`)).status).toBe(204);
    expect((await request('DELETE', `${path}/inventories/CUSTOM_GOLD`)).status).toBe(404);
    expect((await request('PUT', 'traits/CUSTOM_FAST')).status).toBe(201);
    expect((await request('PUT', 'traits/CUSTOM_FAST')).status).toBe(204);
    expect((await request('PUT', 'traits/FAST')).status).toBe(400);
    const traits = { traits: ['CUSTOM_FAST'], resource_provider_generation: 2 };
    expect((await request('PUT', `${path}/traits`, traits)).body).toEqual({
      ...traits,
      resource_provider_generation: 3,
    });
    expect((await request('DELETE', 'traits/CUSTOM_FAST')).status).toBe(409);
    expect((await request('GET', 'resource_providers?required=CUSTOM_FAST')).body.resource_providers).toHaveLength(1);
    const aggregate = '11111111-2222-4333-8444-555555555555';
    const aggregates = { aggregates: [aggregate], resource_provider_generation: 3 };
    expect((await request('PUT', `${path}/aggregates`, aggregates)).body.resource_provider_generation).toBe(4);
    expect((await request('GET', `resource_providers?member_of=in:${aggregate}`)).body.resource_providers).toHaveLength(
      1,
    );
    expect(
      (await request('GET', `resource_providers?resources=VCPU:9&member_of=${aggregate}`)).body.resource_providers,
    ).toEqual([]);
  });
});

describe('allocations', () => {
  it('are created, counted, replaced and deleted', async () => {
    const { request, provider, raw } = await placement('1.28');
    const { uuid } = await provider('mine');
    await request('PUT', `resource_providers/${uuid}/inventories`, {
      resource_provider_generation: 0,
      inventories: { VCPU: { total: 4 } },
    });
    const consumer = '11111111-2222-4333-8444-555555555555';
    const take = (amount: number, consumer_generation: number | null) =>
      request('PUT', `allocations/${consumer}`, {
        allocations: { [uuid]: { resources: { VCPU: amount } } },
        project_id: PROJECT,
        user_id: PROJECT,
        consumer_generation,
      });
    expect((await take(3, null)).status).toBe(204);
    expect((await take(3, null)).body.errors[0].code).toBe('placement.concurrent_update');
    expect((await take(5, 1)).status).toBe(409);
    expect((await request('GET', `allocations/${consumer}`)).body).toMatchObject({
      allocations: { [uuid]: { resources: { VCPU: 3 } } },
      consumer_generation: 1,
    });
    expect((await request('GET', `resource_providers/${uuid}/usages`)).body.usages).toEqual({ VCPU: 3 });
    expect((await request('GET', `usages?project_id=${PROJECT}`)).body.usages).toEqual({ VCPU: 3 });
    expect((await request('DELETE', `resource_providers/${uuid}/inventories`)).body.errors[0].code).toBe(
      'placement.inventory.inuse',
    );
    const candidates = async (amount: number) =>
      Object.keys(
        (
          await raw('GET', at(`allocation_candidates?resources=VCPU:${amount}&in_tree=${uuid}`), undefined, {
            'OpenStack-API-Version': 'placement 1.31',
          })
        ).body.provider_summaries,
      );
    expect(await candidates(1)).toEqual([uuid]);
    expect(await candidates(2)).toEqual([]);
    expect((await request('DELETE', `allocations/${consumer}`)).status).toBe(204);
    expect((await request('DELETE', `allocations/${consumer}`)).status).toBe(404);
    expect((await request('GET', `allocations/${consumer}`)).body).toEqual({ allocations: {} });
  });

  it('show the resources that servers use on their hosts', async () => {
    const { cloud, request, raw } = await placement();
    const { id } = (await raw('POST', '/compute/v2.1/servers', serverBody())).body.server;
    await cloud.idle();
    const allocations = (await request('GET', `allocations/${id}`)).body;
    const [[host, { resources }]] = Object.entries<any>(allocations.allocations) as [[string, any]];
    expect(resources).toEqual({ VCPU: 1, MEMORY_MB: 512, DISK_GB: 1 });
    expect((await request('GET', `resource_providers/${host}/usages`)).body.usages.MEMORY_MB).toBe(512);
    expect(Object.keys((await request('GET', `resource_providers/${host}/allocations`)).body.allocations)).toEqual([
      id,
    ]);
    const project = (await raw('GET', '/identity/v3/projects?name=demo')).body.projects[0].id;
    const member = clientOf(cloud, cloud.token('demo', 'demo'));
    expect(
      (await member('GET', at(`usages?project_id=${project}`), undefined, { 'OpenStack-API-Version': 'placement 1.9' }))
        .body.usages.VCPU,
    ).toBe(1);
    const version = { 'OpenStack-API-Version': 'placement 1.39' };
    expect((await member('GET', at(`usages?project_id=${PROJECT}`), undefined, version)).status).toBe(403);
  });
});

describe('names', () => {
  it.each([
    ['traits?name=startswith:HW_', 'traits'],
    ['traits?name=in:COMPUTE_NODE', 'traits'],
    ['resource_classes', 'resource_classes'],
  ])('are listed by %s', async (path, key) => {
    const { request } = await placement();
    expect((await request('GET', path)).body[key].length).toBeGreaterThan(0);
  });

  it('of the standard cannot be deleted', async () => {
    const { request } = await placement();
    expect((await request('DELETE', 'resource_classes/VCPU')).status).toBe(400);
    expect((await request('DELETE', 'traits/COMPUTE_NODE')).status).toBe(400);
    expect((await request('GET', 'traits/CUSTOM_NONE')).status).toBe(404);
  });
});
