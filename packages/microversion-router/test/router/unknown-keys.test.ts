import { createServer, type Server } from 'node:http';
import { since, Version } from '@apistrata/microversion';
import { object } from '@apistrata/microversion/schema';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createRouter, operationsOf } from '../../src/index.js';
import { sendMessage } from './send-message.js';

const operation = operationsOf<object>();

const echo = operation({
  method: 'POST',
  path: '/echo',
  summary: 'Returns its input',
  status: 200,
  body: object({
    book: object({
      title: z.string().min(1),
      notes: z.array(object({ by: z.string() }).at(Version.of('2.1'))).optional(),
    }),
    later: since('2.5', z.string().optional()),
  }),
  reply: z.unknown(),
  run: ({ body }) => body,
});

function serverWith(unknownKeys: 'as-defined' | 'drop' | undefined): Server {
  return createServer(
    createRouter({
      operations: [echo],
      call: () => ({}),
      negotiate: () => Version.of('2.1'),
      fault: sendMessage,
      unknownKeys,
    }),
  );
}

const noise = {
  book: { title: 't', colour: 'blue', notes: [{ by: 'me', at: 1 }, { by: 'you' }] },
  more: { deep: [1] },
};

describe('keys of a body that no schema names', () => {
  const servers = { strict: serverWith(undefined), drop: serverWith('drop') };
  beforeAll(() => {
    for (const server of Object.values(servers)) server.listen(0, '127.0.0.1');
  });
  afterAll(() => {
    for (const server of Object.values(servers)) server.close();
  });

  it('are rejected if the schema rejects unknown keys', async () => {
    expect((await request(servers.strict).post('/echo').send(noise)).status).toBe(400);
  });

  it('are dropped by a router that drops them, at any depth', async () => {
    const { status, body } = await request(servers.drop).post('/echo').send(noise);
    expect(status).toBe(200);
    expect(body).toEqual({ book: { title: 't', notes: [{ by: 'me' }, { by: 'you' }] } });
  });

  it('are dropped even if a later version introduces them', async () => {
    const { body } = await request(servers.drop)
      .post('/echo')
      .send({ book: { title: 't' }, later: 7 });
    expect(body).toEqual({ book: { title: 't' } });
  });

  it('do not hide errors of other keys', async () => {
    for (const wrong of [{ book: { title: '', more: 1 } }, { book: {}, more: 1 }, { more: 1 }, [], 7]) {
      const sent = request(servers.drop).post('/echo').set('Content-Type', 'application/json');
      expect((await sent.send(JSON.stringify(wrong))).status).toBe(400);
    }
  });

  it('are dropped even if they have the names of members of Object.prototype', async () => {
    const body = '{"book": {"title": "t", "__proto__": {"a": 1}, "constructor": 1, "toString": 2}, "__proto__": 3}';
    const responded = await request(servers.drop).post('/echo').set('Content-Type', 'application/json').send(body);
    expect(responded.status).toBe(200);
    expect(responded.body).toEqual({ book: { title: 't' } });
  });
});
