import { once } from 'node:events';
import { Agent, createServer, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { enforceQuota, memoryStore, type ProjectQuotas, projectQuotas, type QuotaStore } from '@apistrata/quota';
import express from 'express';
import supertest from 'supertest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { everyStore, type OpenedStore } from './every-store.js';

const project = () => 'p';

/** An app with its own list of resources, which knows what exists. */
function shelf(quota: ProjectQuotas): RequestListener {
  const resources = new Set<string>();
  const secrets = enforceQuota({ quota, kind: 'secrets', project });
  return express()
    .post('/secrets/:id', secrets, (req, res) => {
      if (req.query.fail) return void res.status(409).json({});
      resources.add(String(req.params.id));
      res.status(201).json({});
    })
    .delete('/secrets/:id', secrets, (req, res) => {
      res.status(resources.delete(String(req.params.id)) ? 204 : 404).end();
    });
}

describe.each(everyStore)('released amounts, with $name', ({ open, here }) => {
  let opened: OpenedStore;
  let quota: ProjectQuotas;
  let send: (method: string, path: string) => Promise<number>;
  let close: () => unknown;

  beforeEach(async (context) => {
    if (!here) return context.skip('this server is not available on this machine');
    opened = await open();
    quota = projectQuotas({ preset: 'key-manager', store: opened.store, defaults: { secrets: 1 } });
    const server = createServer(shelf(quota)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { port } = server.address() as AddressInfo;
    send = (method, path) =>
      new Promise((resolve, reject) => {
        const call = request({ port, method, path, agent }, (res) => {
          res.resume().on('end', () => resolve(res.statusCode!));
        });
        call.on('error', reject).end();
      });
    close = async () => {
      agent.destroy();
      server.close();
      await opened.close();
    };
  });
  afterEach(() => close?.());

  it('are available to the next request: 300 of 300 times', { timeout: 60_000 }, async () => {
    const statuses: number[] = [await send('POST', '/secrets/0')];
    for (let turn = 1; turn <= 300; turn++) {
      statuses.push(await send('DELETE', `/secrets/${turn - 1}`), await send('POST', `/secrets/${turn}`));
    }
    expect(statuses.filter((status) => status === 201)).toHaveLength(301);
    expect(statuses.filter((status) => status === 204)).toHaveLength(300);
  });

  it('are available immediately after a handler failed', { timeout: 60_000 }, async () => {
    for (let turn = 0; turn < 50; turn++) expect(await send('POST', '/secrets/x?fail=1')).toBe(409);
    expect(await send('POST', '/secrets/x')).toBe(201);
  });

  it('are unchanged by a DELETE of an unknown resource', async () => {
    expect(await send('POST', '/secrets/a')).toBe(201);
    for (let turn = 0; turn < 5; turn++) expect(await send('DELETE', '/secrets/b')).toBe(404);
    expect(await send('POST', '/secrets/b')).toBe(403);
    expect((await quota.usage('p')).secrets).toMatchObject({ used: 1, reserved: 0 });
  });
});

describe('a response that waits until its amount is released', () => {
  /** A store whose `release` waits until `finish` is called. */
  function slowStore() {
    const memory = memoryStore();
    let end: () => void = () => undefined;
    const started = new Promise<void>((resolve) => {
      const release = async (...args: Parameters<QuotaStore['release']>) => {
        resolve();
        await new Promise<void>((done) => {
          end = done;
        });
        return Object.getPrototypeOf(memory).release.apply(memory, args);
      };
      Object.assign(memory, { release });
    });
    return { quota: projectQuotas({ preset: 'key-manager', store: memory }), begun: started, end: () => end() };
  }

  const responses: [string, express.RequestHandler, number, string | undefined, string][] = [
    ['no content', (_req, res) => void res.status(204).end(), 204, undefined, ''],
    ['JSON', (_req, res) => void res.json({ gone: true }), 200, '13', '{"gone":true}'],
    ['text of its own', (_req, res) => void res.end('é'), 200, '2', 'é'],
    ['hexadecimal', (_req, res) => void res.end('c3a9', 'hex' as never), 200, '2', 'é'],
    ['nothing', (_req, res) => void res.end(), 200, '0', ''],
    [
      'a stream',
      (_req, res) => {
        res.write('a');
        res.end('b');
      },
      200,
      undefined,
      'ab',
    ],
  ];
  it.each(responses)(
    'is identical to a response without the wait: %s',
    async (_what, handler, status, length, body) => {
      const { quota, begun: started, end } = slowStore();
      void started.then(() => setImmediate(end));
      const app = express().delete('/', enforceQuota({ quota, kind: 'secrets', project }), handler);
      const response = await supertest(app).delete('/').expect(status);
      const plain = await supertest(express().delete('/', handler)).delete('/');
      expect(response.headers['content-length']).toBe(length);
      expect({ ...response.headers, date: '' }).toEqual({ ...plain.headers, date: '' });
      expect(response.text).toBe(body);
      expect(response.text).toBe(plain.text);
    },
  );

  it('cannot be changed afterwards, and counts as sent for a handler that throws afterwards', async () => {
    const { quota, begun: started, end } = slowStore();
    const seen: unknown[] = [];
    const app = express()
      .delete('/', enforceQuota({ quota, kind: 'secrets', project }), (_req, res) => {
        res.status(204).end();
        seen.push(res.headersSent);
        res.end('again');
        throw new Error('too late');
      })
      .use(((_error, _req, res, _next) => {
        seen.push(res.headersSent, res.writableEnded);
        expect(() => res.setHeader('X-Late', '1')).toThrow('after they are sent');
      }) as express.ErrorRequestHandler);
    void started.then(() => setImmediate(end));
    await supertest(app).delete('/').expect(204, '');
    expect(seen).toEqual([true, true, false]);
  });

  it('is sent even if the store fails, and the error is reported to the hook', async () => {
    const memory = memoryStore();
    const store = Object.assign(memory, { release: () => Promise.reject(new Error('connection lost')) });
    const errors: unknown[] = [];
    const quota = projectQuotas({ preset: 'key-manager', store });
    const onError = (error: unknown) => {
      errors.push(error);
      throw new Error('a hook that throws ends nothing');
    };
    const enforce = enforceQuota({ quota, kind: 'secrets', project, onError });
    await supertest(express().delete('/', enforce, (_req, res) => void res.status(204).end()))
      .delete('/')
      .expect(204);
    expect(errors).toEqual([expect.objectContaining({ code: 'QUOTA_STORE_UNAVAILABLE' })]);
  });

  it('counts the resource if the option succeeded throws', async () => {
    const quota = projectQuotas({ preset: 'key-manager', store: memoryStore() });
    const succeeded = () => {
      throw new Error('cannot tell');
    };
    const app = express().use(enforceQuota({ quota, kind: 'secrets', project, succeeded }), (_req, res) => {
      res.status(200).end();
    });
    await supertest(app).post('/').expect(200);
    await supertest(app).delete('/').expect(200);
    expect((await quota.usage('p')).secrets).toMatchObject({ used: 1, reserved: 0 });
  });
});
