import { once } from 'node:events';
import { type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { enforceQuota, type ProjectQuotas, projectQuotas, ReservationEnded } from '@apistrata/quota';
import express from 'express';
import express4 from 'express4';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../testing/eventually.js';
import { everyStore, type OpenedStore } from './every-store.js';

const LIMIT = 3;
const TTL_MS = 60_000;

/** A running handler, controlled by the test after its client has disconnected. */
interface Work {
  readonly left: Promise<unknown>;
  end(status: number): void;
  fail(): void;
}

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;
type Middleware = ReturnType<typeof enforceQuota>;

function inExpress(make: typeof express) {
  return (enforce: Middleware, handler: Handler) => {
    const app = make();
    // Express 4 does not catch rejections of async handlers.
    app.use(enforce, (req, res, next) => void handler(req, res).catch(next));
    app.use(((_error, _req, res, _next) => void res.status(500).end()) as express.ErrorRequestHandler);
    return app;
  };
}

const servers: [string, (enforce: Middleware, handler: Handler) => (req: never, res: never) => unknown][] = [
  ['Express 5', inExpress(express)],
  ['Express 4', inExpress(express4 as unknown as typeof express)],
  [
    'bare node:http',
    (enforce, handler) => (req: IncomingMessage, res: ServerResponse) =>
      enforce(req, res, () => handler(req, res)).catch(() => res.writeHead(500).end()),
  ],
];

let opened: OpenedStore;
let quota: ProjectQuotas;
let now: number;
let close: () => unknown;
let works: Work[];
let reached: () => void;
const errors: unknown[] = [];

afterEach(async () => {
  close();
  await opened.close();
  errors.length = 0;
});

async function start(serve: (typeof servers)[number][1], open: (typeof everyStore)[number]['open']) {
  now = 1_700_000_000_000;
  opened = await open(() => now);
  quota = projectQuotas({ preset: 'key-manager', store: opened.store, defaults: { secrets: LIMIT }, ttlMs: TTL_MS });
  works = [];
  const handler: Handler = (_req, res) =>
    new Promise((resolve, reject) => {
      works.push({
        left: once(res, 'close'),
        end: (status) => {
          res.statusCode = status;
          res.end('{}');
          resolve();
        },
        fail: () => reject(new Error('handler failed')),
      });
      reached();
    });
  const onError = (error: unknown) => void errors.push(error);
  const enforce = enforceQuota({ quota, kind: 'secrets', project: () => 'p', onError });
  const server = createServer(serve(enforce, handler) as never).listen(0, '127.0.0.1');
  await once(server, 'listening');
  close = () => {
    server.closeAllConnections();
    server.close();
  };
  return (server.address() as AddressInfo).port;
}

function call(port: number, method: string): { client: ClientRequest; status: Promise<number> } {
  const client = request({ port, method, agent: false });
  const status = new Promise<number>((resolve) => {
    client.on('response', (res) => {
      res.resume();
      resolve(res.statusCode!);
    });
    client.on('error', () => resolve(0));
  });
  client.end();
  return { client, status };
}

/** Sends a request and disconnects when its handler starts. @returns undefined if the quota rejected it */
async function hangUp(port: number, method = 'POST'): Promise<Work | undefined> {
  const working = new Promise<'working'>((resolve) => {
    reached = () => resolve('working');
  });
  const { client, status } = call(port, method);
  if ((await Promise.race([working, status])) !== 'working') return undefined;
  const work = works.at(-1)!;
  client.destroy();
  await work.left;
  return work;
}

const countOf = async () => {
  const { used, reserved } = (await quota.usage('p')).secrets!;
  return { used, reserved };
};
const counts = (used: number, reserved = 0) =>
  eventually(async () => expect(await countOf()).toEqual({ used, reserved }));

const combinations = servers.flatMap(([server, serve]) => everyStore.map((store) => ({ server, serve, ...store })));

describe.each(combinations)('a client that disconnects from $server, with $name', ({ serve, open, here }) => {
  let port: number;
  beforeEach(async (context) => {
    if (!here) return context.skip('this server is not available on this machine');
    port = await start(serve, open);
  });

  it('creates no more resources than the limit, and all of them are counted', async () => {
    const admitted: Work[] = [];
    for (let attempt = 0; attempt < 10; attempt++) {
      const work = await hangUp(port);
      if (work) admitted.push(work);
    }
    expect(admitted).toHaveLength(LIMIT);
    await counts(0, LIMIT);
    for (const work of admitted) work.end(201);
    await counts(LIMIT);
    expect(errors).toEqual([]);
  });

  it('releases the amount if the handler responds with a failure or throws', async () => {
    (await hangUp(port))!.end(409);
    await counts(0);
    (await hangUp(port))!.fail();
    await counts(0);
  });

  it('keeps the reservation for the time-to-live if the handler never ends', async () => {
    const renew = vi.spyOn(opened.store, 'renew');
    await hangUp(port);
    await eventually(() => expect(renew).toHaveBeenCalled());
    await renew.mock.results[0]!.value;
    now += TTL_MS - 1;
    await counts(0, 1);
    now += 1;
    await counts(0);
  });

  it('does not leak amounts during DELETE', async () => {
    await quota.consume('p', { secrets: 2 });
    (await hangUp(port, 'DELETE'))!.end(204);
    await counts(1);
    (await hangUp(port, 'DELETE'))!.end(404);
    (await hangUp(port, 'DELETE'))!.fail();
    await counts(1);
  });
});

describe('a reservation whose client has disconnected', () => {
  it('restarts its time-to-live', async () => {
    const port = await start(servers[0]![1], everyStore[0]!.open);
    const working = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const { client } = call(port, 'POST');
    await working;
    now += TTL_MS - 1;
    client.destroy();
    await works[0]!.left;
    now += TTL_MS - 1;
    works[0]!.end(201);
    await counts(1);
  });

  it('is reported to the hook if its handler ends after its expiry', async () => {
    const port = await start(servers[0]![1], everyStore[0]!.open);
    const work = await hangUp(port);
    now += TTL_MS;
    work!.end(201);
    await eventually(() => expect(errors).toEqual([expect.any(ReservationEnded)]));
  });
});
