import { createServer, type Server } from 'node:http';
import request from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { negotiator } from '../../src/negotiation/negotiator.js';
import { createRouter, operationKey, operationsOf, type RouterObserver } from '../../src/router/index.js';

const operation = operationsOf<object>();

describe('an observer of a router', () => {
  const told: string[] = [];
  const versions: [string, boolean][] = [];
  const { apply } = negotiator({
    service: 'books',
    min: '2.1',
    max: '2.9',
    onVersion: (version, asked) => versions.push([version.text, asked]),
  });
  const observer: RouterObserver = {
    around: async (_req, serve) => {
      told.push('begin');
      await serve();
      told.push('end');
    },
    stage: (stage, begunAt, ms) => {
      expect([begunAt >= 0, ms >= 0]).toEqual([true, true]);
      told.push(stage);
    },
    request: ({ operation: found, version, status, error }) =>
      told.push([found ? operationKey(found) : 'none', version?.text, status, (error as Error)?.message].join(' ')),
  };
  const router = createRouter({
    operations: [
      operation({
        method: 'GET',
        path: '/books/{id}',
        summary: 'Show a book',
        status: 200,
        reply: { id: z.string() },
        run: ({ params }) => ({ id: params.id }),
      }),
      operation({
        method: 'POST',
        path: '/books',
        summary: 'Add a book',
        status: 201,
        run: () => Promise.reject(new Error('no room')),
      }),
    ],
    call: () => ({}),
    negotiate: apply,
    fault: (error, _req, res) => {
      res.statusCode = (error as { status?: number }).status ?? 500;
      res.end();
    },
    observer,
  });
  let server: Server;
  beforeAll(() => void (server = createServer(router).listen(0)));
  afterAll(() => void server.close());
  beforeEach(() => {
    told.length = 0;
    versions.length = 0;
  });

  it('is told of every stage and of the end, within what it put around', async () => {
    await request(server).get('/books/7').set('Service-API-Version', 'books 2.3').expect(200, { id: '7' });
    const stages = ['identity', 'route', 'version', 'body', 'validation', 'target', 'policy', 'load', 'run', 'render'];
    expect(told).toEqual(['begin', ...stages, 'GET /books/{id} 2.3 200 ', 'end']);
    expect(versions).toEqual([['2.3', true]]);
  });

  it('is told of what failed: where, and with which answer', async () => {
    await request(server).post('/books').send({}).expect(500);
    expect(told.slice(-3)).toEqual(['load', 'POST /books 2.1 500 no room', 'end']);
    expect(versions).toEqual([['2.1', false]]);
  });

  it('is told of no operation where there is none, and of no version where none is served', async () => {
    await request(server).get('/nowhere').expect(404);
    expect(told.slice(1, -1)).toEqual(['identity', 'none  404 The resource could not be found.']);
    await request(server).get('/books/7').set('Service-API-Version', 'books 3.0').expect(406);
    expect(told.at(-2)).toMatch(/^none {2}406 /);
    expect(versions).toEqual([]);
  });

  it('hears of the lowest version as asked for where a request names it', async () => {
    await request(server).get('/books/7').set('Service-API-Version', 'books 2.1').expect(200);
    await request(server).get('/books/7').expect(200);
    expect(versions).toEqual([
      ['2.1', true],
      ['2.1', false],
    ]);
  });
});
