import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expressServer } from '../src/express-server.js';

setFlagsFromString('--allow-natives-syntax');
/** Returns whether V8 uses the same hidden class for two objects. */
const sameKind = new Function('a', 'b', 'return %HaveSameMap(a, b)') as (a: object, b: object) => boolean;

describe('the server of an Express application', () => {
  const app = express();
  const server = expressServer(app);
  const arrived: object[] = [];
  let url: string;

  beforeAll(async () => {
    server.on('request', (req, res) => arrived.push(req, res));
    app.get('/name/:name', (req, res) => {
      res.status(201).json({ name: req.params.name, host: req.hostname, ofApp: req.app === app && res.app === app });
    });
    const inner = express();
    inner.get('/where', (req, res) => void res.send(req.baseUrl));
    app.use('/inner', inner);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  it('provides handlers with all Express methods', async () => {
    const response = await fetch(`${url}/name/ada`);
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ name: 'ada', host: '127.0.0.1', ofApp: true });
    expect(await (await fetch(`${url}/inner/where`)).text()).toBe('/inner');
    expect((await fetch(`${url}/nothing`)).status).toBe(404);
  });

  it('creates requests and responses with the Express prototypes and one hidden class', async () => {
    for (let requested = 0; requested < 4; requested++) await (await fetch(`${url}/name/ada`)).text();
    const [req, res, nextReq, nextRes] = arrived.slice(-4) as [object, object, object, object];
    expect(Object.getPrototypeOf(nextReq)).toBe(app.request);
    expect(Object.getPrototypeOf(nextRes)).toBe(app.response);
    expect([sameKind(req, nextReq), sameKind(res, nextRes)]).toEqual([true, true]);
  });
});
