import type { IncomingMessage, RequestListener } from 'node:http';
import express5 from 'express';
import express4 from 'express4';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../../../testing/send-request.js';
import { type RequestIdOptions, type RequestIds, requestId, requestIdOf } from '../src/index.js';

const openstack = (options: RequestIdOptions = {}) => requestId({ preset: 'openstack', ...options });

const LOCAL = /^req-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const VALID = 'req-00000000-0000-0000-0000-000000000000';
const OTHER = 'req-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9';
const COMPUTE = ['X-Compute-Request-ID', 'x-openstack-request-id', 'X-Service-Request-ID'];

function bare(options: RequestIdOptions, handler: RequestListener): RequestListener {
  const ids = openstack(options);
  return (req, res) => ids(req, res, () => handler(req, res));
}

/** Returns the ids that a handler receives for the given request headers. */
async function seen(headers: Record<string, string | string[]>, options: RequestIdOptions = {}): Promise<RequestIds> {
  const { body } = await sendRequest(
    bare(options, (req, res) => res.end(JSON.stringify(requestIdOf(req)))),
    { headers },
  );
  return JSON.parse(body);
}

describe('the local id of the preset openstack', () => {
  it('is req- and a random lower-case UUID of version 4, different for each request', async () => {
    const [first, second] = [await seen({}), await seen({})];
    expect(first.local).toMatch(LOCAL);
    expect(second.local).toMatch(LOCAL);
    expect(first.local).not.toBe(second.local);
  });

  it.each(['X-Compute-Request-ID', 'X-Request-ID', 'X-Correlation-ID', 'X-Service-Request-ID'])(
    'is never the value of the client’s %s',
    async (name) => {
      const ids = await seen({ [name]: VALID });
      expect(ids.local).not.toBe(VALID);
      expect(ids.local).toMatch(LOCAL);
    },
  );

  it('is in X-Service-Request-ID of the response, and only there by default', async () => {
    const { headers, body } = await sendRequest(
      bare({}, (req, res) => res.end(requestIdOf(req)!.local)),
      {},
    );
    expect(headers['x-service-request-id']).toBe(body);
    expect(headers['x-compute-request-id']).toBeUndefined();
  });

  it('is in every configured response header', async () => {
    const { headers, body } = await sendRequest(
      bare({ headers: COMPUTE }, (req, res) => res.end(requestIdOf(req)!.local)),
    );
    for (const name of COMPUTE) expect(headers[name.toLowerCase()]).toBe(body);
  });

  it('can have another format', async () => {
    const { local } = await seen({}, { generate: (req) => `job:${req.method}` });
    expect(local).toBe('job:GET');
  });
});

describe('the global id of the preset openstack', () => {
  it.each([VALID, OTHER, `  ${OTHER}\t`])('is the inbound id %j, trimmed', async (value) => {
    const ids = await seen({ 'X-Service-Request-ID': value });
    expect(ids.global).toBe(value.trim());
  });

  it.each([
    ['upper case', OTHER.toUpperCase()],
    ['an upper-case digit', OTHER.replace('a', 'A')],
    ['a missing prefix', OTHER.slice(4)],
    ['an extra character', `${OTHER}0`],
    ['an extra prefix', `x${OTHER}`],
    ['two values in one line', `${OTHER}, ${OTHER}`],
    ['two values on two lines', [OTHER, OTHER]],
    ['a valid line and an empty one', [OTHER, '']],
    ['no dashes', `req-${OTHER.slice(4).replaceAll('-', '')}`],
    ['nothing', ''],
  ])('is dropped for %s', async (_, value) => {
    const ids = await seen({ 'X-Service-Request-ID': value });
    expect(ids).toEqual({ local: expect.stringMatching(LOCAL) });
  });

  it('is not in the response', async () => {
    const { headers } = await sendRequest(
      bare({}, (_, res) => res.end()),
      { headers: { 'X-Service-Request-ID': VALID } },
    );
    expect(headers['x-service-request-id']).not.toBe(VALID);
  });

  it('is read from the first of several headers that has a valid one', async () => {
    const inbound = ['X-Service-Request-ID', 'X-OpenStack-Request-ID'];
    const both = { 'X-Service-Request-ID': VALID, 'x-openstack-request-id': OTHER };
    expect((await seen(both, { inbound })).global).toBe(VALID);
    expect((await seen({ ...both, 'X-Service-Request-ID': 'nonsense' }, { inbound })).global).toBe(OTHER);
    expect((await seen(both, { inbound: [] })).global).toBeUndefined();
  });

  it('must match a custom expression completely, regardless of its flags', async () => {
    const options = { accept: /a|ab+/gy };
    expect((await seen({ 'X-Service-Request-ID': 'abb' }, options)).global).toBe('abb');
    expect((await seen({ 'X-Service-Request-ID': 'abb!' }, options)).global).toBeUndefined();
  });

  it('can be validated by a function', async () => {
    const options = { accept: (value: string) => value.length === 3 };
    expect((await seen({ 'X-Service-Request-ID': 'xyz' }, options)).global).toBe('xyz');
    expect((await seen({ 'X-Service-Request-ID': 'wxyz' }, options)).global).toBeUndefined();
  });

  it('is reported with its header and value only if it is dropped', async () => {
    const dropped: unknown[] = [];
    const options: RequestIdOptions = {
      onDropped: ({ header, value, req }) => dropped.push([header, value, req.method]),
    };
    await seen({ 'X-Service-Request-ID': [OTHER, 'second'] }, options);
    await seen({ 'X-Service-Request-ID': OTHER }, options);
    await seen({}, options);
    expect(dropped).toEqual([['X-Service-Request-ID', `${OTHER}, second`, 'GET']]);
  });

  it('is always a complete valid id, regardless of the client', () => {
    const ids = openstack({ context: false });
    const res = { headersSent: true };
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(OTHER, `${OTHER} `, `${OTHER}\n`)),
        (text) => {
          const req = { headers: { 'x-service-request-id': text } } as unknown as IncomingMessage;
          ids(req, res as any, () => {});
          expect(requestIdOf(req)!.global).toBe(text.trim() === OTHER ? OTHER : undefined);
        },
      ),
    );
  });
});

describe('the response headers', () => {
  it.each([200, 204, 301, 304, 400, 404, 406, 500, 503])('are on a %i', async (status) => {
    const { headers } = await sendRequest(
      bare({ headers: COMPUTE }, (_, res) => {
        res.statusCode = status;
        res.end();
      }),
    );
    for (const name of COMPUTE) expect(headers[name.toLowerCase()]).toMatch(LOCAL);
  });

  it.each(['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PATCH'])('are on the response to a %s', async (method) => {
    const { headers } = await sendRequest(
      bare({}, (_, res) => res.end()),
      { method },
    );
    expect(headers['x-service-request-id']).toMatch(LOCAL);
  });

  const own: Record<string, RequestListener> = {
    setHeader: (_, res) => res.setHeader('x-compute-request-id', 'mine').end(),
    'writeHead with an object': (_, res) => res.writeHead(201, { 'X-COMPUTE-REQUEST-ID': 'mine' }).end(),
    'writeHead with a list': (_, res) => res.writeHead(201, ['X-Compute-Request-Id', 'mine']).end(),
  };
  it.each(Object.entries(own))('that the handler sets by %s are preserved, others are added', async (_, handler) => {
    const { headers } = await sendRequest(bare({ headers: COMPUTE }, handler));
    expect(headers['x-compute-request-id']).toBe('mine');
    expect(headers['x-service-request-id']).toMatch(LOCAL);
    expect(headers['x-openstack-request-id']).toBe(headers['x-service-request-id']);
  });

  it('that are set before the middleware runs are preserved', async () => {
    const ids = openstack({ headers: COMPUTE });
    const { headers } = await sendRequest((req, res) => {
      res.setHeader('X-Compute-Request-ID', 'early');
      ids(req, res, () => res.end());
    });
    expect(headers['x-compute-request-id']).toBe('early');
    expect(headers['x-service-request-id']).toMatch(LOCAL);
  });

  it('are not changed after the head of the response was sent', async () => {
    const ids = openstack();
    const { body, headers } = await sendRequest((req, res) => {
      res.writeHead(200);
      res.write('a');
      ids(req, res, () => res.end('b'));
    });
    expect(body).toBe('ab');
    expect(headers['x-service-request-id']).toBeUndefined();
  });
});

describe('two stacked instances of the middleware', () => {
  it('agree: the inner id is both the returned and the current one', async () => {
    const [outer, inner] = [openstack({ headers: COMPUTE }), openstack()];
    const { headers, body } = await sendRequest((req, res) =>
      outer(req, res, () => {
        const first = requestIdOf(req)!.local;
        inner(req, res, () => res.end(JSON.stringify([first, requestIdOf(req)!.local])));
      }),
    );
    const [first, second] = JSON.parse(body);
    expect(first).not.toBe(second);
    for (const name of COMPUTE) expect(headers[name.toLowerCase()]).toBe(second);
  });

  it('preserve a header that was set between them', async () => {
    const [outer, inner] = [openstack({ headers: COMPUTE }), openstack({ headers: COMPUTE })];
    const { headers } = await sendRequest((req, res) =>
      outer(req, res, () => {
        res.setHeader('X-Compute-Request-ID', 'between');
        inner(req, res, () => res.end());
      }),
    );
    expect(headers['x-compute-request-id']).toBe('between');
  });
});

describe('an exception of the handler', () => {
  it('is rethrown by the middleware', () => {
    const res = { headersSent: true } as any;
    const failing = () => {
      throw new Error('handler');
    };
    expect(() => openstack()({ headers: {} } as any, res, failing)).toThrow('handler');
    expect(() => openstack({ context: false })({ headers: {} } as any, res, failing)).toThrow('handler');
  });

  it('is rethrown as a rejection of an asynchronous handler', async () => {
    const failing = async () => Promise.reject(new Error('later'));
    await expect(openstack()({ headers: {} } as any, { headersSent: true } as any, failing)).rejects.toThrow('later');
  });
});

describe.each([
  ['Express 5', express5],
  ['Express 4', express4 as unknown as typeof express5],
])('in %s', (_, express) => {
  const app = express();
  app.use(openstack({ headers: COMPUTE }));
  app.get('/ids', (req, res) => void res.json(requestIdOf(req)));
  app.get('/fails', () => {
    throw new Error('expected by this test');
  });
  app.set('env', 'test');

  it.each([
    ['a handled path', '/ids', 200],
    ['an unknown path', '/unknown', 404],
    ['a failure answered by the final handler', '/fails', 500],
  ])('the id is on the response of %s', async (_, path, status) => {
    const response = await sendRequest(app, { path });
    expect(response.status).toBe(status);
    for (const name of COMPUTE) expect(response.headers[name.toLowerCase()]).toMatch(LOCAL);
  });

  it('the handler reads both ids', async () => {
    const result = await sendRequest(app, { path: '/ids', headers: { 'X-Service-Request-ID': OTHER } });
    expect(JSON.parse(result.body)).toEqual({ local: result.headers['x-service-request-id'], global: OTHER });
  });
});

describe('an invalid option', () => {
  it.each([
    [{ header: ['X-A'] }, /unknown option "header"\. Did you mean "headers"\?/],
    [{ headers: 'X-A' }, /"headers" must be a list/],
    [{ headers: ['X A'] }, /X A/],
    [{ inbound: [''] }, /Header name/],
    [{ outgoing: 'a:b' }, /a:b/],
    [{ preset: 'enwoy' }, /unknown preset "enwoy"\. Did you mean "envoy"\?/],
    [{ generate: 'ulid' }, /unknown id format "ulid"\. Did you mean "uuid"\?/],
    [{ nonsense: 1 }, /Known names: preset, headers/],
  ])('%j is rejected when the middleware is created', (options, message) => {
    expect(() => requestId(options as any)).toThrow(message);
  });

  it('ignores later changes of the options object', async () => {
    const headers = ['X-One'];
    const ids = openstack({ headers });
    headers.push('X-Two');
    const response = await sendRequest((req, res) => ids(req, res, () => res.end()));
    expect(response.headers['x-one']).toMatch(LOCAL);
    expect(response.headers['x-two']).toBeUndefined();
  });
});
