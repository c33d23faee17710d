import 'reflect-metadata';
import type { IncomingMessage, RequestListener } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Controller, Get, Module, Req } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import Fastify, { type RouteHandlerMethod } from 'fastify';
import { type Handler, Hono } from 'hono';
import Koa from 'koa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sendRequest } from '../../../testing/send-request.js';
import * as fastify from '../src/fastify/index.js';
import * as hono from '../src/hono/index.js';
import {
  before,
  between,
  microversion,
  microversionOf,
  pathPrefix,
  queryParameter,
  type VersioningOptions,
  versioning,
} from '../src/index.js';
import * as koa from '../src/koa/index.js';
import { MicroversionModule } from '../src/nestjs/index.js';

type Env = { Bindings: { incoming: IncomingMessage } };

const versions = ['2025-03-01', '2026-01-01', '2026-11-22'];

/**
 * A framework with a route `/lists` that exists below the newest version, behind middleware that sets another header.
 */
type Serve = (options?: Partial<VersioningOptions>) => Promise<RequestListener>;

const createVersioning = (options: Partial<VersioningOptions> = {}) => versioning({ versions, ...options });

const FRAMEWORKS: Readonly<Record<string, Serve>> = {
  async Fastify(options) {
    const app = Fastify();
    app.addHook('onRequest', async (_request, reply) => void reply.header('X-Own', 'kept').header('Vary', 'Origin'));
    app.register(fastify.fastifyMicroversion(createVersioning(options)));
    app.setErrorHandler((error: Error, _request, reply) => reply.code(418).send(error.message));
    app.get(
      '/lists',
      fastify.byVersion<RouteHandlerMethod>([
        before('2026-01-01', async () => ['groceries']),
        between('2026-01-01', '2026-11-21', async (request) => `${microversionOf(request.raw)}`),
      ]),
    );
    await app.ready();
    onTestFinished(() => app.close());
    return (req, res) => void app.routing(req, res);
  },
  async Koa(options) {
    const app = new Koa();
    app.use(async (context, next) => {
      context.set('X-Own', 'kept');
      context.set('Vary', 'Origin');
      try {
        await next();
      } catch (error) {
        context.status = 418;
        context.body = (error as Error).message;
      }
    });
    app.use(koa.koaMicroversion(createVersioning(options)));
    app.use(
      koa.byVersion<Koa.Middleware>([
        before('2026-01-01', (context) => {
          context.body = ['groceries'];
        }),
        between('2026-01-01', '2026-11-21', (context) => {
          context.body = `${microversionOf(context.req)}`;
        }),
      ]),
    );
    return app.callback();
  },
  async Hono(options) {
    const app = new Hono<Env>();
    app.use(async (c, next) => {
      c.header('X-Own', 'kept');
      c.header('Vary', 'Origin');
      await next();
    });
    app.use(hono.honoMicroversion(createVersioning(options)));
    app.onError((error, c) => c.text(error.message, 418 as never));
    app.get(
      '/lists',
      hono.byVersion<Handler<Env>>([
        before('2026-01-01', (c) => c.json(['groceries'])),
        between('2026-01-01', '2026-11-21', (c) => c.text(`${microversionOf(c.env.incoming)}`)),
      ]),
    );
    const listener = getRequestListener(app.fetch as never);
    return (req, res) => void listener(req, res);
  },
};

const at = (version: string, path = '/lists') => ({ path, headers: { 'API-Version': version } });

describe.each(Object.entries(FRAMEWORKS))('versions in %s', (_, serve) => {
  it('select the handler, and appear in the response next to headers of other middleware', async () => {
    const listener = await serve();
    const oldest = await sendRequest(listener, { path: '/lists' });
    expect([oldest.status, oldest.body, oldest.headers['api-version']]).toEqual([200, '["groceries"]', '2025-03-01']);
    const newer = await sendRequest(listener, at('2026-01-01'));
    expect([newer.status, newer.body, newer.headers['api-version']]).toEqual([200, '2026-01-01', '2026-01-01']);
    expect([newer.headers['x-own'], newer.headers.vary]).toEqual(['kept', 'Origin, API-Version']);
  });

  it('reject with problem details through the framework, with the headers that others set', async () => {
    const listener = await serve();
    const unknown = await sendRequest(listener, at('2020-01-01'));
    expect([unknown.status, unknown.headers['content-type'], unknown.headers['x-own']]).toEqual([
      406,
      'application/problem+json',
      'kept',
    ]);
    expect(JSON.parse(unknown.body)).toMatchObject({ code: 'UNACCEPTABLE_VERSION', versions });
    const ended = await sendRequest(listener, at('2026-11-22'));
    expect([ended.status, ended.headers['content-type'], JSON.parse(ended.body).code]).toEqual([
      404,
      'application/problem+json',
      'NOT_IN_VERSION',
    ]);
  });

  it('wait for the version of an account, and pass errors on with errors: "next"', async () => {
    const listener = await serve({ default: async () => '2026-01-01', errors: 'next' });
    expect((await sendRequest(listener, { path: '/lists' })).body).toBe('2026-01-01');
    const malformed = await sendRequest(listener, at('soon'));
    expect([malformed.status, malformed.body]).toEqual([418, expect.stringContaining('soon')]);
    expect((await sendRequest(listener, at('2026-11-22'))).status).toBe(418);
  });
});

describe.each([
  ['Express', ExpressAdapter],
  ['Fastify', FastifyAdapter],
])('versions in NestJS on %s', (_, Adapter) => {
  /** Serves a handler, whose decorators are called as the TypeScript compiler calls them. */
  async function serve(options?: Partial<VersioningOptions>): Promise<RequestListener> {
    class Lists {
      list(req: { microversion: unknown }) {
        return `${req.microversion}`;
      }
    }
    Get()(Lists.prototype, 'list', Object.getOwnPropertyDescriptor(Lists.prototype, 'list') as PropertyDescriptor);
    Req()(Lists.prototype, 'list', 0);
    Controller('lists')(Lists);
    class AppModule {}
    const imports = [MicroversionModule.forRoot(createVersioning(options)) as never];
    Module({ imports, controllers: [Lists] })(AppModule);
    const adapter = new Adapter();
    const app = await NestFactory.create(AppModule, adapter as FastifyAdapter, { logger: false });
    app.enableCors({ origin: '*' });
    await app.init();
    onTestFinished(() => app.close());
    if (adapter instanceof ExpressAdapter) return adapter.getInstance();
    await adapter.getInstance().ready();
    return (req, res) => void adapter.getInstance().routing(req, res);
  }

  it('are in req.microversion', async () => {
    const { status, body } = await sendRequest(await serve(), at('2026-01-01'));
    expect([status, body]).toEqual([200, '2026-01-01']);
  });

  it('are in every response, and unsupported versions are rejected', async () => {
    const listener = await serve();
    const { status, headers } = await sendRequest(listener, at('2026-01-01', '/any/path'));
    expect([status, headers['api-version'], headers.vary]).toEqual([404, '2026-01-01', 'API-Version']);
    const unknown = await sendRequest(listener, at('2020-01-01', '/any/path'));
    const { 'content-type': type, 'access-control-allow-origin': origin } = unknown.headers;
    expect([unknown.status, type, origin]).toEqual([406, 'application/problem+json', '*']);
  });

  it('may be a query parameter', async () => {
    const listener = await serve({ from: queryParameter('version') });
    expect((await sendRequest(listener, { path: '/any?version=2026-11-22' })).headers['api-version']).toBe(
      '2026-11-22',
    );
  });
});

describe('the entry points for frameworks', () => {
  it('also accept microversion()', async () => {
    const app = new Koa();
    app.use(koa.koaMicroversion(microversion({ service: 'todo', min: '1.1', max: '1.12' })));
    app.use((context) => {
      context.body = `${microversionOf(context.req)}`;
    });
    const headers = { 'Service-API-Version': 'todo 1.5' };
    const accepted = await sendRequest(app.callback(), { headers });
    expect([accepted.body, accepted.headers['service-api-version']]).toEqual(['1.5', 'todo 1.5']);
    const rejected = await sendRequest(app.callback(), { headers: { 'Service-API-Version': 'todo 1.13' } });
    expect([rejected.status, JSON.parse(rejected.body).errors[0].code]).toEqual([406, 'todo.microversion-unsupported']);
  });

  it('read versions from the path where routes are selected afterwards', async () => {
    const app = new Koa();
    app.use(koa.koaMicroversion(createVersioning({ from: pathPrefix() })));
    app.use((context) => {
      context.body = `${context.path} ${microversionOf(context.req)}`;
    });
    expect((await sendRequest(app.callback(), { path: '/2026-01-01/lists' })).body).toBe('/lists 2026-01-01');
  });

  it.each([
    ['fastifyMicroversion', fastify.fastifyMicroversion],
    ['honoMicroversion', hono.honoMicroversion],
    ['MicroversionModule', MicroversionModule.forRoot],
  ])('%s rejects a version in the path, and names the fix', (name, use) => {
    expect(() => use(createVersioning({ from: pathPrefix('v') }))).toThrow(`${name}: the routes are selected before`);
  });
});
