import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { negotiator, since, until } from '@apistrata/microversion';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { createClient, type OperationKey } from '../../src/client/index.js';
import { createRouter, field, typedOperationsOf, viewOf } from '../../src/index.js';

interface ServerRecord {
  readonly id: string;
  readonly locked: boolean;
  readonly description: string;
}

const serverView = viewOf<ServerRecord>()({
  id: field(z.string(), ({ id }) => id),
  locked: since(
    '2.9',
    field(z.boolean(), ({ locked }) => locked),
  ),
  description: since(
    '2.53',
    field(z.string(), ({ description }) => description),
  ),
});

const operation = typedOperationsOf<object>();
const operations = [
  operation({
    method: 'GET',
    path: '/servers/{id}',
    summary: 'Show a server',
    status: 200,
    errors: [until('2.9', [404]), since('2.10', [404, 410])],
    reply: serverView,
    run: ({ params: { id } }) => ({ id, locked: true, description: 'web' }),
  }),
  operation({
    method: 'GET',
    path: '/networks',
    summary: 'List networks',
    window: until('2.35', true),
    status: 200,
    reply: { names: z.array(z.string()) },
    run: () => ({ names: ['lan'] }),
  }),
];
type Api = typeof operations;

const { apply: negotiate } = negotiator({ service: 'compute', min: '2.1', max: '2.100', headers: 'openstack' });
const router = createRouter({ operations, call: () => ({}), negotiate });

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer(router);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** A client of a version that sends the version as OpenStack clients do. */
const clientOf = <const V extends string>(version: V) =>
  createClient<Api, V>(url, {
    version,
    versionHeaders: (text) => ({ 'OpenStack-API-Version': `compute ${text}` }),
  });

describe('a client of a MAJOR.MINOR version', () => {
  it('sends the version in the header of the API, and receives the fields of that version', async () => {
    const path = { params: { id: '7' } };
    const [first, second, third] = [
      await clientOf('2.8')('GET /servers/{id}', path),
      await clientOf('2.10')('GET /servers/{id}', path),
      await clientOf('2.53')('GET /servers/{id}', path),
    ];
    if (!first.ok || !second.ok || !third.ok) throw new Error('rejected');
    expectTypeOf(first.data).toEqualTypeOf<{ readonly id: string }>();
    expectTypeOf(second.data).toEqualTypeOf<{ readonly id: string; readonly locked: boolean }>();
    expectTypeOf(third.data).toEqualTypeOf<{
      readonly id: string;
      readonly locked: boolean;
      readonly description: string;
    }>();
    expect(
      [first, second, third].map(({ data, response: { headers } }) => [headers.get('openstack-api-version'), data]),
    ).toEqual([
      ['compute 2.8', { id: '7' }],
      ['compute 2.10', { id: '7', locked: true }],
      ['compute 2.53', { id: '7', locked: true, description: 'web' }],
    ]);
  });

  it('has the operations of its version: 2.100 is above 2.35, and 2.9 is below it', async () => {
    expectTypeOf<OperationKey<Api, '2.9'>>().toEqualTypeOf<'GET /servers/{id}' | 'GET /networks'>();
    expectTypeOf<OperationKey<Api, '2.100'>>().toEqualTypeOf<'GET /servers/{id}'>();
    expect(await clientOf('2.9')('GET /networks')).toMatchObject({ ok: true, data: { names: ['lan'] } });
    // @ts-expect-error: the operation was removed in 2.36
    expect(await clientOf('2.100')('GET /networks')).toMatchObject({ ok: false, status: 404 });
  });

  it('is rejected with 406 at a version that the server does not support', async () => {
    const rejected = await clientOf('2.101')('GET /servers/{id}', { params: { id: '7' } });
    expect(rejected).toMatchObject({ ok: false, status: 406, error: { code: 'UNACCEPTABLE_VERSION' } });
  });
});
