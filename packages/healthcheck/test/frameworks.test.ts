import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import Fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fastifyHealthcheck } from '../src/fastify/index.js';
import { honoHealthcheck } from '../src/hono/index.js';
import type { HealthcheckOptions } from '../src/index.js';
import { koaHealthcheck } from '../src/koa/index.js';
import { HealthcheckModule } from '../src/nestjs/index.js';
import { closing, serve } from './serve.js';

const createHealthcheck = (options: HealthcheckOptions = {}) =>
  closing({
    log: false,
    ...options,
    backends: [{ name: 'db', check: () => ({ state: 'unavailable', reason: 'GONE' }) }],
    groups: { live: { backends: [] } },
  });

type SendRequest = (path: string) => Promise<{ status: number; body: string }>;

/** Every framework serves the endpoints, with and without asynchronous checks, and its own routes. */
async function expectEndpoints(request: SendRequest, home = { status: 200, body: 'home' }): Promise<void> {
  expect(await request('/healthcheck')).toMatchObject({ status: 503, body: 'GONE' });
  expect(await request('/livez')).toMatchObject({ status: 200, body: '' });
  expect(await request('/')).toMatchObject(home);
}

const over =
  (port: number): SendRequest =>
  async (path) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
    return { status: response.status, body: await response.text() };
  };

describe('the endpoints in frameworks', () => {
  it('are served by Fastify', async () => {
    const app = Fastify();
    app.register(fastifyHealthcheck(createHealthcheck()));
    app.get('/', async () => 'home');
    onTestFinished(() => app.close());
    await app.listen({ port: 0, host: '127.0.0.1' });
    await expectEndpoints(over((app.server.address() as AddressInfo).port));
  });

  it('pass errors to Fastify error handlers with errors: "next"', async () => {
    const app = Fastify();
    app.register(fastifyHealthcheck(createHealthcheck({ errors: 'next' })));
    app.setErrorHandler((error: Error, _request, reply) => reply.code(418).send(error.message));
    onTestFinished(() => app.close());
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    expect(await over(port)('/healthcheck')).toEqual({ status: 418, body: 'GONE' });
  });

  it('are served by Koa', async () => {
    const app = new Koa();
    const failures: unknown[] = [];
    app.on('error', (error) => failures.push(error));
    app.use(koaHealthcheck(createHealthcheck()));
    app.use((context) => {
      context.body = 'home';
    });
    await expectEndpoints((await serve(app.callback())).request);
    expect(failures).toEqual([]);
  });

  it('are served by Hono on Node', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    onTestFinished(() => logged.mockRestore());
    const app = new Hono();
    app.use(honoHealthcheck(createHealthcheck()));
    app.get('/', (c) => c.text('home'));
    const listener = getRequestListener(app.fetch as never);
    await expectEndpoints((await serve((req, res) => void listener(req, res))).request);
    expect(logged).not.toHaveBeenCalled();
  });

  it.each([
    ['Express', ExpressAdapter],
    ['Fastify', FastifyAdapter],
  ])('are served by NestJS on %s, and report its shutdown', async (_, Adapter) => {
    class AppModule {}
    const health = createHealthcheck();
    const module = { module: AppModule, imports: [HealthcheckModule.forRoot(health)] };
    const app = await NestFactory.create(module, new Adapter() as FastifyAdapter, { logger: false });
    await app.listen(0, '127.0.0.1');
    await expectEndpoints(over((app.getHttpServer().address() as AddressInfo).port), {
      status: 404,
      body: expect.stringContaining('Cannot GET /') as never,
    });
    const other = await over((app.getHttpServer().address() as AddressInfo).port)('/some/path');
    expect([other.status, other.body]).toEqual([404, expect.stringContaining('Cannot GET /some/path')]);
    await app.close();
    expect((await health.status()).results[0]!.reason).toBe('SHUTTING DOWN');
  });
});
