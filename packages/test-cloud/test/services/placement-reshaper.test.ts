import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';

const CONSUMERS = ['11111111-2222-4333-8444-555555555555', '66666666-7777-4888-8999-000000000000'] as const;

/** A provider with 8 processors, and an empty child. The first consumer has 4 of the processors. */
async function tree() {
  const cloud = await cloudUnderTest();
  const send = (token?: string) => {
    const raw = clientOf(cloud, token);
    return (method: string, path: string, body?: unknown, version = '1.39') =>
      raw(method, `/placement${path}`, body, { 'OpenStack-API-Version': `placement ${version}` });
  };
  // Other services have this role and use it to reshape providers.
  const [request, asAdmin] = [send(cloud.token('nova', 'service', ['admin', 'service'])), send()];
  const create = async (name: string, parent?: string) =>
    (await request('POST', '/resource_providers', { name, ...(parent && { parent_provider_uuid: parent }) })).body
      .uuid as string;
  const parent = await create('parent');
  const child = await create('child', parent);
  await request('PUT', `/resource_providers/${parent}/inventories`, {
    resource_provider_generation: 0,
    inventories: { VCPU: { total: 8 } },
  });
  const taking = (provider: string, amount: number, generation: number | null) => ({
    allocations: amount === 0 ? {} : { [provider]: { resources: { VCPU: amount } } },
    project_id: 'p',
    user_id: 'u',
    consumer_generation: generation,
    consumer_type: 'INSTANCE',
  });
  const put = await request('PUT', `/allocations/${CONSUMERS[0]}`, taking(parent, 4, null));
  expect(put.status, JSON.stringify(put.body)).toBe(204);
  const usage = async (provider: string) =>
    (await request('GET', `/resource_providers/${provider}/usages`)).body.usages;
  const generation = async (provider: string) =>
    (await request('GET', `/resource_providers/${provider}`)).body.generation as number;
  return { request, asAdmin, parent, child, taking, usage, generation };
}

describe('the reshaper', () => {
  it('moves inventories together with their allocations', async () => {
    const { request, parent, child, taking, usage, generation } = await tree();
    const body = {
      inventories: {
        [parent]: { resource_provider_generation: await generation(parent), inventories: {} },
        [child]: { resource_provider_generation: await generation(child), inventories: { VCPU: { total: 8 } } },
      },
      allocations: { [CONSUMERS[0]]: taking(child, 4, 1) },
    };
    expect((await request('POST', '/reshaper', body)).status).toBe(204);
    expect([await usage(parent), await usage(child)]).toEqual([{}, { VCPU: 4 }]);
    const rejection = await request('POST', '/reshaper', body);
    expect([rejection.status, rejection.body.errors[0].code]).toEqual([409, 'placement.concurrent_update']);
  });

  it('changes nothing if a part does not fit', async () => {
    const { request, parent, child, taking, usage, generation } = await tree();
    const inventories = (total: number) => ({
      [child]: { resource_provider_generation: 0, inventories: { VCPU: { total } } },
    });
    const post = (body: object, version?: string) => request('POST', '/reshaper', body, version);
    const before = await generation(parent);
    const emptied = { [parent]: { resource_provider_generation: before, inventories: {} } };
    for (const [body, status, detail] of [
      [
        { inventories: inventories(2), allocations: { [CONSUMERS[0]]: taking(child, 4, 1) } },
        409,
        'would exceed the capacity',
      ],
      [{ inventories: emptied, allocations: {} }, 409, "Inventory for 'VCPU'"],
      [
        { inventories: inventories(8), allocations: { [CONSUMERS[0]]: taking(child, 4, 7) } },
        409,
        'consumer generation conflict',
      ],
      [{ inventories: {}, allocations: {} }, 400, ''],
      [{ inventories: inventories(8) }, 400, ''],
      [{ inventories: { [CONSUMERS[1]]: inventories(1)[child] }, allocations: {} }, 400, 'in inventories not found'],
    ] as const) {
      const rejection = await post(body);
      expect([rejection.status, rejection.body.errors[0].detail]).toEqual([status, expect.stringContaining(detail)]);
    }
    expect([await usage(parent), await usage(child)]).toEqual([{ VCPU: 4 }, {}]);
    expect(await generation(parent)).toBe(before);
    expect((await post({}, '1.29')).status).toBe(404);
  });

  it('is for services', async () => {
    const { request, asAdmin } = await tree();
    expect((await asAdmin('POST', '/reshaper', {})).status).toBe(403);
    expect((await request('POST', '/reshaper', {})).status).toBe(400);
  });

  it('increments the generation of a provider with each step of the change', async () => {
    const { request, parent, child, taking, generation } = await tree();
    const [ofParent, ofChild] = [await generation(parent), await generation(child)];
    const body = {
      inventories: {
        [parent]: { resource_provider_generation: ofParent, inventories: {} },
        [child]: { resource_provider_generation: ofChild, inventories: { VCPU: { total: 8 } } },
      },
      allocations: { [CONSUMERS[0]]: taking(child, 4, 1) },
    };
    expect((await request('POST', '/reshaper', body)).status).toBe(204);
    // The inventory of the child is stored twice, before and after its allocation.
    expect([await generation(parent), await generation(child)]).toEqual([ofParent + 1, ofChild + 3]);
  });
});

describe('allocations of several consumers', () => {
  it('are replaced atomically, or not at all', async () => {
    const { request, parent, taking, usage } = await tree();
    const post = (first: object, second: object) =>
      request('POST', '/allocations', { [CONSUMERS[0]]: first, [CONSUMERS[1]]: second });
    // The first consumer releases the capacity that the second one allocates.
    expect((await post(taking(parent, 0, 1), taking(parent, 8, null))).status).toBe(204);
    expect(await usage(parent)).toEqual({ VCPU: 8 });
    expect((await post(taking(parent, 4, null), taking(parent, 8, 1))).status).toBe(409);
    expect((await request('GET', `/allocations/${CONSUMERS[0]}`)).body).toEqual({ allocations: {} });
    expect((await request('POST', '/allocations', {})).status).toBe(400);
  });

  const owner = { project_id: 'p', user_id: 'u' };
  const generation = { ...owner, consumer_generation: null };
  const mappings = { '': [CONSUMERS[0]] };
  it.each([
    ['1.39', generation, 'consumer_type'],
    ['1.37', { ...generation, consumer_type: 'INSTANCE' }, 'consumer_type'],
    ['1.39', { ...generation, consumer_type: 'small' }, 'consumer_type'],
    ['1.33', { ...generation, mappings }, 'mappings'],
    ['1.37', { ...generation, mappings: {} }, 'mappings'],
    ['1.28', owner, 'consumer_generation'],
    ['1.27', generation, 'consumer_generation'],
    ['1.12', { user_id: 'u' }, 'project_id'],
  ])('reject at %s %j because of %s', async (version, fields, key) => {
    const { request, parent } = await tree();
    const allocations = { [parent]: { resources: { VCPU: 1 } } };
    const rejection = await request('PUT', `/allocations/${CONSUMERS[1]}`, { allocations, ...fields }, version);
    expect([rejection.status, rejection.body.errors[0].detail]).toEqual([400, expect.stringContaining(key)]);
  });

  it('identify consumers by UUID, with or without dashes', async () => {
    const { request, parent, taking } = await tree();
    const plain = CONSUMERS[1].replaceAll('-', '');
    expect((await request('PUT', `/allocations/${plain}`, taking(parent, 1, null))).status).toBe(204);
    expect((await request('GET', `/allocations/${CONSUMERS[1]}`)).body.allocations[parent].resources).toEqual({
      VCPU: 1,
    });
    expect((await request('PUT', '/allocations/me', taking(parent, 1, null))).status).toBe(400);
    const unknown = { ...taking(parent, 1, 1), allocations: { [parent]: { resources: { CUSTOM_X: 1 } } } };
    expect((await request('PUT', `/allocations/${CONSUMERS[1]}`, unknown)).status).toBe(400);
  });
});

describe('versions and methods', () => {
  it.each([
    ['GET', '/resource_classes', '1.2', 404],
    ['GET', '/traits', '1.6', 404],
    ['GET', '/usages?project_id=p', '1.9', 404],
    ['GET', '/allocation_candidates?resources=VCPU:1', '1.10', 404],
    ['DELETE', '/resource_providers/x/inventories', '1.5', 405],
  ])('%s %s exists since %s', async (method, path, first, before) => {
    const { request } = await tree();
    const minor = Number(first.split('.')[1]);
    expect((await request(method, path, undefined, `1.${minor - 1}`)).status).toBe(before);
    expect((await request(method, path, undefined, first)).status).not.toBe(before === 405 ? 405 : 400);
    if (before === 404) expect((await request(method, path, undefined, first)).status).toBe(200);
  });

  it('return 405 for other methods, and declare since 1.15 that responses must be revalidated', async () => {
    const { request, parent } = await tree();
    const rejection = await request('PATCH', '/resource_providers');
    expect([rejection.status, rejection.headers.get('allow')]).toEqual([405, expect.stringContaining('GET')]);
    const headers = async (version: string) => {
      const { headers: sent } = await request('GET', `/resource_providers/${parent}`, undefined, version);
      return [sent.get('cache-control'), sent.has('last-modified')];
    };
    expect(await headers('1.14')).toEqual([null, false]);
    expect(await headers('1.15')).toEqual(['no-cache', true]);
  });
});

describe('bodies', () => {
  const allocated = (provider: string, VCPU: number) => ({
    allocations: { [provider]: { resources: { VCPU } } },
    project_id: 'p',
    user_id: 'u',
    consumer_generation: null,
    consumer_type: 'INSTANCE',
  });
  const inventory = (fields: object) => ({ resource_class: 'DISK_GB', total: 5, ...fields });
  it.each([
    ['POST', '/resource_providers', {}, "'name' is a required property", 'required'],
    ['POST', '/resource_providers', { name: 5 }, "5 is not of type 'string'", 'type'],
    ['POST', '/resource_providers', { name: { a: [null, true] } }, "{'a': [None, True]} is not of type", 'type'],
    ['POST', '/resource_providers', { name: 5, y: 1, x: 1 }, "('x', 'y' were unexpected)", 'additionalProperties'],
    ['POST', '/resource_providers', { name: 'n'.repeat(201) }, 'is too long', 'maxLength'],
    ['PUT', 'traits', { traits: [''], resource_provider_generation: 1 }, "'' is too short", 'minLength'],
    ['POST', '/resource_providers', { name: 'n', uuid: 'x' }, "'x' is not a 'uuid'", 'format'],
    ['POST', '/resource_providers', { name: 'n', x: 1 }, "('x' was unexpected)", 'additionalProperties'],
    ['POST', '/resource_classes', { name: 'x' }, "'x' does not match '^CUSTOM_[A-Z0-9_]+$'", 'pattern'],
    ['POST', 'inventories', inventory({ total: 0 }), '0 is less than the minimum of 1', 'minimum'],
    ['POST', 'inventories', inventory({ total: 2 ** 31 }), 'is greater than the maximum of 2147483647', 'maximum'],
    ['POST', 'inventories', inventory({ total: 1.5 }), "1.5 is not of type 'integer'", 'type'],
    ['POST', 'inventories', inventory({ total: '5' }), "'5' is not of type 'integer'", 'type'],
    ['POST', 'inventories', inventory({ total: 0 }), "'minimum' in schema['properties']['total']", 'minimum'],
    ['PUT', `/allocations/${CONSUMERS[1]}`, allocated('x', 1), "'x' does not match any", 'additionalProperties'],
    [
      'PUT',
      `/allocations/${CONSUMERS[1]}`,
      allocated(CONSUMERS[1], 0),
      "['patternProperties']['^[A-Z0-9_]+$']",
      'minimum',
    ],
    ['PUT', 'aggregates', { resource_provider_generation: 1, aggregates: 'x' }, "'x' is not of type 'array'", 'type'],
  ])('of %s %s are validated: %j', async (method, path, body, message, keyword) => {
    const { request, parent } = await tree();
    const rejection = await request(
      method,
      path.startsWith('/') ? path : `/resource_providers/${parent}/${path}`,
      body,
    );
    const { detail } = rejection.body.errors[0];
    expect([rejection.status, detail]).toEqual([400, expect.stringContaining(message)]);
    expect(detail).toMatch(new RegExp(` JSON does not validate: .* {2}Failed validating '${keyword}' in schema`));
  });

  it('must be JSON', async () => {
    const { request } = await tree();
    expect((await request('POST', '/resource_providers')).status).toBe(415);
  });

  it.each([
    [{ total: 5, reserved: 5 }, '1.25', 400],
    [{ total: 5, reserved: 5 }, '1.26', 201],
    [{ total: 5, reserved: 6 }, '1.39', 400],
    [{ total: 5, allocation_ratio: -1 }, '1.39', 400],
  ])('of inventories must leave capacity: %j at %s returns %i', async (fields, version, status) => {
    const { request, child } = await tree();
    const path = `/resource_providers/${child}/inventories`;
    const response = await request('POST', path, inventory(fields), version);
    expect(response.status, JSON.stringify(response.body)).toBe(status);
    expect(response.headers.get('location')?.endsWith(`${path}/DISK_GB`) ?? false).toBe(status === 201);
  });
});

describe('query strings', () => {
  it.each([
    ['/usages?project_id=', 'minLength'],
    [`/usages?project_id=${'p'.repeat(256)}`, 'maxLength'],
    ['/usages?project_id=p&x=1', "'x' was unexpected"],
    ['/traits?x=1', "'x' was unexpected"],
    ['/traits?associated=maybe', 'only accepts'],
    ['/allocation_candidates?resources=VCPU:1&root_required=CUSTOM_UNKNOWN', 'trait(s): CUSTOM_UNKNOWN.'],
  ])('are validated: %s', async (path, message) => {
    const { request } = await tree();
    const rejection = await request('GET', path);
    expect([rejection.status, rejection.body.errors[0].detail]).toEqual([400, expect.stringContaining(message)]);
  });
});

it('detaches a provider from its parent since 1.37', async () => {
  const { request, child } = await tree();
  const detach = (version: string) =>
    request('PUT', `/resource_providers/${child}`, { name: 'child', parent_provider_uuid: null }, version);
  const rejection = await detach('1.36');
  expect([rejection.status, rejection.body.errors[0].detail]).toEqual([400, expect.stringContaining('un-parenting')]);
  expect((await detach('1.37')).body).toMatchObject({ parent_provider_uuid: null, root_provider_uuid: child });
});

it('names the place of an invalid amount in the lists of versions before 1.12', async () => {
  const { request, parent } = await tree();
  const allocations = [{ resource_provider: { uuid: parent }, resources: { VCPU: 'x' } }];
  const rejection = await request('PUT', `/allocations/${CONSUMERS[1]}`, { allocations }, '1.0');
  expect(rejection.body.errors[0].detail).toContain(
    "'x' is not of type 'integer'  Failed validating 'type' in schema['properties']['allocations']['items']['properties']['resources']['patternProperties']['^[A-Z0-9_]+$']",
  );
});
