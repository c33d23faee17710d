import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, sharedCloud } from '../clouds.js';
import { NOT_SERVED, type Operation, operationKey, operationsOf, ROUTES } from './operation-facts.js';

const SERVICES = Object.keys(ROUTES);

/** Served operations that are not in the facts, with the reasons. */
const DERIVED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  image: {
    'GET /v2': 'clients discover versions at endpoints with a version',
    'GET /v2/': 'clients discover versions at endpoints with a version',
  },
  network: {
    'GET /v2.0/bgp-speakers/{}/bgp-dragents': 'of an extension that is not announced; the list is empty',
    'GET /v2.0/quotas/{}/details.json': 'the router of the original removes the suffix',
    'GET /v2.0/routers/{}/l3-agents': 'of an extension that is not announced; the list is empty',
  },
  volume: {
    'GET /v3': 'the original redirects to /v3/',
    'GET /v3/types/default': 'a path of its own for the type `default`, as in the original',
    'GET /v3/group_types/default': 'a path of its own for the group type `default`, as in the original',
  },
};

const MISSING = '3f1de7a6-56a5-4c29-8f1d-5f4a55c1a0ee';

/** The values of path parameters that must be known names. */
const NAMES: Readonly<Record<string, string>> = { group: 'ldap', option: 'url' };

const addressOf = (service: string, path: string) =>
  `/${service}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => NAMES[name] ?? MISSING)}`;

const headersOf: Readonly<Record<string, Record<string, string>>> = {
  placement: { 'OpenStack-API-Version': 'placement 1.39' },
  volume: { 'OpenStack-API-Version': 'volume 3.71' },
};

describe.each(SERVICES)('the %s service', (service) => {
  const operations = operationsOf(service);
  const excluded = NOT_SERVED[service] ?? {};
  const served = operations.filter(({ method, path }) => !excluded[operationKey(method, path)]);
  const label = ({ method, path }: Operation) => `${method} ${path}`;
  const cells = (matches: (operation: Operation) => boolean) =>
    served.filter(matches).map((operation) => [label(operation), operation] as const);
  const send = (
    cloud: Awaited<ReturnType<typeof cloudUnderTest>>,
    token: string | undefined,
    one: Operation,
    valid = {},
  ) => {
    const body = ['POST', 'PUT', 'PATCH'].includes(one.method) ? valid : undefined;
    return clientOf(cloud, token)(one.method, addressOf(service, one.path), body, headersOf[service]);
  };

  it('serves the operations of the original, and no others', () => {
    const keys = ROUTES[service]?.().map(({ method, path }) => operationKey(method, path)) ?? [];
    const expected = served.map(({ method, path }) => operationKey(method, path));
    expect([...new Set(keys)].sort()).toEqual([...expected, ...Object.keys(DERIVED[service] ?? {})].sort());
  });

  it('excludes only operations of the original', () => {
    const known = new Set(operations.map(({ method, path }) => operationKey(method, path)));
    expect(Object.keys(excluded).filter((key) => !known.has(key))).toEqual([]);
  });

  // These requests fail, or create resources that do not affect the others.
  describe('in one cloud', () => {
    const cloud = sharedCloud();

    it.each(cells(() => true))('%s requires a token, unless it serves discovery', async (_, operation) => {
      const { status } = await send(cloud(), '', operation);
      if (operation.open) expect(status).not.toBe(401);
      else expect(status).toBe(401);
    });

    it.each(cells(() => true))('%s handles missing resources and empty bodies', async (_, operation) => {
      const { status } = await send(cloud(), undefined, operation);
      const rejected = [405, 500, 501].filter((one) => ![operation.status].flat().includes(one));
      expect(rejected).not.toContain(status);
    });

    const withoutBody = cells(({ rejectsBody, method }) => rejectsBody === true && method !== 'GET');
    it.runIf(withoutBody.length > 0).each(withoutBody)('%s rejects a body', async (_, { method, path }) => {
      const { status } = await clientOf(cloud())(method, addressOf(service, path), { unexpected: 1 });
      expect(status).toBe(400);
    });
  });

  const byMember = (cloud: Awaited<ReturnType<typeof cloudUnderTest>>, operation: Operation) =>
    send(cloud, cloud.token('demo', 'demo'), operation, operation.body);

  const forbidden = cells(({ member }) => member === 403);
  it.runIf(forbidden.length > 0).each(forbidden)('%s rejects a member of a project', async (_, operation) => {
    const cloud = await cloudUnderTest();
    expect((await byMember(cloud, operation)).status).toBe(403);
    const allowed = cloud.token('admin', 'admin', ['admin', 'service']);
    expect((await send(cloud, allowed, operation, operation.body)).status).not.toBe(403);
  });

  // For these operations, `identity-policies.test.ts` compares the callers with access to existing resources.
  const hidden = cells(({ member }) => member !== undefined && member !== 403);
  it.runIf(hidden.length > 0).each(hidden)('%s does not find missing resources of a member', async (_, operation) => {
    expect((await byMember(await cloudUnderTest(), operation)).status).toBe(operation.member);
  });
});
