import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { createEngine } from '@apistrata/compute-engine';
import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { freshDatabase } from '../../../../testing/fresh-database.js';
import { computeApi, noauth, type RateLimiter } from '../../src/index.js';
import { type RateLimit, type RateLimitStore, rateLimiter } from '../../src/rate-limit/index.js';
import { apiUnderTest } from '../api-under-test.js';

const USER: RateLimit = { per: 'user', requests: 3, windowSeconds: 600 };
const PROJECT: RateLimit = { per: 'project', requests: 5, windowSeconds: 600 };

async function apiWith(rateLimit: RateLimiter) {
  const api = await apiUnderTest({ router: { rateLimit } });
  onTestFinished(() => api.close());
  return api;
}

function redisAt(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => 50 });
  redis.on('error', () => {});
  onTestFinished(() => redis.disconnect());
  return redis;
}

function poolAt(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 20_000 });
  pool.on('error', () => {});
  onTestFinished(() => pool.end());
  return pool;
}

/** Creates a proxy to a server that can be closed and opened again. */
async function openProxy(url: string) {
  const { hostname, port: behind } = new URL(url);
  const open = new Set<Socket>();
  const server = createTcpServer((inner) => {
    const outer = connect(Number(behind), hostname);
    for (const socket of [inner, outer]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => open.delete(socket));
    }
    inner.pipe(outer).pipe(inner);
  });
  const listen = (port: number) => new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  await listen(0);
  const { port } = server.address() as { port: number };
  const close = () =>
    new Promise<void>((done) => {
      server.close(() => done());
      for (const socket of open) socket.destroy();
    });
  onTestFinished(() => void (server.listening && close()));
  return { url: url.replace(`:${behind}`, `:${port}`), close, reopen: () => listen(port) };
}

describe('the rate limits of a compute API', () => {
  it('return the limits and the remaining requests to every caller, and reject excess requests with a fault', async () => {
    const api = await apiWith(rateLimiter({ limits: [PROJECT, USER] }));
    const ada = api.as('ada:p1');
    const first = await ada.get('/flavors');
    expect(first.status).toBe(200);
    expect(first.headers.get('ratelimit-policy')).toBe('"user-600";q=3;w=600, "project-600";q=5;w=600');
    expect(first.headers.get('ratelimit')).toBe('"user-600";r=2;t=600, "project-600";r=4;t=600');
    // Failed requests count too.
    expect((await ada.get('/nonsense')).status).toBe(404);
    expect((await ada.get('/flavors')).headers.get('ratelimit')).toMatch(/^"user-600";r=0;t=\d+, "project-600";r=2;/);

    const rejected = await ada.get('/flavors');
    expect(rejected.status).toBe(429);
    const seconds = rejected.headers.get('retry-after')!;
    expect(Number(seconds)).toBeGreaterThan(0);
    expect(rejected.headers.get('ratelimit')).toBe(`"user-600";r=0;t=${seconds}`);
    expect(rejected.body).toEqual({
      overLimit: {
        code: 429,
        message: `Too many requests: a user may send 3 in 600 s. Try again in ${seconds} s.`,
        retryAfter: seconds,
      },
    });
    expect(api.errors).toEqual([]);
  });

  it('protect users from each other: rejected requests do not count for the project, and users are counted separately', async () => {
    const api = await apiWith(rateLimiter({ limits: [USER, PROJECT] }));
    const statuses = async (token: string, times: number) => {
      const all: number[] = [];
      for (let n = 0; n < times; n++) all.push((await api.as(token).get('/flavors')).status);
      return all;
    };
    expect(await statuses('ada:p1', 10)).toEqual([200, 200, 200, ...Array(7).fill(429)]);
    expect(await statuses('bob:p1', 2)).toEqual([200, 200]);
    const rejected = await api.as('bob:p1').get('/flavors');
    expect([rejected.status, rejected.headers.get('ratelimit')]).toEqual([
      429,
      expect.stringMatching(/^"project-600";r=0;/),
    ]);
    expect(rejected.body.overLimit.message).toContain('a project may send 5 in 600 s');
    expect(await statuses('eve:p2', 1)).toEqual([200]);
    // The limit for a user applies across all projects.
    expect(await statuses('ada:p2', 1)).toEqual([429]);
  });

  it('do not count unauthenticated requests and version documents', async () => {
    const api = await apiWith(rateLimiter({ limits: [{ ...USER, requests: 1 }] }));
    for (let n = 0; n < 3; n++) {
      const anonymous = await fetch(`${api.url}/v2.1/flavors`);
      expect([anonymous.status, anonymous.headers.get('ratelimit')]).toEqual([401, null]);
      expect((await fetch(`${api.url}/v2.1/`)).status).toBe(200);
    }
    expect((await api.as('ada:p1').get('/flavors')).status).toBe(200);
  });

  it('reset with the next window', async () => {
    const api = await apiWith(rateLimiter({ limits: [{ ...USER, requests: 1, windowSeconds: 1 }] }));
    const status = async () => (await api.as('ada:p1').get('/flavors')).status;
    expect(await status()).toBe(200);
    await expect.poll(status, { interval: 100 }).toBe(200);
  });

  it('do not apply to exempt callers, and can be replaced at run time', async () => {
    const limiter = rateLimiter({
      limits: [{ ...USER, requests: 1 }],
      exempt: ({ roles }) => roles.includes('service'),
    });
    const api = await apiWith(limiter);
    for (let n = 0; n < 3; n++) {
      const service = await api.as('net:services:service').get('/flavors');
      expect([service.status, service.headers.has('ratelimit')]).toEqual([200, false]);
    }
    const ada = api.as('ada:p1');
    expect([(await ada.get('/flavors')).status, (await ada.get('/flavors')).status]).toEqual([200, 429]);
    expect(() => limiter.reload([{ ...USER, requests: 0 }])).toThrow(RangeError);
    expect((await ada.get('/flavors')).status).toBe(429);
    limiter.reload([{ ...USER, requests: 1000 }]);
    expect((await ada.get('/flavors')).status).toBe(200);
    limiter.reload([]);
    expect((await ada.get('/flavors')).headers.has('ratelimit')).toBe(false);
  });

  it('apply separately to users with very long ids', async () => {
    const limiter = rateLimiter({ limits: [{ ...USER, requests: 1 }] });
    const caller = (userId: string) => ({ userId, projectId: 'p', roles: [] });
    const long = 'x'.repeat(5_000);
    expect((await limiter.count(caller(long)))!.exceeded).toBeUndefined();
    expect((await limiter.count(caller(`${long}y`)))!.exceeded).toBeUndefined();
    expect((await limiter.count(caller(long)))!.exceeded).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', status: 429 });
  });

  it('apply to computeApi() too', async () => {
    const engine = await createEngine();
    const server = createServer(
      computeApi({ engine, identity: noauth(), rateLimit: rateLimiter({ limits: [{ ...USER, requests: 1 }] }) }),
    );
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(async () => {
      server.closeAllConnections();
      server.close();
      await engine.close();
    });
    const { port } = server.address() as { port: number };
    const request = () => fetch(`http://127.0.0.1:${port}/v2.1/flavors`, { headers: { 'X-Auth-Token': 'ada:p1' } });
    expect([(await request()).status, (await request()).status]).toEqual([200, 429]);
  });

  it.each([
    [{ ...USER, requests: 0 }, 'requests must be an integer from 1'],
    [{ ...USER, windowSeconds: 0.5 }, 'windowSeconds must be an integer from 1'],
    [{ ...USER, per: 'host' as 'user' }, "per must be 'project' or 'user'"],
    [{ ...USER, name: 'a "name"' }, 'name must have 1 to 64 printable characters'],
  ])('reject %j', (limit, message) => {
    expect(() => rateLimiter({ limits: [limit] })).toThrow(message);
  });

  it('require unique names and known options', () => {
    expect(() => rateLimiter({ limits: [USER, USER] })).toThrow("two limits have the name 'user-600'");
    expect(() => rateLimiter({ limit: [USER] } as never)).toThrow('unknown option "limit"');
  });
});

const stores: readonly [string, () => Promise<string>, (url: string) => RateLimitStore][] = [
  ['Redis', async () => inject('redisUrl'), (url) => ({ redis: redisAt(url) })],
  [
    'PostgreSQL',
    async () => (inject('postgresUrl') === '' ? '' : freshDatabase(inject('postgresUrl'))),
    (url) => ({ postgres: poolAt(url) }),
  ],
];

describe.each(stores)('rate limits in %s', (kind, place, storeAt) => {
  const caller = (userId: string) => ({ userId, projectId: 'p', roles: [] });
  const rejections = async (limiter: RateLimiter, user: string, times: number) => {
    const verdicts = await Promise.all(Array.from({ length: times }, () => limiter.count(caller(user))));
    return verdicts.filter((verdict) => verdict!.exceeded).length;
  };

  const limiterAt = (limit: RateLimit, url: string, onError = (_: Error) => {}) =>
    rateLimiter({ limits: [limit], store: storeAt(url), storeTimeoutMs: 20_000, onError });
  /**
   * Waits until both limiters use the store, so that the second one rejects a user whose limit was reached in the first
   * one.
   */
  const together = async (first: RateLimiter, second: RateLimiter) => {
    const probe = async () => {
      const user = randomUUID();
      await rejections(first, user, 30);
      return (await second.count(caller(user)))!.exceeded !== undefined;
    };
    await expect.poll(probe, { interval: 300 }).toBe(true);
  };

  it('apply to all processes together, exactly', async (context) => {
    const url = await place();
    if (url === '') return context.skip(`*** SKIPPED: this machine has no ${kind} ***`);
    const limit: RateLimit = { ...USER, requests: 20, name: randomUUID() };
    const limiters = [1, 2, 3].map(() => limiterAt(limit, url));
    await together(limiters[0]!, limiters[1]!);
    await together(limiters[1]!, limiters[2]!);
    await together(limiters[2]!, limiters[0]!);
    const rejected = await Promise.all(limiters.map((limiter) => rejections(limiter, 'ada', 20)));
    expect(rejected.reduce((sum, n) => sum + n)).toBe(40);
    const { remaining, exceeded } = (await limiters[0]!.count(caller('ada')))!;
    expect(remaining).toMatch(/;r=0;t=(600|5\d\d)$/);
    expect(exceeded!.retryAfterSeconds).toBeGreaterThan(500);
  });

  it('apply to each process separately while it is unavailable, which is reported once', async (context) => {
    const url = await place();
    if (url === '') return context.skip(`*** SKIPPED: this machine has no ${kind} ***`);
    const proxy = await openProxy(url);
    const errors: Error[] = [];
    const limit: RateLimit = { ...USER, requests: 5, name: randomUUID() };
    const limiter = limiterAt(limit, proxy.url, (error) => errors.push(error));
    const other = limiterAt(limit, url);
    await together(limiter, other);
    errors.length = 0;
    await proxy.close();
    expect(await rejections(limiter, 'ada', 12)).toBe(7);
    expect(errors).toHaveLength(1);
    await proxy.reopen();
    await together(limiter, other);
    expect(errors).toHaveLength(1);
  });
});
