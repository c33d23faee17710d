import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Version } from '@apistrata/microversion';
import request from 'supertest';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createRouter, operationsOf, type RouterOptions } from '../../src/index.js';
import { sendMessage } from './send-message.js';

const nested = (open: string, close: string, levels: number) => `${open.repeat(levels)}1${close.repeat(levels)}`;

const echo = operationsOf<object>()({
  method: 'POST',
  path: '/echo',
  summary: 'Returns its input',
  status: 200,
  body: z.unknown(),
  reply: z.unknown(),
  run: ({ body }) => {
    if ((body as { fail?: boolean }).fail) throw new Error('a defect');
    return body;
  },
});

describe('a router', () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  function serving(options: Partial<RouterOptions<object>>, before?: (req: IncomingMessage) => Promise<void>) {
    const router = createRouter({
      operations: [echo],
      call: () => ({}),
      negotiate: () => Version.of('2.1'),
      fault: sendMessage,
      ...options,
    });
    server = createServer(async (req, res) => {
      await before?.(req);
      router(req, res);
    });
    return request(server.listen(0, '127.0.0.1'));
  }

  it.each(['{"a', '"\\', '[1,', '{"a":}', ']', '[[]}', '\u0000'])('treats %j as malformed', async (text) => {
    const { status, text: message } = await serving({}).post('/echo').type('json').send(text);
    expect([status, message]).toEqual([400, 'Malformed request body']);
  });

  it('rejects bodies with more structure than configured', async () => {
    const limited = () =>
      serving({ jsonLimits: { depth: 2 } })
        .post('/echo')
        .type('json');
    expect((await limited().send('[[1]]')).status).toBe(200);
    const rejected = await limited().send('[[[1]]]');
    expect([rejected.status, rejected.text]).toEqual([
      400,
      'The request body is nested too deeply: the limit is 2 levels',
    ]);
  });

  it('rejects such bodies even if another parser has read the body', async () => {
    const parser = async (req: IncomingMessage) => {
      let text = '';
      for await (const chunk of req) text += chunk;
      (req as IncomingMessage & { body?: unknown }).body = JSON.parse(text);
    };
    const send = (text: string) => serving({}, parser).post('/echo').type('json').send(text);
    expect((await send('[[1]]')).status).toBe(200);
    expect((await send(nested('[', ']', 5000))).status).toBe(400);
  });

  it.each<[string, (error: unknown, req: IncomingMessage, res: ServerResponse) => void]>([
    [
      'throws',
      () => {
        throw new RangeError('no more stack');
      },
    ],
    [
      'throws half way through',
      (_error, _req, res) => {
        res.statusCode = 200;
        res.setHeader('Content-Type', 'application/json');
        throw new RangeError('no more stack');
      },
    ],
  ])('sends an empty 500 and reports the error if the fault renderer %s', async (_, fault) => {
    const notified: unknown[] = [];
    const responded = await serving({ fault, onError: (error) => notified.push(error) })
      .post('/echo')
      .send({ fail: true });
    expect([responded.status, responded.text, responded.headers['content-type']]).toEqual([500, '', undefined]);
    expect(notified).toEqual([new RangeError('no more stack')]);
  });

  it('sends an empty 500 without an error listener', async () => {
    const thrower = () => {
      throw new Error('the log is full');
    };
    expect((await serving({ fault: thrower, onError: thrower }).post('/echo').send({ fail: true })).status).toBe(500);
  });

  it('aborts a response that fails after its start, and reports the error', async () => {
    const reported: unknown[] = [];
    const started = operationsOf<{ res: ServerResponse }>()({
      method: 'GET',
      path: '/begun',
      summary: 'Begins and fails',
      status: 200,
      run: ({ res }) => {
        res.write('half');
        throw new Error('too late');
      },
    });
    const agent = serving({
      operations: [started],
      call: (_req, res) => ({ res }),
      onError: (error) => reported.push(error),
    });
    await expect(agent.get('/begun')).rejects.toThrow();
    expect(reported).toEqual([new Error('too late')]);
  });
});
