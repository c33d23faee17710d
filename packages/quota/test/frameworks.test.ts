import 'reflect-metadata';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { RequestMethod } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import Fastify, { type FastifyRequest } from 'fastify';
import { type Context, Hono } from 'hono';
import Koa from 'koa';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { sendRequest } from '../../../testing/send-request.js';
import { fastifyQuota } from '../src/fastify/index.js';
import { honoQuota } from '../src/hono/index.js';
import {
  type EnforceQuotaOptions,
  enforceQuota,
  memoryStore,
  type ProjectQuotas,
  projectQuotas,
  reservationOf,
} from '../src/index.js';
import { koaQuota } from '../src/koa/index.js';
import { QuotaModule, quotaGuard } from '../src/nestjs/index.js';

type Options = Omit<EnforceQuotaOptions<any>, 'project'>;
type Env = { Bindings: { incoming: IncomingMessage } };

const LIMIT = 2;
const NO_RESERVATION = 'none';

/** What the handler of `POST /invoices` does: it throws, rejects the request, or creates an invoice. */
function create(req: IncomingMessage): { status: number; body: string } {
  const intent = req.headers['x-intent'];
  if (intent === 'throw') throw new Error('broken');
  return { status: intent === 'reject' ? 400 : 201, body: reservationOf(req)?.id ? 'reserved' : NO_RESERVATION };
}

/** Serves `/invoices` with a quota for the account that a header names, behind middleware that sets another header. */
type Serve = (options: Options) => Promise<RequestListener>;

const FRAMEWORKS: Readonly<Record<string, Serve>> = {
  async Fastify(options) {
    const app = Fastify();
    app.addHook('onRequest', async (_request, reply) => void reply.header('X-Own', 'kept'));
    const project = ({ headers }: FastifyRequest) => String(headers['x-account']);
    const counted = fastifyQuota({ ...options, project });
    app.post('/invoices', { preHandler: counted }, async (request, reply) => {
      const { status, body } = create(request.raw);
      return reply.code(status).send(body);
    });
    app.delete('/invoices', { preHandler: counted }, async (_request, reply) => reply.code(204).send());
    await app.ready();
    onTestFinished(() => app.close());
    return (req, res) => void app.routing(req, res);
  },
  async Koa(options) {
    const app = new Koa();
    app.silent = true;
    app.use((context, next) => {
      context.set('X-Own', 'kept');
      return next();
    });
    app.use(koaQuota({ ...options, project: (context: Koa.Context) => context.get('x-account') }));
    app.use((context) => {
      if (context.method === 'DELETE') context.status = 204;
      else Object.assign(context, create(context.req));
    });
    return app.callback();
  },
  async Hono(options) {
    const app = new Hono<Env>();
    app.use(async (c, next) => {
      c.header('X-Own', 'kept');
      await next();
    });
    const counted = honoQuota({ ...options, project: (c: Context<Env>) => String(c.req.header('x-account')) });
    app.onError((_error, c) => c.text('broken', 500));
    app.post('/invoices', counted, (c) => {
      const { status, body } = create(c.env.incoming);
      return c.text(body, status as 201);
    });
    app.delete('/invoices', counted, (c) => c.body(null, 204));
    const listener = getRequestListener(app.fetch as never);
    return (req, res) => void listener(req, res);
  },
  'NestJS, as a module': (options) => nestModule(options, new ExpressAdapter()),
  'NestJS, as a guard': (options) => nestGuard(options, new ExpressAdapter()),
  'NestJS on Fastify, as a module': (options) => nestModule(options, new FastifyAdapter()),
  'NestJS on Fastify, as a guard': (options) => nestGuard(options, new FastifyAdapter()),
};

type Adapter = ExpressAdapter | FastifyAdapter;

function nestModule(options: Options, adapter: Adapter): Promise<RequestListener> {
  const enforce = enforceQuota({ ...options, project: (req) => String(req.headers['x-account']) });
  const routes = [RequestMethod.POST, RequestMethod.DELETE].map((method) => ({ path: 'invoices', method }));
  return nest(adapter, [QuotaModule.forRoot({ enforce, routes })]);
}

function nestGuard(options: Options, adapter: Adapter): Promise<RequestListener> {
  return nest(adapter, [], quotaGuard({ ...options, project: (req) => String(req.headers['x-account']) }));
}

/** A NestJS application with a controller, whose decorators are called as the TypeScript compiler calls them. */
async function nest(adapter: Adapter, imports: object[], guard?: object): Promise<RequestListener> {
  const { Controller, Delete, Module, Post, Req, Res, UseGuards } = await import('@nestjs/common');
  class Invoices {
    create(
      req: IncomingMessage & { raw?: IncomingMessage },
      res: { status(code: number): { send(body: string): void } },
    ) {
      const { status, body } = create(req.raw ?? req);
      res.status(status).send(body);
    }
    remove(_req: unknown, res: { status(code: number): { send(): void } }) {
      res.status(204).send();
    }
  }
  for (const [name, decorate] of [['create', Post()] as const, ['remove', Delete()] as const]) {
    const descriptor = Object.getOwnPropertyDescriptor(Invoices.prototype, name) as PropertyDescriptor;
    decorate(Invoices.prototype, name, descriptor);
    if (guard) UseGuards(guard as never)(Invoices.prototype, name, descriptor);
    Req()(Invoices.prototype, name, 0);
    Res()(Invoices.prototype, name, 1);
  }
  Controller('invoices')(Invoices);
  class AppModule {}
  Module({ imports: imports as never, controllers: [Invoices] })(AppModule);
  const app = await NestFactory.create(AppModule, adapter as FastifyAdapter, { logger: false });
  app.use((_req: unknown, res: { setHeader(name: string, value: string): void }, next: () => void) => {
    res.setHeader('X-Own', 'kept');
    next();
  });
  await app.init();
  onTestFinished(() => app.close());
  if (adapter instanceof ExpressAdapter) return adapter.getInstance();
  await adapter.getInstance().ready();
  return (req, res) => void adapter.getInstance().routing(req, res);
}

const quotas = (): ProjectQuotas => projectQuotas({ store: memoryStore(), defaults: { invoices: LIMIT } });

/** Frameworks that use the status of an error; the error handlers of the others respond with 500. */
const READS_STATUS = ['Fastify', 'Koa'];

describe.each(Object.entries(FRAMEWORKS))('a quota in %s', (name, serve) => {
  const at = { path: '/invoices', headers: { 'X-Account': 'acme' } };
  const post = (intent = 'create') => ({ ...at, method: 'POST', headers: { ...at.headers, 'X-Intent': intent } });

  it('counts creations and deletions, and rejects a creation beyond the limit through the framework', async () => {
    const quota = quotas();
    const listener = await serve({ quota, kind: 'invoices' });
    for (let i = 0; i < LIMIT; i++) {
      const { status, body } = await sendRequest(listener, post());
      expect([status, body]).toEqual([201, 'reserved']);
    }
    const rejected = await sendRequest(listener, post());
    expect([rejected.status, rejected.headers['content-type'], rejected.headers['x-own']]).toEqual([
      403,
      'application/problem+json',
      'kept',
    ]);
    expect(JSON.parse(rejected.body)).toMatchObject({ code: 'QUOTA_EXCEEDED', exceeded: [{ used: 2, limit: 2 }] });
    expect(rejected.headers.ratelimit).toBe('"invoices";r=0');
    expect((await sendRequest(listener, { ...at, method: 'DELETE' })).status).toBe(204);
    expect((await quota.usage('acme')).invoices).toEqual({ used: 1, reserved: 0, limit: 2 });
    expect((await sendRequest(listener, post())).status).toBe(201);
  });

  it('does not count rejected requests and handlers that throw', async () => {
    const quota = quotas();
    const listener = await serve({ quota, kind: 'invoices' });
    expect((await sendRequest(listener, post('reject'))).status).toBe(400);
    expect((await sendRequest(listener, post('throw'))).status).toBe(500);
    await expect.poll(() => quota.usage('acme')).toEqual({ invoices: { used: 0, reserved: 0, limit: 2 } });
  });

  it('lets onExceeded send its own response', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    onTestFinished(() => logged.mockRestore());
    const quota = quotas();
    await quota.recount('acme', 'invoices', LIMIT);
    const onExceeded: Options['onExceeded'] = (_error, _req, res) => void res.writeHead(402).end('buy more');
    const { status, body } = await sendRequest(await serve({ quota, kind: 'invoices', onExceeded }), post());
    expect([status, body]).toEqual([402, 'buy more']);
    expect(logged).not.toHaveBeenCalled();
  });

  it('passes errors to the error handlers of the framework with errors: "next"', async () => {
    const quota = quotas();
    await quota.recount('acme', 'invoices', LIMIT);
    const listener = await serve({ quota, kind: 'invoices', errors: 'next' });
    const { status, headers } = await sendRequest(listener, post());
    expect(status).toBe(READS_STATUS.includes(name) ? 403 : 500);
    expect(headers['content-type']).not.toBe('application/problem+json');
  });
});

it('a client that disconnects before the handler runs consumes nothing', async () => {
  const quota = quotas();
  let reserved = () => {};
  let left = () => {};
  const isReserved = new Promise<void>((resolve) => (reserved = resolve));
  const released = new Promise<void>((resolve) => (left = resolve));
  const project = async (): Promise<string> => {
    reserved();
    await released;
    return 'acme';
  };
  const app = new Koa();
  let ran = false;
  app.use(koaQuota({ quota, kind: 'invoices', project }));
  app.use(() => {
    ran = true;
  });
  const handle = app.callback();
  const server = createServer((req, res) => {
    res.once('close', () => left());
    void handle(req, res);
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const abort = new AbortController();
  const sent = fetch(`http://127.0.0.1:${port}/`, { method: 'POST', signal: abort.signal });
  await isReserved;
  abort.abort();
  await expect(sent).rejects.toThrow();
  await released;
  await expect.poll(() => quota.usage('acme')).toEqual({ invoices: { used: 0, reserved: 0, limit: 2 } });
  expect(ran).toBe(false);
});
