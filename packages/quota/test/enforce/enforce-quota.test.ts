import { enforceQuota, memoryStore, projectQuotas, reservationOf } from '@apistrata/quota';
import express, { type Request } from 'express';
import express4 from 'express4';
import supertest from 'supertest';
import { describe, expect, it, vi } from 'vitest';
import { app, countOf, exceededBody, type Options, onFreshQuota, project, quota, untilUsed } from './secrets-app.js';

onFreshQuota();

describe.each([
  ['Express 5', express],
  ['Express 4', express4 as unknown as typeof express],
])('enforceQuota() in %s', (_name, make) => {
  it('counts successful requests and rejects those above the limit, without exposing project or limit', async () => {
    const agent = supertest(app({}, make));
    await agent.post('/secrets').expect(201);
    await agent.post('/secrets').expect(201);
    const rejected = await agent.post('/secrets').expect(403);
    expect(rejected.text).toBe(JSON.stringify(exceededBody('Secret creation')));
    expect(rejected.headers['content-type']).toBe('application/json');
    await untilUsed(2);
  });

  it.each([400, 403, 404, 409, 500])('releases the amount if the handler responds with %i', async (status) => {
    const agent = supertest(app({}, make));
    for (let attempt = 0; attempt < 3; attempt++) await agent.post(`/secrets?status=${status}`).expect(status);
    await untilUsed(0);
  });

  it('releases the amount if the handler throws', async () => {
    await supertest(app({}, make)).post('/secrets?throw=1').expect(500, { caught: 'handler failed' });
    await untilUsed(0);
  });

  it('releases usage only after a successful DELETE', async () => {
    await quota.consume('p', { secrets: 2 });
    const agent = supertest(app({}, make));
    await agent.delete('/secrets?status=404').expect(404);
    await agent.delete('/secrets').expect(204);
    await untilUsed(1);
  });

  it('passes errors to the error handlers if configured', async () => {
    await quota.set('p', { secrets: 0 });
    await supertest(app({ errors: 'next' }, make))
      .post('/secrets')
      .expect(403, { caught: 'QUOTA_EXCEEDED' });
  });
});

describe('enforceQuota()', () => {
  it('counts each project separately', async () => {
    const agent = supertest(app());
    for (const id of ['a', 'a', 'b', 'b']) await agent.post('/secrets').set('X-Project-Id', id).expect(201);
    await agent.post('/secrets').set('X-Project-Id', 'a').expect(403);
  });

  it('returns 400 for an invalid project id without calling the store', async () => {
    const store = memoryStore();
    const calls = [vi.spyOn(store, 'reserve'), vi.spyOn(store, 'consume'), vi.spyOn(store, 'getLimits')];
    const agent = supertest(app({ quota: projectQuotas({ preset: 'key-manager', store }) }));
    await agent.post('/secrets').set('X-Project-Id', 'x'.repeat(513)).expect(400, { caught: 'QUOTA_INVALID' });
    for (const call of calls) expect(call).not.toHaveBeenCalled();
    await agent.post('/secrets').expect(201);
    expect(store.reserve).toHaveBeenCalledTimes(1);
  });

  it('passes errors of project and cost to the error handlers', async () => {
    const fail = () => {
      throw new Error('who are you?');
    };
    await supertest(app({ project: fail }))
      .post('/secrets')
      .expect(500, { caught: 'who are you?' });
    await supertest(app({ cost: fail }))
      .post('/secrets')
      .expect(500, { caught: 'who are you?' });
    await supertest(app({ cost: () => 1.5 }))
      .post('/secrets')
      .expect(400, { caught: 'QUOTA_INVALID' });
  });

  it('reserves several kinds or none, each with its own cost', async () => {
    await quota.set('p', { orders: 3 });
    const kinds = { secrets: 1, orders: async (req: Request) => Number(req.query.orders) };
    const agent = supertest(app({ kind: undefined, kinds }));
    await agent.post('/secrets?orders=4').expect(403);
    await agent.post('/secrets?orders=3').expect(201);
    await untilUsed(1);
    expect((await quota.usage('p')).orders!.used).toBe(3);
  });

  it('accepts a cost of 0 at the limit', async () => {
    await quota.set('p', { secrets: 0 });
    await supertest(app({ cost: () => 0 }))
      .post('/secrets')
      .expect(201);
  });

  it('uses the configured status and name of the operation', async () => {
    await quota.set('p', { secrets: 0 });
    const response = await supertest(app({ status: 429, operation: 'Key pair upload' }))
      .post('/secrets')
      .expect(429);
    expect(response.body).toEqual({ ...exceededBody('Key pair upload'), code: 429, title: 'Too Many Requests' });
  });

  it.each([
    ['secrets', 'Secret creation'],
    ['orders', 'Order creation'],
    ['containers', 'Container creation'],
    ['consumers', 'ContainerConsumer creation'],
  ])('rejects %s as %s', async (kind, operation) => {
    await quota.set('p', { [kind]: 0 });
    await supertest(app({ kind })).post('/secrets').expect(403, exceededBody(operation));
  });

  it('reports requested, used and limit to the hook', async () => {
    await quota.consume('p', { secrets: 2 });
    const onExceeded = vi.fn();
    await supertest(app({ onExceeded, cost: 3 }))
      .post('/secrets')
      .expect(403);
    expect(onExceeded.mock.calls[0]![0].details).toEqual([{ kind: 'secrets', requested: 3, used: 2, limit: 2 }]);
  });

  it('lets the hook send the response', async () => {
    await quota.set('p', { secrets: 0 });
    const onExceeded: Options['onExceeded'] = (_error, _req, res) => void res.writeHead(402).end('pay first');
    await supertest(app({ onExceeded })).post('/secrets').expect(402, 'pay first');
  });

  it('uses the option to decide which responses are successful', async () => {
    const agent = supertest(app({ succeeded: (res) => res.statusCode === 202 }));
    await agent.post('/secrets?status=201').expect(201);
    await agent.post('/secrets?status=202').expect(202);
    await untilUsed(1);
  });

  it('uses the configured direction instead of the method', async () => {
    await quota.consume('p', { secrets: 2 });
    await supertest(app({ direction: 'release' }))
      .post('/secrets')
      .expect(201);
    await untilUsed(1);
    await supertest(app({ direction: 'reserve' }))
      .delete('/secrets')
      .expect(204);
    await untilUsed(2);
  });

  it('keeps a reservation that the handler committed, regardless of the status', async () => {
    const server = express().post('/', enforceQuota({ quota, kind: 'secrets', project }), async (req, res) => {
      await reservationOf(req)!.commit();
      expect(await countOf()).toEqual({ used: 1, reserved: 0 });
      res.status(500).end();
    });
    await supertest(server).post('/').expect(500);
    await untilUsed(1);
  });

  it('renews the reservation while a slow handler works', async () => {
    const server = express().post(
      '/',
      enforceQuota({ quota, kind: 'secrets', project, ttlMs: 1500 }),
      async (_, res) => {
        await new Promise((resolve) => setTimeout(resolve, 2200));
        res.status(201).end();
      },
    );
    await supertest(server).post('/').expect(201);
    await untilUsed(1);
  });
});

describe('options of enforceQuota()', () => {
  const wrong: [string, object, string][] = [
    ['misspelled', { kinds: undefined, kind: 'secrets', onStoreErr: 'open' }, 'did you mean "onStoreError"?'],
    ['no kind', {}, 'either kind or kinds'],
    ['both kinds', { kind: 'secrets', kinds: { orders: 1 } }, 'either kind or kinds'],
    ['cost with kinds', { kinds: { orders: 1 }, cost: 2 }, "'cost' applies only to 'kind'"],
    ['empty kinds', { kinds: {} }, 'at least one kind'],
    ['unknown kind', { kind: 'secret' }, 'unknown kind "secret"'],
    ['inherited kind', { kind: 'constructor' }, 'unknown kind'],
    ['impossible cost', { kind: 'secrets', cost: -1 }, 'integer'],
    ['impossible status', { kind: 'secrets', status: 418 }, '403 or 429'],
    ['impossible direction', { kind: 'secrets', direction: 'up' }, '"reserve" or "release"'],
    ['impossible onStoreError', { kind: 'secrets', onStoreError: 'ajar' }, '"closed" or "open"'],
    ['impossible errors', { kind: 'secrets', errors: 'throw' }, '"next" or a function'],
    ['no project', { kind: 'secrets', project: 'p' }, 'project must be a function'],
    ['no quota', { kind: 'secrets', quota: undefined }, 'a quota is required'],
  ];

  it.each(wrong)('are rejected if they are invalid: %s', (_case, options, message) => {
    expect(() => enforceQuota({ quota, project, ...options } as never)).toThrow(message);
  });
});
