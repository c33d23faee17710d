import { createServer } from 'node:http';
import { Version } from '@apistrata/microversion';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createRouter, field, operationsOf, view } from '../src/index.js';

interface Call {
  readonly steps: string[];
  readonly denied: boolean;
}

interface WithSteps extends Call {
  readonly loaded: ReadonlyMap<string, string>;
}

const guest = view<{ readonly id: string }, WithSteps>({
  id: field(z.string(), ({ id }) => id),
  room: field(z.string(), ({ id }, { loaded }) => loaded.get(id) ?? 'none'),
});

const operation = operationsOf<Call>();

const operations = [
  operation({
    method: 'GET',
    path: '/guests/{id}',
    summary: 'Show a guest',
    policy: 'guests:show',
    status: 200,
    target: ({ steps, params }) => {
      steps.push('target');
      return params;
    },
    load: async ({ steps, target }) => {
      steps.push('load');
      if (target.id === 'broken') throw Object.assign(new Error('no rooms'), { status: 503 });
      return new Map([['ada', '101']]);
    },
    reply: { guest },
    run: ({ steps, target, loaded }) => {
      steps.push(`run with ${loaded.size}`);
      return { guest: target };
    },
  }),
];

describe('the resource that an operation loads', () => {
  let steps: string[] = [];
  const server = createServer(
    createRouter<Call>({
      operations,
      call: (req) => {
        steps = [];
        return { steps, denied: req.headers['x-denied'] !== undefined };
      },
      negotiate: () => Version.of('2.1'),
      authorize: (_operation, { denied, steps: executed }) => {
        executed.push('authorize');
        if (denied) throw Object.assign(new Error('denied'), { status: 403 });
      },
      fault: (error: any, _req, res) => {
        res.statusCode = error.status ?? 500;
        res.end();
      },
    }),
  );
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('is available to the handler and to the views of its response', async () => {
    const response = await request(server).get('/guests/ada').expect(200);
    expect(JSON.parse(response.text)).toEqual({ guest: { id: 'ada', room: '101' } });
    expect(steps).toEqual(['target', 'authorize', 'load', 'run with 1']);
  });

  it('is not read for callers that are denied', async () => {
    await request(server).get('/guests/ada').set('x-denied', '1').expect(403);
    expect(steps).toEqual(['target', 'authorize']);
  });

  it('ends the request if it cannot be read', async () => {
    await request(server).get('/guests/broken').expect(503);
    expect(steps).toEqual(['target', 'authorize', 'load']);
  });
});
