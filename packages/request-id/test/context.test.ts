import { setTimeout as delay } from 'node:timers/promises';
import express from 'express';
import { describe, expect, it, vi } from 'vitest';
import { sendRequest } from '../../../testing/send-request.js';
import { currentRequestId, headersFor, type RequestIdOptions, requestId, requestIdOf } from '../src/index.js';

const openstack = (options: RequestIdOptions = {}) => requestId({ preset: 'openstack', ...options });

const CALLER = 'req-0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9';

describe('the current request id', () => {
  it('is undefined outside of any request', () => {
    expect(currentRequestId()).toBeUndefined();
  });

  it('follows the request through awaits and timers', async () => {
    const ids = openstack();
    const { body, headers } = await sendRequest((req, res) =>
      ids(req, res, async () => {
        await delay(1);
        setImmediate(() => res.end(currentRequestId()!.local));
      }),
    );
    expect(body).toBe(headers['x-service-request-id']);
  });

  it('is the same in a second copy of the module, which bundlers create for route handlers', async () => {
    vi.resetModules();
    const copy = await import('../src/index.js');
    expect(copy.currentRequestId).not.toBe(currentRequestId);
    const ids = openstack();
    const { body, headers } = await sendRequest((req, res) =>
      ids(req, res, () => res.end(copy.currentRequestId()?.local)),
    );
    expect(body).toBe(headers['x-service-request-id']);
  });

  it('follows the request through a parsed body in Express', async () => {
    const app = express()
      .use(openstack(), express.text({ type: () => true }))
      .post('/', (req, res) => void res.send(`${currentRequestId()!.local} ${req.body.length}`));
    const { body, headers } = await sendRequest(app, { method: 'POST', body: 'x'.repeat(90_000) });
    expect(body).toBe(`${headers['x-service-request-id']} 90000`);
  });

  it('keeps overlapping requests separate', async () => {
    const ids = openstack();
    const one = () =>
      sendRequest((req, res) =>
        ids(req, res, async () => {
          await delay(5);
          res.end(String(currentRequestId()!.local === requestIdOf(req)!.local));
        }),
      );
    const responses = await Promise.all(Array.from({ length: 10 }, one));
    expect(responses.map((response) => response.body)).toEqual(Array(10).fill('true'));
  });

  it('is the inner one with stacked middleware', async () => {
    const [outer, inner] = [openstack(), openstack()];
    const { body, headers } = await sendRequest((req, res) =>
      outer(req, res, () => inner(req, res, () => res.end(currentRequestId()!.local))),
    );
    expect(body).toBe(headers['x-service-request-id']);
  });

  it('can be disabled', async () => {
    const ids = openstack({ context: false });
    const { body } = await sendRequest((req, res) => ids(req, res, () => res.end(String(currentRequestId()))));
    expect(body).toBe('undefined');
  });
});

describe('headers for an outgoing call', () => {
  const outgoing = async (options = {}, sent = {}) => {
    const ids = openstack(options);
    const { body, headers } = await sendRequest(
      (req, res) => ids(req, res, () => res.end(JSON.stringify([headersFor(req), headersFor()]))),
      { headers: sent },
    );
    return { lists: JSON.parse(body), local: headers['x-service-request-id'] };
  };

  it('contain the global id, or the id of the current request', async () => {
    const { lists } = await outgoing({}, { 'X-Service-Request-ID': CALLER });
    expect(lists).toEqual([{ 'X-Service-Request-ID': CALLER }, { 'X-Service-Request-ID': CALLER }]);
  });

  it('contain the local id if the caller sent no valid one', async () => {
    const { lists, local } = await outgoing({}, { 'X-Service-Request-ID': 'nonsense' });
    expect(lists[0]).toEqual({ 'X-Service-Request-ID': local });
  });

  it('use the first inbound name, or the one that is configured', async () => {
    expect(Object.keys((await outgoing({ inbound: ['X-OpenStack-Request-ID'] })).lists[0])).toEqual([
      'X-OpenStack-Request-ID',
    ]);
    expect(Object.keys((await outgoing({ inbound: [], outgoing: 'X-Trace' })).lists[0])).toEqual(['X-Trace']);
    expect(Object.keys((await outgoing({ inbound: [], headers: ['X-Own'] })).lists[0])).toEqual(['X-Own']);
  });

  it('are empty outside any request', () => {
    expect(headersFor()).toEqual({});
    expect(headersFor({ headers: {} } as any)).toEqual({});
  });
});

describe('the id generator for a logger', () => {
  it('returns the id of the middleware before it', async () => {
    const ids = openstack();
    const { body, headers } = await sendRequest((req, res) => ids(req, res, () => res.end(ids.genReqId(req))));
    expect(body).toBe(headers['x-service-request-id']);
  });

  it('reserves an id that the next middleware uses', async () => {
    const ids = openstack();
    const { body, headers } = await sendRequest(
      (req, res) => {
        const logged = ids.genReqId(req);
        expect(ids.genReqId(req)).toBe(logged);
        expect(requestIdOf(req)).toEqual({ local: logged, global: CALLER });
        expect(headersFor(req)).toEqual({ 'X-Service-Request-ID': CALLER });
        ids(req, res, () => res.end(JSON.stringify([logged, requestIdOf(req)])));
      },
      { headers: { 'X-Service-Request-ID': CALLER } },
    );
    const [logged, seen] = JSON.parse(body);
    expect(headers['x-service-request-id']).toBe(logged);
    expect(seen).toEqual({ local: logged, global: CALLER });
  });
});
