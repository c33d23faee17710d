import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { enforceQuota, memoryStore, projectQuotas, type QuotaStore } from '@apistrata/quota';
import supertest from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { app, type Options, onFreshQuota, project, quota, untilUsed } from './secrets-app.js';

onFreshQuota();

describe('a client that disconnects before the response', () => {
  async function listen(server: Server): Promise<number> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  it('does not start the handler if it disconnects during the call to the store', async () => {
    const memory = memoryStore();
    let left: Promise<unknown> = Promise.resolve();
    let requested: () => void = () => undefined;
    const storeCalled = new Promise<void>((resolve) => {
      requested = resolve;
    });
    const slow: QuotaStore = Object.assign(memory, {
      reserve: async (...args: Parameters<QuotaStore['reserve']>) => {
        requested();
        await left;
        return Object.getPrototypeOf(memory).reserve.apply(memory, args);
      },
    });
    const slowQuota = projectQuotas({ preset: 'key-manager', store: slow });
    const handler = vi.fn();
    const enforce = enforceQuota({ quota: slowQuota, kind: 'secrets', project });
    let done: Promise<void> | undefined;
    const server = createServer((req, res) => {
      left = once(res, 'close');
      done = enforce(req, res, handler);
    });
    const call = request({ port: await listen(server), method: 'POST', path: '/' });
    call.on('error', () => undefined).end();
    await storeCalled;
    call.destroy();
    await left;
    await done;
    await untilUsed(0, slowQuota);
    expect(handler).not.toHaveBeenCalled();
    server.close();
  });

  it('releases the amount if a handler of bare node:http throws, and rethrows the error', async () => {
    const enforce = enforceQuota({ quota, kind: 'secrets', project });
    const server = createServer(async (req, res) => {
      const fail = async () => {
        throw new Error('handler failed');
      };
      await enforce(req, res, fail).catch((error) => res.writeHead(201).end(error.message));
    });
    await supertest(server).post('/').expect(201, 'handler failed');
    await untilUsed(0);
  });
});

describe('an unavailable store', () => {
  const down = new Proxy({} as QuotaStore, { get: () => () => Promise.reject(new Error('connection lost')) });
  const failing = () => projectQuotas({ preset: 'key-manager', store: down, defaults: { secrets: 2 } });

  it('causes 503 by default', async () => {
    const response = await supertest(app({ quota: failing() }))
      .post('/secrets')
      .expect(503);
    expect(response.body).toEqual({
      code: 503,
      title: 'Service Unavailable',
      description: 'Secret creation issue seen - Quotas cannot be checked now.',
    });
    const next: Options = { quota: failing(), errors: 'next' };
    await supertest(app(next)).post('/secrets').expect(503, { caught: 'QUOTA_STORE_UNAVAILABLE' });
  });

  it('accepts requests with "open", and reports the error to the hook', async () => {
    const onError = vi.fn();
    const agent = supertest(app({ quota: failing(), onStoreError: 'open', onError }));
    for (let call = 0; call < 4; call++) await agent.post('/secrets').expect(201);
    expect(onError.mock.calls[0]![0]).toMatchObject({ code: 'QUOTA_STORE_UNAVAILABLE' });
  });

  it('is replaced by the configured fallback store, with the same limits', async () => {
    const fallback = memoryStore();
    const agent = supertest(app({ quota: failing(), onStoreError: fallback }));
    await agent.post('/secrets').expect(201);
    await agent.post('/secrets').expect(201);
    await agent.post('/secrets').expect(403);
    await untilUsed(2, projectQuotas({ preset: 'key-manager', store: fallback }));
    await agent.delete('/secrets').expect(204);
    await untilUsed(1, projectQuotas({ preset: 'key-manager', store: fallback }));
  });

  it('receives the commit as soon as it is available again', async () => {
    const memory = memoryStore();
    let failures = 2;
    const failingStore: QuotaStore = Object.assign(memory, {
      settle: (...args: Parameters<QuotaStore['settle']>) => {
        if (failures-- > 0) throw new Error('connection lost');
        return Object.getPrototypeOf(memory).settle.apply(memory, args);
      },
    });
    const failingQuota = projectQuotas({ preset: 'key-manager', store: failingStore });
    await supertest(app({ quota: failingQuota }))
      .post('/secrets')
      .expect(201);
    await untilUsed(1, failingQuota);
  });

  it('counts a commit with a lost result as committed', async () => {
    const memory = memoryStore();
    let lost = false;
    const settle = vi.fn((...args: Parameters<QuotaStore['settle']>) => {
      const settled = Object.getPrototypeOf(memory).settle.apply(memory, args);
      if (lost) return settled;
      lost = true;
      throw new Error('connection lost');
    });
    const failingQuota = projectQuotas({ preset: 'key-manager', store: Object.assign(memory, { settle }) });
    const onError = vi.fn();
    await supertest(app({ quota: failingQuota, onError }))
      .post('/secrets')
      .expect(201);
    await eventually(() => expect(settle).toHaveBeenCalledTimes(2));
    await untilUsed(1, failingQuota);
    expect(onError).not.toHaveBeenCalled();
  });

  it('causes a report to the hook if the reservation expires before the commit', async () => {
    const memory = memoryStore();
    const removed: QuotaStore = Object.assign(memory, { settle: () => false });
    const onError = vi.fn();
    await supertest(app({ quota: projectQuotas({ preset: 'key-manager', store: removed }), onError }))
      .post('/secrets')
      .expect(201);
    await eventually(() => expect(onError).toHaveBeenCalledTimes(1));
    expect(onError.mock.calls[0]![0]).toMatchObject({ code: 'QUOTA_RESERVATION_ENDED' });
  });
});
