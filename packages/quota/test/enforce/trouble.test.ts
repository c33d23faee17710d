import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { enforceQuota, memoryStore, projectQuotas, type QuotaStore } from '@apistrata/quota';
import supertest from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { app, type Options, onFreshQuota, project, quota, settlesAt } from './secrets-app.js';

onFreshQuota();

describe('when the client goes away before there is an answer', () => {
  async function listen(server: Server): Promise<number> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  it('does not call the handler when that happened while the store was asked', async () => {
    const memory = memoryStore();
    let left: Promise<unknown> = Promise.resolve();
    let asked: () => void = () => undefined;
    const beingAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const slow: QuotaStore = Object.assign(memory, {
      reserve: async (...args: Parameters<QuotaStore['reserve']>) => {
        asked();
        await left;
        return Object.getPrototypeOf(memory).reserve.apply(memory, args);
      },
    });
    const slowQuota = projectQuotas({ store: slow });
    const handler = vi.fn();
    const enforce = enforceQuota({ quota: slowQuota, kind: 'secrets', project });
    let done: Promise<void> | undefined;
    const server = createServer((req, res) => {
      left = once(res, 'close');
      done = enforce(req, res, handler);
    });
    const call = request({ port: await listen(server), method: 'POST', path: '/' });
    call.on('error', () => undefined).end();
    await beingAsked;
    call.destroy();
    await left;
    await done;
    await settlesAt(0, slowQuota);
    expect(handler).not.toHaveBeenCalled();
    server.close();
  });

  it('a handler of bare node:http that throws gives back, and its caller gets the error', async () => {
    const enforce = enforceQuota({ quota, kind: 'secrets', project });
    const server = createServer(async (req, res) => {
      const fail = async () => {
        throw new Error('handler failed');
      };
      await enforce(req, res, fail).catch((error) => res.writeHead(201).end(error.message));
    });
    await supertest(server).post('/').expect(201, 'handler failed');
    await settlesAt(0);
  });
});

describe('while the store is down', () => {
  const down = new Proxy({} as QuotaStore, { get: () => () => Promise.reject(new Error('connection lost')) });
  const failing = () => projectQuotas({ store: down, defaults: { secrets: 2 } });

  it('refuses with 503 unless told otherwise', async () => {
    const answer = await supertest(app({ quota: failing() }))
      .post('/secrets')
      .expect(503);
    expect(answer.body).toEqual({
      code: 503,
      title: 'Service Unavailable',
      description: 'Secret creation issue seen - Quotas cannot be checked now.',
    });
    const next: Options = { quota: failing(), failWith: 'next' };
    await supertest(app(next)).post('/secrets').expect(503, { caught: 'QUOTA_STORE_UNAVAILABLE' });
  });

  it('lets pass when open, and tells the hook', async () => {
    const onError = vi.fn();
    const agent = supertest(app({ quota: failing(), onStoreError: 'open', onError }));
    for (let call = 0; call < 4; call++) await agent.post('/secrets').expect(201);
    expect(onError.mock.calls[0]![0]).toMatchObject({ code: 'QUOTA_STORE_UNAVAILABLE' });
  });

  it('counts in another store when given one, under the same limits', async () => {
    const fallback = memoryStore();
    const agent = supertest(app({ quota: failing(), onStoreError: fallback }));
    await agent.post('/secrets').expect(201);
    await agent.post('/secrets').expect(201);
    await agent.post('/secrets').expect(403);
    await settlesAt(2, projectQuotas({ store: fallback }));
    await agent.delete('/secrets').expect(204);
    await settlesAt(1, projectQuotas({ store: fallback }));
  });

  it('commits as soon as the store is back', async () => {
    const memory = memoryStore();
    let failures = 2;
    const shaky: QuotaStore = Object.assign(memory, {
      settle: (...args: Parameters<QuotaStore['settle']>) => {
        if (failures-- > 0) throw new Error('connection lost');
        return Object.getPrototypeOf(memory).settle.apply(memory, args);
      },
    });
    const shakyQuota = projectQuotas({ store: shaky });
    await supertest(app({ quota: shakyQuota }))
      .post('/secrets')
      .expect(201);
    await settlesAt(1, shakyQuota);
  });

  it('takes a commit whose answer was lost for done', async () => {
    const memory = memoryStore();
    let lost = false;
    const settle = vi.fn((...args: Parameters<QuotaStore['settle']>) => {
      const settled = Object.getPrototypeOf(memory).settle.apply(memory, args);
      if (lost) return settled;
      lost = true;
      throw new Error('connection lost');
    });
    const shakyQuota = projectQuotas({ store: Object.assign(memory, { settle }) });
    const onError = vi.fn();
    await supertest(app({ quota: shakyQuota, onError }))
      .post('/secrets')
      .expect(201);
    await eventually(() => expect(settle).toHaveBeenCalledTimes(2));
    await settlesAt(1, shakyQuota);
    expect(onError).not.toHaveBeenCalled();
  });

  it('tells the hook when a reservation ended before it could be committed', async () => {
    const memory = memoryStore();
    const gone: QuotaStore = Object.assign(memory, { settle: () => false });
    const onError = vi.fn();
    await supertest(app({ quota: projectQuotas({ store: gone }), onError }))
      .post('/secrets')
      .expect(201);
    await eventually(() => expect(onError).toHaveBeenCalledTimes(1));
    expect(onError.mock.calls[0]![0]).toMatchObject({ code: 'QUOTA_RESERVATION_GONE' });
  });
});
