import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createEngine, type Engine } from '@apistrata/compute-engine';
import express from 'express';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../testing/eventually.js';
import { sendRequest } from '../../../../testing/send-request.js';
import { toOriginForm } from '../../src/http/request-target.js';
import { computeApi, computeRouter, noauth } from '../../src/index.js';

describe('a request target', () => {
  it.each([
    ['/v2.1/servers?a=//b', '/v2.1/servers?a=//b'],
    ['//v2.1///servers//x', '/v2.1/servers/x'],
    ['//', '/'],
    ['/v2.1/servers//', '/v2.1/servers/'],
    ['http://other.example/v2.1/servers?limit=1', '/v2.1/servers?limit=1'],
    ['HTTP://other.example', '/'],
    ['http://other.example?a=b', '/?a=b'],
    ['http://other.example//v2.1', '/v2.1'],
    ['*', '*'],
  ])('%s is parsed as %s', (target, read) => {
    expect(toOriginForm(target)).toBe(read);
  });
});

const factories = { computeApi, computeRouter } as const;

describe.each(Object.keys(factories) as (keyof typeof factories)[])('%s', (name) => {
  let engine: Engine;
  let server: Server;
  let open: Server;
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });

  beforeAll(async () => {
    engine = await createEngine({});
    const options = { engine, identity: noauth(), ...(name === 'computeApi' && { logger }) };
    const cors = { origins: ['https://console.example.org'], exposedHeaders: ['X-Mine'] };
    server = createServer(factories[name](options) as never);
    open = createServer(factories[name]({ ...options, cors }) as never);
    for (const one of [server, open]) await new Promise<void>((done) => one.listen(0, '127.0.0.1', done));
  });
  afterAll(async () => {
    for (const one of [server, open]) {
      one.closeAllConnections();
      await new Promise((done) => one.close(done));
    }
    await engine.close();
  });

  /** Sends a request verbatim. */
  function raw(target: string, more: readonly string[] = [], at = server, method = 'GET') {
    return new Promise<{ status: number; head: string; body: string }>((resolve, reject) => {
      const socket = connect((at.address() as AddressInfo).port, '127.0.0.1');
      const lines = [`${method} ${target} HTTP/1.1`, 'Host: api.example', 'X-Auth-Token: ada:p1', 'Connection: close'];
      socket.end([...lines, ...more, '', ''].join('\r\n'));
      let text = '';
      socket.on('data', (chunk) => (text += chunk));
      socket.on('error', reject);
      socket.on('close', () => {
        const [head = '', body = ''] = text.split('\r\n\r\n');
        resolve({ status: Number(head.split(' ')[1]), head, body });
      });
    });
  }

  it('merges repeated slashes at any position', async () => {
    for (const target of ['//v2.1/flavors/1', '/v2.1//flavors/1', '/v2.1/flavors//1', '/v2.1//flavors///1']) {
      const { status, body } = await raw(target);
      expect([target, status, body.includes('"id":"1"')]).toEqual([target, 200, true]);
    }
    expect((await raw('//')).status).toBe(200);
    expect((await raw('/v2.1/flavors//')).status).toBe(404);
    expect((await raw('/v2.1//flavors?limit=1')).body).toContain('"http://api.example/v2.1/flavors?limit=1&marker=');
  });

  it('serves targets with scheme and host, and does not trust that host', async () => {
    const { status, body } = await raw('http://evil.example/v2.1/flavors/1');
    expect(status).toBe(200);
    expect(body).toContain('http://api.example/v2.1/flavors/1');
    expect(body).not.toContain('evil');
    expect((await raw('http://evil.example')).body).not.toContain('evil');
  });

  const origin = 'Origin: https://console.example.org';
  const preflight = [origin, 'Access-Control-Request-Method: DELETE', 'Access-Control-Request-Headers: x-auth-token'];

  it('returns 404 for OPTIONS unless CORS is configured', async () => {
    const { status, head } = await raw('/v2.1/servers', preflight, server, 'OPTIONS');
    expect(status).toBe(404);
    expect(head.toLowerCase()).not.toContain('access-control');
  });

  it('serves preflight requests of configured origins, and adds CORS headers to all responses', async () => {
    const requested = await raw('/v2.1/servers', preflight, open, 'OPTIONS');
    expect(requested.status).toBe(204);
    expect(requested.head).toContain('Access-Control-Allow-Origin: https://console.example.org');
    expect(requested.head).toMatch(/Access-Control-Allow-Methods: .*DELETE/);
    expect(requested.head).toContain('Access-Control-Allow-Headers: x-auth-token');
    for (const target of ['/v2.1/flavors', '/v2.1/servers/none', '/nowhere', '/']) {
      const { head } = await raw(target, [origin], open);
      expect(head).toContain('Access-Control-Allow-Origin: https://console.example.org');
      for (const exposed of ['X-Compute-Request-ID', 'OpenStack-API-Version', 'Link', 'X-Mine'])
        expect(head).toMatch(new RegExp(`Access-Control-Expose-Headers: .*\\b${exposed}\\b`));
    }
    expect((await raw('/v2.1/flavors', [origin], open)).head).toMatch(/Vary: .*Origin/);
    const other = await raw('/v2.1/flavors', ['Origin: https://evil.example'], open);
    expect([other.status, other.head.includes('Access-Control-Allow-Origin')]).toEqual([200, false]);
    expect((await raw('/v2.1/servers', [], open, 'OPTIONS')).status).toBe(404);
  });

  it('creates one document per version, and none for versions that it does not serve', () => {
    const api = factories[name]({ engine, identity: noauth() });
    expect(api.openApi('2.50')).toBe(api.openApi('2.50'));
    const text = api.openApiText('2.50', 'http://api.example');
    expect(JSON.parse(text)).toEqual(api.openApi('2.50', 'http://api.example'));
    for (const version of ['2.0', '2.101', '3.1', 'new']) expect(() => api.openApi(version)).toThrow(RangeError);
    expect(() => api.openApiText('2.101')).toThrow('2.1 to 2.100');
  });

  it('rejects invalid origins, and names the fix', () => {
    const making = (cors: object) => () => factories[name]({ engine, identity: noauth(), cors: cors as never });
    expect(making({ origins: ['https://a.example/'] })).toThrow("write it as 'https://a.example'");
    expect(making({ origins: ['a.example'] })).toThrow('is not an origin');
    expect(making({ origin: '*' })).toThrow('unknown option "origin"');
  });

  it.runIf(name === 'computeApi')('logs no secret in any spelling', async () => {
    lines.length = 0;
    const secret = 'sesame';
    const targets = [
      `/v2.1/os-console-auth-tokens/${secret}`,
      `/v2.1//os-console-auth-tokens//${secret}?x=1`,
      `/v2.1/os%2Dconsole-auth-tokens/${secret}`,
      `/v2.1/OS-CONSOLE-AUTH-TOKENS/${secret}/more`,
      `http://other.example/v2.1/os-console-auth-tokens/${secret}`,
      `/v2.1/os-console-auth-tokens%2f${secret}`,
      `/v2.1/servers?token=${secret}`,
      `/v2.1/servers?%74oken=${secret}&TOKEN=${secret};access_token=${secret}`,
      `/v2.1/servers?path=%3Ftoken%3D${secret}`,
      `/v2.1/servers?path=%253Ftoken%253D${secret}`,
    ];
    const headers = ['X-Storage-Token', 'X-Auth-Key', 'Proxy-Authorization', 'X-Service-Token', 'Cookie'];
    for (const target of targets)
      await raw(
        target,
        headers.map((header) => `${header}: ${secret}`),
      );
    await eventually(() => expect(lines.length).toBeGreaterThanOrEqual(targets.length));
    expect(lines.join('')).not.toContain(secret);
    expect(lines.join('')).toContain('[redacted]');
  });

  it.runIf(name === 'computeApi')('logs no secret of a query that Express has parsed', async () => {
    lines.length = 0;
    const app = express().use(computeApi({ engine, identity: noauth(), logger }));
    await sendRequest(app, { path: '/v2.1/servers?token=sesame&name=web' });
    await expect.poll(() => lines.length).toBeGreaterThan(0);
    expect(JSON.parse(lines[0] ?? '').req.query).toEqual({ token: '[redacted]', name: 'web' });
    expect(lines.join('')).not.toContain('sesame');
  });

  it.runIf(name === 'computeApi')('does not log an error when a client disconnects', async () => {
    lines.length = 0;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const head = ['POST /v2.1/servers HTTP/1.1', 'Host: a', 'X-Auth-Token: ada:p1', 'Content-Type: application/json'];
    socket.write([...head, 'Content-Length: 1000', '', '{"server"'].join('\r\n'));
    await new Promise((done) => setTimeout(done, 50));
    socket.resetAndDestroy();
    await eventually(() => expect(lines.length).toBeGreaterThan(0));
    expect(lines.map((line) => JSON.parse(line).level).every((level) => level < 50)).toBe(true);
  });
});
