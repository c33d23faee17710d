import { createServer, type Server } from 'node:http';
import { negotiator } from '@apistrata/microversion';
import request from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createRouter, operationKey, operationsOf, type RouterObserver } from '../../src/index.js';

const operation = operationsOf<object>();

describe('an observer of a router', () => {
  const notified: string[] = [];
  const versions: [string, boolean][] = [];
  const { apply } = negotiator({
    service: 'books',
    min: '2.1',
    max: '2.9',
    onVersion: (version, requested) => versions.push([version.text, requested]),
  });
  const observer: RouterObserver = {
    around: async (_req, serve) => {
      notified.push('begin');
      await serve();
      notified.push('end');
    },
    stage: (stage, startedAt, ms) => {
      expect([startedAt >= 0, ms >= 0]).toEqual([true, true]);
      notified.push(stage);
    },
    request: ({ operation: found, version, status, error }) =>
      notified.push([found ? operationKey(found) : 'none', version?.text, status, (error as Error)?.message].join(' ')),
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
    notified.length = 0;
    versions.length = 0;
  });

  it('is notified of every stage and of the end, within `around`', async () => {
    await request(server).get('/books/7').set('Service-API-Version', 'books 2.3').expect(200, { id: '7' });
    const stages = ['identity', 'route', 'version', 'body', 'validation', 'target', 'policy', 'load', 'run', 'render'];
    expect(notified).toEqual(['begin', ...stages, 'GET /books/{id} 2.3 200 ', 'end']);
    expect(versions).toEqual([['2.3', true]]);
  });

  it('is notified of failures with their stage and response', async () => {
    await request(server).post('/books').send({}).expect(500);
    expect(notified.slice(-3)).toEqual(['load', 'POST /books 2.1 500 no room', 'end']);
    expect(versions).toEqual([['2.1', false]]);
  });

  it('reports neither unknown operations nor unsupported versions', async () => {
    await request(server).get('/nowhere').expect(404);
    expect(notified.slice(1, -1)).toEqual(['identity', 'none  404 The resource could not be found.']);
    await request(server).get('/books/7').set('Service-API-Version', 'books 3.0').expect(406);
    expect(notified.at(-2)).toMatch(/^none {2}406 /);
    expect(versions).toEqual([]);
  });

  it('reports the lowest version as requested if a request names it', async () => {
    await request(server).get('/books/7').set('Service-API-Version', 'books 2.1').expect(200);
    await request(server).get('/books/7').expect(200);
    expect(versions).toEqual([
      ['2.1', true],
      ['2.1', false],
    ]);
  });
});
