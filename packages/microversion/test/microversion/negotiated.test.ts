import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express5 from 'express';
import express4 from 'express4';
import { describe, expect, it } from 'vitest';
import { ask, linesOf } from '../../../../testing/ask.js';
import { microversion, microversionOf } from '../../src/index.js';
import { bare, compute, expectVersion, FOUR, old } from './served.js';

describe('the negotiated version', () => {
  it('is the minimum without a header', async () => {
    const answer = await ask(bare(compute));
    expect(answer.body).toBe('2.1');
    expectVersion(answer, '2.1');
  });

  it('is echoed in both forms, with two Vary lines', async () => {
    const answer = await ask(bare(compute), { headers: { 'SERVICE-API-VERSION': 'compute 2.27' } });
    expect(answer.body).toBe('2.27');
    expectVersion(answer, '2.27');
  });

  it('is echoed as a number for latest', async () => {
    expectVersion(await ask(bare(compute), old('latest')), '2.100');
  });

  it('is found in repeated lines, which count as one list', async () => {
    const typed = await ask(bare(compute), {
      headers: { 'Service-API-Version': ['compute 2.5', 'volume 3.1', 'compute 2.6'] },
    });
    expect(typed.body).toBe('2.6');
    expect((await ask(bare(compute), old(['2.9', '2.8']))).body).toBe('2.8');
  });

  it.each([200, 204, 304, 400, 403, 404, 415, 500])('is on an answer with status %i', async (status) => {
    const handler: RequestListener = (_, res) => {
      res.statusCode = status;
      res.end();
    };
    expectVersion(await ask(bare(compute, handler), old('2.9')), '2.9');
  });

  it('is echoed in all four headers when both families are on', async () => {
    const answer = await ask(bare({ ...compute, headers: 'both' }), {
      headers: { 'X-OpenStack-Nova-API-Version': '2.8' },
    });
    expect(FOUR.map((name) => answer.headers[name.toLowerCase()])).toEqual([
      'compute 2.8',
      'compute 2.8',
      '2.8',
      '2.8',
    ]);
    expect(linesOf(answer, 'Vary')).toEqual(FOUR);
  });
});

describe('a version that is none', () => {
  it('is a 400 without any version header or Vary', async () => {
    const answer = await ask(bare({ ...compute, headers: 'both' }), old('two'));
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toBe('application/json; charset=UTF-8');
    expect(JSON.parse(answer.body)).toEqual({
      badRequest: {
        code: 400,
        message: 'API Version String two is of invalid format. Must be of format MajorNum.MinorNum.',
      },
    });
    for (const name of [...FOUR, 'Vary']) expect(answer.headers[name.toLowerCase()]).toBeUndefined();
  });

  it('leaves two blanks in the message when it is empty', async () => {
    const answer = await ask(bare(compute), old(''));
    expect(JSON.parse(answer.body).badRequest.message).toBe(
      'API Version String  is of invalid format. Must be of format MajorNum.MinorNum.',
    );
  });
});

describe('a version that is not served', () => {
  it('is a 406 that repeats it in the version headers', async () => {
    const answer = await ask(bare(compute), { headers: { 'X-Service-API-Version': '2.101', Accept: 'text/html' } });
    expect(answer.status).toBe(406);
    expect(answer.headers['content-type']).toBe('application/json; charset=UTF-8');
    expect(JSON.parse(answer.body)).toEqual({
      computeFault: {
        code: 406,
        message: 'Version 2.101 is not supported by the API. Minimum is 2.1 and maximum is 2.100.',
      },
    });
    expectVersion(answer, '2.101');
  });

  it('is repeated digit for digit, however long', async () => {
    const version = `2.${'1234567890'.repeat(30)}`;
    expectVersion(await ask(bare(compute), old(version)), version);
  });

  it('is answered to HEAD without a body', async () => {
    const answer = await ask(bare(compute), { method: 'HEAD', ...old('3.0') });
    expect([answer.status, answer.body]).toEqual([406, '']);
    expectVersion(answer, '3.0');
  });
});

describe('a Vary of the handler', () => {
  const handlers: Record<string, RequestListener> = {
    setHeader: (_, res) => void res.setHeader('Vary', 'Accept').end('x'),
    'setHeader with a list': (_, res) => void res.setHeader('Vary', ['Accept']).end('x'),
    appendHeader: (_, res) => void res.appendHeader('Vary', 'Accept').end('x'),
    'writeHead with an object': (_, res) => void res.writeHead(200, { vary: 'Accept' }).end('x'),
    'writeHead with a reason and an object': (_, res) => void res.writeHead(200, 'Fine', { Vary: ['Accept'] }).end('x'),
    'writeHead with a list': (_, res) => void res.writeHead(200, ['VARY', 'Accept', 'X-Own', '1']).end('x'),
    'a joined line': (_, res) => void res.setHeader('Vary', `${res.getHeader('Vary')}, Accept`).end('x'),
  };

  it.each(Object.entries(handlers))('set by %s is kept in front of ours', async (_, handler) => {
    const answer = await ask(bare(compute, handler));
    expect(answer.status).toBe(200);
    expect(linesOf(answer, 'Vary')).toEqual(['Accept', 'Service-API-Version', 'X-Service-API-Version']);
  });

  it('set before the middleware is kept too', async () => {
    const inner = bare(compute);
    const answer = await ask((req, res) => inner(req, res.setHeader('Vary', 'Origin') as any));
    expect(linesOf(answer, 'Vary')).toEqual(['Origin', 'Service-API-Version', 'X-Service-API-Version']);
  });

  it('cannot remove ours', async () => {
    const answer = await ask(
      bare(compute, (_, res) => {
        res.removeHeader('Vary');
        res.end();
      }),
    );
    expect(linesOf(answer, 'Vary')).toEqual(['Service-API-Version', 'X-Service-API-Version']);
  });

  it('leaves other headers of writeHead alone', async () => {
    const answer = await ask(bare(compute, (_, res) => void res.writeHead(201, { Vary: 'A', 'X-Own': 'b' }).end()));
    expect([answer.status, answer.headers['x-own']]).toEqual([201, 'b']);
  });

  it('does not pile up when the middleware runs twice', async () => {
    const twice = bare(compute, bare(compute));
    expectVersion(await ask(twice, old('2.5')), '2.5');
  });
});

describe('a head that is out already', () => {
  it('is left alone, and the request goes on', async () => {
    const negotiate = microversion(compute);
    const answer = await ask((req: IncomingMessage, res: ServerResponse) => {
      res.writeHead(200);
      res.write('a');
      negotiate(req, res, () => res.end(String(microversionOf(req))));
    }, old('2.5'));
    expect(answer.body).toBe('a2.5');
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
    const answer = await ask(app, { path: '/version', ...old('2.53') });
    expect(answer.body).toBe('"2.53"');
    expect(linesOf(answer, 'Vary')).toEqual(['Accept', 'Service-API-Version', 'X-Service-API-Version']);
  });

  it.each([
    ['/unknown', 404],
    ['/fails', 500],
  ])('the framework’s own answer to %s carries the version', async (path, status) => {
    const answer = await ask(app, { path, ...old('2.53') });
    expect(answer.status).toBe(status);
    expectVersion(answer, '2.53');
  });

  it('an error given to next becomes an answer of its status', async () => {
    const other = express();
    other.set('env', 'test');
    other.use(microversion({ ...compute, errors: 'next' }));
    const answer = await ask(other, old('2.101'));
    expect(answer.status).toBe(406);
    expect(answer.headers['x-service-api-version']).toBe('2.101');
  });
});
