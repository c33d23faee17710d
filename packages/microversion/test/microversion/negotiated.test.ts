import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express5 from 'express';
import express4 from 'express4';
import { describe, expect, it } from 'vitest';
import { linesOf, sendRequest } from '../../../../testing/send-request.js';
import { microversion, microversionOf } from '../../src/index.js';
import { bare, compute, expectVersion, FOUR, old } from './served.js';

describe('the negotiated version', () => {
  it('is the lowest version without a header', async () => {
    const response = await sendRequest(bare(compute));
    expect(response.body).toBe('2.1');
    expectVersion(response, '2.1');
  });

  it('is echoed in both forms, with two Vary lines', async () => {
    const result = await sendRequest(bare(compute), { headers: { 'SERVICE-API-VERSION': 'compute 2.27' } });
    expect(result.body).toBe('2.27');
    expectVersion(result, '2.27');
  });

  it('is echoed as a number for latest', async () => {
    expectVersion(await sendRequest(bare(compute), old('latest')), '2.100');
  });

  it('is found in repeated header lines, which count as one list', async () => {
    const typed = await sendRequest(bare(compute), {
      headers: { 'Service-API-Version': ['compute 2.5', 'volume 3.1', 'compute 2.6'] },
    });
    expect(typed.body).toBe('2.6');
    expect((await sendRequest(bare(compute), old(['2.9', '2.8']))).body).toBe('2.8');
  });

  it.each([200, 204, 304, 400, 403, 404, 415, 500])('is on a response with status %i', async (status) => {
    const handler: RequestListener = (_, res) => {
      res.statusCode = status;
      res.end();
    };
    expectVersion(await sendRequest(bare(compute, handler), old('2.9')), '2.9');
  });

  it('is echoed in all four headers if both families are enabled', async () => {
    const response = await sendRequest(bare({ ...compute, headers: 'both' }), {
      headers: { 'X-OpenStack-Nova-API-Version': '2.8' },
    });
    expect(FOUR.map((name) => response.headers[name.toLowerCase()])).toEqual([
      'compute 2.8',
      'compute 2.8',
      '2.8',
      '2.8',
    ]);
    expect(linesOf(response, 'Vary')).toEqual(FOUR);
  });
});

describe('an invalid version', () => {
  it('returns 400 without any version header or Vary', async () => {
    const response = await sendRequest(bare({ ...compute, headers: 'both' }), old('two'));
    expect(response.status).toBe(400);
    expect(response.headers['content-type']).toBe('application/json; charset=UTF-8');
    expect(JSON.parse(response.body)).toEqual({
      badRequest: {
        code: 400,
        message: 'API Version String two is of invalid format. Must be of format MajorNum.MinorNum.',
      },
    });
    for (const name of [...FOUR, 'Vary']) expect(response.headers[name.toLowerCase()]).toBeUndefined();
  });

  it('leaves two spaces in the message if it is empty', async () => {
    const response = await sendRequest(bare(compute), old(''));
    expect(JSON.parse(response.body).badRequest.message).toBe(
      'API Version String  is of invalid format. Must be of format MajorNum.MinorNum.',
    );
  });
});

describe('an unsupported version', () => {
  it('returns 406, which repeats it in the version headers', async () => {
    const response = await sendRequest(bare(compute), {
      headers: { 'X-Service-API-Version': '2.101', Accept: 'text/html' },
    });
    expect(response.status).toBe(406);
    expect(response.headers['content-type']).toBe('application/json; charset=UTF-8');
    expect(JSON.parse(response.body)).toEqual({
      computeFault: {
        code: 406,
        message: 'Version 2.101 is not supported by the API. Minimum is 2.1 and maximum is 2.100.',
      },
    });
    expectVersion(response, '2.101');
  });

  it('is repeated exactly, at any length', async () => {
    const version = `2.${'1234567890'.repeat(30)}`;
    expectVersion(await sendRequest(bare(compute), old(version)), version);
  });

  it('has no body in the response to HEAD', async () => {
    const response = await sendRequest(bare(compute), { method: 'HEAD', ...old('3.0') });
    expect([response.status, response.body]).toEqual([406, '']);
    expectVersion(response, '3.0');
  });
});

describe('a Vary header of the handler', () => {
  const handlers: Record<string, RequestListener> = {
    setHeader: (_, res) => void res.setHeader('Vary', 'Accept').end('x'),
    'setHeader with a list': (_, res) => void res.setHeader('Vary', ['Accept']).end('x'),
    appendHeader: (_, res) => void res.appendHeader('Vary', 'Accept').end('x'),
    'writeHead with an object': (_, res) => void res.writeHead(200, { vary: 'Accept' }).end('x'),
    'writeHead with a reason and an object': (_, res) => void res.writeHead(200, 'Fine', { Vary: ['Accept'] }).end('x'),
    'writeHead with a list': (_, res) => void res.writeHead(200, ['VARY', 'Accept', 'X-Own', '1']).end('x'),
    'a joined line': (_, res) => void res.setHeader('Vary', `${res.getHeader('Vary')}, Accept`).end('x'),
  };

  it.each(Object.entries(handlers))('set by %s precedes the one of the middleware', async (_, handler) => {
    const response = await sendRequest(bare(compute, handler));
    expect(response.status).toBe(200);
    expect(linesOf(response, 'Vary')).toEqual(['Accept', 'Service-API-Version', 'X-Service-API-Version']);
  });

  it('set before the middleware is preserved', async () => {
    const inner = bare(compute);
    const response = await sendRequest((req, res) => inner(req, res.setHeader('Vary', 'Origin') as any));
    expect(linesOf(response, 'Vary')).toEqual(['Origin', 'Service-API-Version', 'X-Service-API-Version']);
  });

  it('cannot remove the version headers', async () => {
    const response = await sendRequest(
      bare(compute, (_, res) => {
        res.removeHeader('Vary');
        res.end();
      }),
    );
    expect(linesOf(response, 'Vary')).toEqual(['Service-API-Version', 'X-Service-API-Version']);
  });

  it('does not change other headers of writeHead', async () => {
    const response = await sendRequest(
      bare(compute, (_, res) => void res.writeHead(201, { Vary: 'A', 'X-Own': 'b' }).end()),
    );
    expect([response.status, response.headers['x-own']]).toEqual([201, 'b']);
  });

  it('is not duplicated if the middleware runs twice', async () => {
    const twice = bare(compute, bare(compute));
    expectVersion(await sendRequest(twice, old('2.5')), '2.5');
  });
});

describe('a response head that has already been sent', () => {
  it('is not changed, and the request continues', async () => {
    const negotiate = microversion(compute);
    const response = await sendRequest((req: IncomingMessage, res: ServerResponse) => {
      res.writeHead(200);
      res.write('a');
      negotiate(req, res, () => res.end(String(microversionOf(req))));
    }, old('2.5'));
    expect(response.body).toBe('a2.5');
  });
});

describe.each([
  ['Express 5', express5],
  ['Express 4', express4 as unknown as typeof express5],
])('in %s', (_, express) => {
  const app = express();
  app.set('env', 'test');
  app.use(microversion(compute));
  app.get('/version', (req, res) => void res.vary('Accept').json(req.microversion));
  app.get('/fails', () => {
    throw new Error('expected by this test');
  });

  it('the handler reads req.microversion', async () => {
    const response = await sendRequest(app, { path: '/version', ...old('2.53') });
    expect(response.body).toBe('"2.53"');
    expect(linesOf(response, 'Vary')).toEqual(['Accept', 'Service-API-Version', 'X-Service-API-Version']);
  });

  it.each([
    ['/unknown', 404],
    ['/fails', 500],
  ])('the response of the framework to %s contains the version', async (path, status) => {
    const response = await sendRequest(app, { path, ...old('2.53') });
    expect(response.status).toBe(status);
    expectVersion(response, '2.53');
  });

  it('an error passed to next becomes a response with its status', async () => {
    const other = express();
    other.set('env', 'test');
    other.use(microversion({ ...compute, errors: 'next' }));
    const response = await sendRequest(other, old('2.101'));
    expect(response.status).toBe(406);
    expect(response.headers['x-service-api-version']).toBe('2.101');
  });
});
