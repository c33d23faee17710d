import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest } from '../clouds.js';
import { type Operation, operationKey, operationsOf, ROUTES } from './operation-facts.js';

const SERVICES = Object.keys(ROUTES);

const NO_PROVIDER = 'Requires a login at an external identity provider and a web server module that verifies it';

/** Operations of the original services that the test cloud does not serve, with the reasons. */
const NOT_SERVED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  network: {
    'GET /v2.0/flavors/{}/service_profiles/{}': 'the response has no field; clients read the profiles of the flavor',
  },
  identity: {
    'GET /v3/OS-FEDERATION/identity_providers/{}/protocols/{}/auth': NO_PROVIDER,
    'POST /v3/OS-FEDERATION/identity_providers/{}/protocols/{}/auth': NO_PROVIDER,
    'GET /v3/auth/OS-FEDERATION/identity_providers/{}/protocols/{}/websso': NO_PROVIDER,
    'POST /v3/auth/OS-FEDERATION/identity_providers/{}/protocols/{}/websso': NO_PROVIDER,
    'GET /v3/auth/OS-FEDERATION/websso/{}': NO_PROVIDER,
    'POST /v3/auth/OS-FEDERATION/websso/{}': NO_PROVIDER,
    'POST /v3/auth/OS-FEDERATION/saml2': 'Signs SAML assertions with the certificate of an identity provider',
    'POST /v3/auth/OS-FEDERATION/saml2/ecp': 'Signs SAML assertions with the certificate of an identity provider',
    'GET /v3/OS-FEDERATION/saml2/metadata': 'Returns a file that administrators generate for a certificate',
    'GET /v3/OS-REVOKE/events': 'Revoked tokens are removed from the table of tokens, without events',
    'POST /v3/ec2tokens': 'Verifies requests to an EC2 API, which the cloud does not have',
  },
  volume: {
    ...Object.fromEntries(
      [
        'POST /v3/consistencygroups',
        'POST /v3/consistencygroups/create_from_src',
        'GET /v3/consistencygroups/{}',
        'PUT /v3/consistencygroups/{}',
        'PUT /v3/consistencygroups/{}/update',
        'POST /v3/consistencygroups/{}/delete',
        'POST /v3/cgsnapshots',
        'GET /v3/cgsnapshots/{}',
        'DELETE /v3/cgsnapshots/{}',
      ].map((key) => [key, 'groups replace consistency groups, and their lists are empty']),
    ),
    'PUT /v3/os-services/get-log': 'the log levels belong to the processes of the original',
    'PUT /v3/os-services/set-log': 'the log levels belong to the processes of the original',
  },
};

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

const addressOf = (service: string, path: string) => `/${service}${path.replaceAll(/\{\w+\}/g, MISSING)}`;

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

  it.each(cells(() => true))('%s requires a token, unless it serves discovery', async (_, operation) => {
    const { status } = await send(await cloudUnderTest(), '', operation);
    if (operation.open) expect(status).not.toBe(401);
    else expect(status).toBe(401);
  });

  it.each(cells(() => true))('%s handles missing resources and empty bodies', async (_, operation) => {
    const { status } = await send(await cloudUnderTest(), undefined, operation);
    const rejected = [405, 500, 501].filter((one) => ![operation.status].flat().includes(one));
    expect(rejected).not.toContain(status);
  });

  const withoutBody = cells(({ noBody, method }) => noBody === true && method !== 'GET');
  it.runIf(withoutBody.length > 0).each(withoutBody)('%s rejects a body', async (_, { method, path }) => {
    const { status } = await clientOf(await cloudUnderTest())(method, addressOf(service, path), { unexpected: 1 });
    expect(status).toBe(400);
  });

  it.each(cells(({ member }) => member !== undefined))('%s rejects a member of a project', async (_, operation) => {
    const cloud = await cloudUnderTest();
    const { status } = await send(cloud, cloud.token('demo', 'demo'), operation, operation.body);
    expect(status).toBe(operation.member);
  });
});
