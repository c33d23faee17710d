import express from 'express';
import express4 from 'express4';
import { describe, expect, it } from 'vitest';
import { closing, HOSTS, requestFrom, serve } from './serve.js';

const hosts = Object.entries(HOSTS);

describe.each(hosts)('without a mount path in %s', (_name, host) => {
  it.each([
    ['/healthcheck', true],
    ['/healthcheck?detailed=1', true],
    ['/healthcheck?', true],
    ['/%68ealthcheck', true],
    ['/healthcheck%3F', false],
    ['/healthcheck/', false],
    ['/healthcheck/x', false],
    ['/Healthcheck', false],
    ['//healthcheck', false],
    ['/', false],
    ['/healthcheck%', false],
    ['/healthcheck%ff', false],
    ['/other?x=/healthcheck', false],
  ])('the default path matches %s: %s', async (path, ours) => {
    const { request } = await serve(host({}));
    const { body, status } = await request(path);
    expect([status, body]).toEqual([200, ours ? '' : 'next']);
  });

  it('serves a configured path in encoded and decoded form', async () => {
    const { request } = await serve(
      host({ path: '/my health', backends: [{ name: 'own', check: () => ({ state: 'available' }) }] }),
    );
    expect((await request('/my%20health')).body).toBe('OK');
    expect((await request('/healthcheck')).body).toBe('next');
  });

  it('parses an absolute request target', async () => {
    const { request } = await serve(host({ backends: [{ name: 'own', check: () => ({ state: 'available' }) }] }));
    expect((await request('http://example.org/healthcheck?x')).body).toBe('OK');
  });
});

describe.each([
  ['Express 4', () => express4() as unknown as express.Express],
  ['Express 5', () => express()],
])('mounted in %s', (_name, application) => {
  const own = { name: 'own', check: () => ({ state: 'available' as const }) };

  it('serves every path below its mount', async () => {
    const { request } = await serve(application().use('/status', closing({ backends: [own] })));
    for (const path of ['/status', '/status/', '/status/deep/er?x', '/status/healthcheck']) {
      expect([path, (await request(path)).body]).toEqual([path, 'OK']);
    }
    expect((await request('/healthcheck')).status).toBe(404);
  });

  it('serves only its configured full path, at any depth of mounting', async () => {
    const { request } = await serve(application().use('/api', closing({ path: '/api/healthcheck', backends: [own] })));
    expect((await request('/api/healthcheck')).body).toBe('OK');
    expect((await request('/api/other')).status).toBe(404);
  });

  it('serves several endpoints with their own paths and checks in one application', async () => {
    const app = application();
    app.use(closing({ path: '/public', backends: [own] }));
    app.use(closing({ path: '/admin', backends: [{ name: 'ill', check: () => ({ state: 'unavailable' }) }] }));
    const { request } = await serve(app);
    expect([(await request('/public')).status, (await request('/admin')).status]).toEqual([200, 503]);
  });

  it('preserves headers that were set earlier', async () => {
    const app = application();
    app.use((_req, res, next) => {
      res.setHeader('X-Before', 'kept');
      next();
    });
    app.use(closing({}));
    const { request } = await serve(app);
    expect((await request('/healthcheck')).headers['x-before']).toBe('kept');
  });
});

describe('in bare node:http', () => {
  it('returns 404 for other paths without a next handler', async () => {
    const { request } = await serve(closing({}));
    const statuses = await Promise.all(['/healthcheck', '/other'].map((path) => request(path)));
    expect(statuses.map((response) => response.status)).toEqual([200, 404]);
  });

  it('serves every path with path: false', async () => {
    const { request } = await serve(closing({ path: false }));
    expect((await request('/any/other/path')).status).toBe(200);
  });
});

describe('allowedSourceRanges', () => {
  const blocked = 'next';
  it.each([
    ['everybody by default', undefined, ''],
    ['everybody with an empty text', '', ''],
    ['everybody with an empty list', [], ''],
    ['a network that has the peer', '127.0.0.0/8', ''],
    ['a bare address', '127.0.0.1', ''],
    ['a netmask', '127.0.0.0/255.0.0.0', ''],
    ['the second of two', ' 10.0.0.0/8 , 127.0.0.1/32', ''],
    ['all of IPv4', ['0.0.0.0/0'], ''],
    ['the network in its IPv4-mapped form', ['::ffff:127.0.0.0/104'], ''],
    ['another network', ['10.0.0.0/8', '127.0.0.2'], blocked],
    ['IPv6 networks only', ['::/0', '::1'], blocked],
  ])('responds or calls the next handler: %s', async (_title, allowedSourceRanges, body) => {
    const { request } = await serve(HOSTS['node:http']!({ allowedSourceRanges }));
    expect((await request('/healthcheck')).body).toBe(body);
  });

  it.each([
    ['::1', ''],
    ['::/127', ''],
    ['0:0:0:0:0:0:0:1/128', ''],
    ['::', blocked],
    ['2001:db8::/32', blocked],
    ['0.0.0.0/0', blocked],
  ])('compares an IPv6 peer with %s', async (range, body) => {
    const { request } = await serve(HOSTS['node:http']!({ allowedSourceRanges: [range] }), '::1');
    expect((await request('/healthcheck')).body).toBe(body);
  });

  it('treats an IPv4 peer on an IPv6 socket as an IPv4 peer', async () => {
    const { port } = await serve(HOSTS['node:http']!({ allowedSourceRanges: '127.0.0.1' }), '::');
    const { body } = await requestFrom('127.0.0.1', port, '/healthcheck');
    expect(body).toBe('');
  });

  it('uses the address of the connection, and ignores forwarding headers', async () => {
    const { request } = await serve(HOSTS['node:http']!({ allowedSourceRanges: '10.0.0.1' }));
    expect((await request('/healthcheck', { headers: { 'x-forwarded-for': '10.0.0.1' } })).body).toBe(blocked);
  });

  it('calls the next handler if the peer is unknown', () => {
    const health = closing({ allowedSourceRanges: '0.0.0.0/0' });
    let passedOn = 0;
    health({ url: '/healthcheck', headers: {}, socket: {} } as never, {} as never, () => void passedOn++);
    expect(passedOn).toBe(1);
  });
});

describe('ignoreProxiedRequests', () => {
  it.each([
    ['x-forwarded', 'a', true],
    ['x-forwarded-for', 'a', true],
    ['x-forwarded-proto', 'https', true],
    ['x-forwarded-host', 'a', true],
    ['x-forwarded-prefix', '/a', true],
    ['x-forwarded-for', '', false],
    ['x-forwarded-port', '443', false],
    ['forwarded', 'for=a', false],
    ['via', 'a', false],
    ['x-real-ip', '10.0.0.1', false],
  ])('with %s: %j calls the next handler: %s', async (name, value, passedOn) => {
    const { request } = await serve(HOSTS['node:http']!({ ignoreProxiedRequests: true }));
    expect((await request('/healthcheck', { headers: { [name]: value } })).body).toBe(passedOn ? 'next' : '');
  });

  it('is off by default', async () => {
    const { request } = await serve(HOSTS['node:http']!({}));
    expect((await request('/healthcheck', { headers: { 'x-forwarded-for': 'a' } })).body).toBe('');
  });

  it('calls the next handler before any check runs', async () => {
    let runs = 0;
    const backends = [{ name: 'own', check: () => ({ state: 'available' as const, details: String(runs++) }) }];
    const { request } = await serve(HOSTS['node:http']!({ ignoreProxiedRequests: true, backends }));
    await request('/healthcheck', { headers: { 'x-forwarded-for': 'a' } });
    expect(runs).toBe(0);
  });
});
