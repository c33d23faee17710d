import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Controller, Get, Module, Req } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import Fastify from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sendRequest } from '../../../testing/send-request.js';
import { fastifyRequestId } from '../src/fastify/index.js';
import { honoRequestId } from '../src/hono/index.js';
import { currentRequestId, requestId } from '../src/index.js';
import { koaRequestId } from '../src/koa/index.js';
import { RequestIdModule } from '../src/nestjs/index.js';

type Identified = { id?: string };

/** Sends a request with an id to a server that listens; returns the body and the id in the response. */
async function call(port: number, path = '/') {
  const headers = { 'X-Request-Id': 'order-4711', connection: 'close' };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  return { status: response.status, id: response.headers.get('x-request-id'), body: await response.text() };
}

const both = (req: object) => `${(req as Identified).id} ${currentRequestId()!.local}`;

describe('request ids in frameworks', () => {
  it('are in Fastify, in request.id, its routes and its errors', async () => {
    const app = Fastify();
    app.register(fastifyRequestId());
    app.get('/', async (request) => {
      await new Promise(setImmediate);
      return `${request.id} ${both(request.raw)}`;
    });
    onTestFinished(() => app.close());
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    expect(await call(port)).toEqual({ status: 200, id: 'order-4711', body: 'order-4711 order-4711 order-4711' });
    expect(await call(port, '/unknown')).toMatchObject({ status: 404, id: 'order-4711' });
  });

  it('are the ids of Fastify log lines', async () => {
    const lines: string[] = [];
    const ids = requestId();
    const app = Fastify({
      genReqId: (raw) => ids.genReqId(raw as never),
      logger: { stream: { write: (line: string) => void lines.push(line) } },
    });
    app.register(fastifyRequestId());
    app.get('/', () => 'ok');
    await app.inject({ url: '/', headers: { 'x-request-id': 'order-4711' } });
    expect(lines.map((line) => JSON.parse(line).reqId)).toEqual(['order-4711', 'order-4711']);
  });

  it('are in Koa', async () => {
    const app = new Koa();
    app.use(koaRequestId());
    app.use(async (context) => {
      await new Promise(setImmediate);
      context.body = both(context.req);
    });
    const { headers, body } = await sendRequest(app.callback(), { headers: { 'X-Request-Id': 'order-4711' } });
    expect([headers['x-request-id'], body]).toEqual(['order-4711', 'order-4711 order-4711']);
  });

  it('are in Hono on Node', async () => {
    const app = new Hono<{ Bindings: { incoming: object } }>();
    app.use(honoRequestId());
    app.get('/', async (c) => {
      await new Promise(setImmediate);
      return c.text(both(c.env.incoming));
    });
    const listener = getRequestListener(app.fetch as never);
    const { headers, body } = await sendRequest((req, res) => void listener(req, res), {
      headers: { 'X-Request-Id': 'order-4711' },
    });
    expect([headers['x-request-id'], body]).toEqual(['order-4711', 'order-4711 order-4711']);
  });

  it.each([
    ['Express', ExpressAdapter],
    ['Fastify', FastifyAdapter],
  ])('are in NestJS on %s: in req.id, in handlers and on unknown paths', async (_, Adapter) => {
    const app = await createNestApp(new Adapter(), RequestIdModule.forRoot());
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    expect(await call(port)).toEqual({ status: 200, id: 'order-4711', body: 'order-4711 order-4711' });
    expect(await call(port, '/any/path')).toMatchObject({ status: 404, id: 'order-4711' });
  });

  it('leave the id of Fastify in NestJS with assign: false', async () => {
    const app = await createNestApp(new FastifyAdapter(), RequestIdModule.forRoot({ assign: false }));
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    expect(await call(port)).toEqual({ status: 200, id: 'order-4711', body: 'req-1 order-4711' });
  });
});

/** A NestJS application with a handler, whose decorators are called as the TypeScript compiler calls them. */
async function createNestApp(adapter: ExpressAdapter | FastifyAdapter, module: object) {
  class Home {
    async home(req: object) {
      await new Promise(setImmediate);
      return both(req);
    }
  }
  Get()(Home.prototype, 'home', Object.getOwnPropertyDescriptor(Home.prototype, 'home') as PropertyDescriptor);
  Req()(Home.prototype, 'home', 0);
  Controller()(Home);
  class AppModule {}
  Module({ imports: [module as never], controllers: [Home] })(AppModule);
  const app = await NestFactory.create(AppModule, adapter as FastifyAdapter, { logger: false });
  onTestFinished(() => app.close());
  return app;
}
