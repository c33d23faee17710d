import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type EnforceQuotaOptions,
  enforceQuota,
  memoryStore,
  type ProjectQuotas,
  projectQuotas,
  type QuotaStore,
  reservationOf,
} from '@apistrata/quota';
import express, { type Express, type Request } from 'express';
import express4 from 'express4';
import supertest from 'supertest';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../testing/eventually.js';

type Options = Partial<EnforceQuotaOptions<Request>>;

const project = (req: IncomingMessage) => String(req.headers['x-project-id'] ?? 'p');
const exceededBody = (operation: string) => ({
  code: 403,
  title: 'Forbidden',
  description: `${operation} issue seen - Creation not allowed because a quota has been reached.`,
});

let quota: ProjectQuotas;
beforeEach(() => {
  quota = projectQuotas({ store: memoryStore(), defaults: { secrets: 2 } });
});

/** An app whose POST /secrets answers with the status that the query names. */
function app(options: Options = {}, make: typeof express = express): Express {
  const enforce = enforceQuota<Request>({ quota, kind: 'secrets', project, ...options });
  return make()
    .post('/secrets', enforce, (req, res) => {
      if (req.query.throw) throw new Error('handler failed');
      res.status(Number(req.query.status ?? 201)).json({});
    })
    .delete('/secrets', enforce, (req, res) => {
      res.status(Number(req.query.status ?? 204)).end();
    })
    .use(((error, _req, res, _next) => {
      res.status(error.status ?? 500).json({ caught: error.code ?? error.message });
    }) as express.ErrorRequestHandler);
}

const countOf = async (of = quota, id = 'p') => {
  const { used, reserved } = (await of.usage(id)).secrets!;
  return { used, reserved };
};
const settlesAt = (used: number, of = quota) =>
  eventually(async () => expect(await countOf(of)).toEqual({ used, reserved: 0 }));

describe.each([
  ['Express 5', express],
  ['Express 4', express4 as unknown as typeof express],
])('enforceQuota() in %s', (_name, make) => {
  it('counts what succeeds and refuses what does not fit, telling neither project nor limit', async () => {
    const agent = supertest(app({}, make));
    await agent.post('/secrets').expect(201);
    await agent.post('/secrets').expect(201);
    const refused = await agent.post('/secrets').expect(403);
    expect(refused.text).toBe(JSON.stringify(exceededBody('Secret creation')));
    expect(refused.headers['content-type']).toBe('application/json');
    await settlesAt(2);
  });

  it.each([400, 403, 404, 409, 500])('gives back what a handler took that answered %i', async (status) => {
    const agent = supertest(app({}, make));
    for (let attempt = 0; attempt < 3; attempt++) await agent.post(`/secrets?status=${status}`).expect(status);
    await settlesAt(0);
  });

  it('gives back what a handler took that threw', async () => {
    await supertest(app({}, make)).post('/secrets?throw=1').expect(500, { caught: 'handler failed' });
    await settlesAt(0);
  });

  it('gives back on a DELETE that succeeds, and only then', async () => {
    await quota.consume('p', { secrets: 2 });
    const agent = supertest(app({}, make));
    await agent.delete('/secrets?status=404').expect(404);
    await agent.delete('/secrets').expect(204);
    await settlesAt(1);
  });

  it('hands errors to the error handlers by option', async () => {
    await quota.set('p', { secrets: 0 });
    await supertest(app({ failWith: 'next' }, make))
      .post('/secrets')
      .expect(403, { caught: 'QUOTA_EXCEEDED' });
  });
});

describe('enforceQuota()', () => {
  it('counts each project by itself', async () => {
    const agent = supertest(app());
    for (const id of ['a', 'a', 'b', 'b']) await agent.post('/secrets').set('X-Project-Id', id).expect(201);
    await agent.post('/secrets').set('X-Project-Id', 'a').expect(403);
  });

  it('asks no store for a project id that cannot be, and answers 400', async () => {
    const long = 'x'.repeat(513);
    await supertest(app()).post('/secrets').set('X-Project-Id', long).expect(400, { caught: 'QUOTA_INVALID' });
  });

  it('hands what project and cost throw to the error handlers', async () => {
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

  it('takes several kinds or none, each with its own cost', async () => {
    await quota.set('p', { orders: 3 });
    const kinds = { secrets: 1, orders: async (req: Request) => Number(req.query.orders) };
    const agent = supertest(app({ kind: undefined, kinds }));
    await agent.post('/secrets?orders=4').expect(403);
    await agent.post('/secrets?orders=3').expect(201);
    await settlesAt(1);
    expect((await quota.usage('p')).orders!.used).toBe(3);
  });

  it('lets a cost of 0 pass even when nothing is left', async () => {
    await quota.set('p', { secrets: 0 });
    await supertest(app({ cost: () => 0 }))
      .post('/secrets')
      .expect(201);
  });

  it('answers 429 by option, and calls the operation what it is told', async () => {
    await quota.set('p', { secrets: 0 });
    const answer = await supertest(app({ status: 429, operation: 'Key pair upload' }))
      .post('/secrets')
      .expect(429);
    expect(answer.body).toEqual({ ...exceededBody('Key pair upload'), code: 429, title: 'Too Many Requests' });
  });

  it.each([
    ['secrets', 'Secret creation'],
    ['orders', 'Order creation'],
    ['containers', 'Container creation'],
    ['consumers', 'ContainerConsumer creation'],
  ])('refuses %s as %s', async (kind, operation) => {
    await quota.set('p', { [kind]: 0 });
    await supertest(app({ kind })).post('/secrets').expect(403, exceededBody(operation));
  });

  it('tells a hook what was asked, used and allowed', async () => {
    await quota.consume('p', { secrets: 2 });
    const onExceeded = vi.fn();
    await supertest(app({ onExceeded, cost: 3 }))
      .post('/secrets')
      .expect(403);
    expect(onExceeded.mock.calls[0]![0].details).toEqual([{ kind: 'secrets', requested: 3, used: 2, limit: 2 }]);
  });

  it('lets the hook answer by itself', async () => {
    await quota.set('p', { secrets: 0 });
    const onExceeded: Options['onExceeded'] = (_error, _req, res) => void res.writeHead(402).end('pay first');
    await supertest(app({ onExceeded })).post('/secrets').expect(402, 'pay first');
  });

  it('takes the word of an option for what success is', async () => {
    const agent = supertest(app({ succeeded: (res) => res.statusCode === 202 }));
    await agent.post('/secrets?status=201').expect(201);
    await agent.post('/secrets?status=202').expect(202);
    await settlesAt(1);
  });

  it('gives back instead of taking by option, and takes on DELETE by option', async () => {
    await quota.consume('p', { secrets: 2 });
    await supertest(app({ direction: 'give-back' }))
      .post('/secrets')
      .expect(201);
    await settlesAt(1);
    await supertest(app({ direction: 'take' }))
      .delete('/secrets')
      .expect(204);
    await settlesAt(2);
  });

  it('leaves a reservation that the handler committed alone, whatever the answer', async () => {
    const server = express().post('/', enforceQuota({ quota, kind: 'secrets', project }), async (req, res) => {
      await reservationOf(req)!.commit();
      expect(await countOf()).toEqual({ used: 1, reserved: 0 });
      res.status(500).end();
    });
    await supertest(server).post('/').expect(500);
    await settlesAt(1);
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
    await settlesAt(1);
  });
});

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

describe('the options of enforceQuota()', () => {
  const wrong: [string, object, string][] = [
    ['misspelt', { kinds: undefined, kind: 'secrets', onStoreErr: 'open' }, 'did you mean "onStoreError"?'],
    ['no kind', {}, 'either kind or kinds'],
    ['both kinds', { kind: 'secrets', kinds: { orders: 1 } }, 'either kind or kinds'],
    ['cost beside kinds', { kinds: { orders: 1 }, cost: 2 }, 'beside each kind'],
    ['empty kinds', { kinds: {} }, 'at least one kind'],
    ['unknown kind', { kind: 'secret' }, 'there is no kind "secret"'],
    ['inherited kind', { kind: 'constructor' }, 'there is no kind'],
    ['impossible cost', { kind: 'secrets', cost: -1 }, 'whole number'],
    ['impossible status', { kind: 'secrets', status: 418 }, '403 or 429'],
    ['impossible direction', { kind: 'secrets', direction: 'up' }, '"take" or "give-back"'],
    ['impossible onStoreError', { kind: 'secrets', onStoreError: 'ajar' }, '"closed" or "open"'],
    ['impossible failWith', { kind: 'secrets', failWith: 'throw' }, '"answer" or "next"'],
    ['no project', { kind: 'secrets', project: 'p' }, 'project must be a function'],
    ['no quota', { kind: 'secrets', quota: undefined }, 'a quota is needed'],
  ];

  it.each(wrong)('are refused when they cannot work: %s', (_case, options, message) => {
    expect(() => enforceQuota({ quota, project, ...options } as never)).toThrow(message);
  });
});
