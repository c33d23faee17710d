import express from 'express';
import express4 from 'express4';
import { describe, expect, it } from 'vitest';
import { askFor, closing, HOSTS, serve } from './serve.js';

const hosts = Object.entries(HOSTS);

describe.each(hosts)('as a filter in %s', (_name, host) => {
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
  ])('the default path takes %s: %s', async (path, ours) => {
    const { ask } = await serve(host({}));
    const { body, status } = await ask(path);
    expect([status, body]).toEqual([200, ours ? '' : 'next']);
  });

  it('answers a path of its own, written as people or as machines write it', async () => {
    const { ask } = await serve(
      host({ path: '/my health', backends: [{ name: 'own', check: () => ({ state: 'available' }) }] }),
    );
    expect((await ask('/my%20health')).body).toBe('OK');
    expect((await ask('/healthcheck')).body).toBe('next');
  });

  it('takes an absolute request target for its path', async () => {
    const { ask } = await serve(host({ backends: [{ name: 'own', check: () => ({ state: 'available' }) }] }));
    expect((await ask('http://example.org/healthcheck?x')).body).toBe('OK');
  });
});

describe.each([
  ['Express 4', () => express4() as unknown as express.Express],
  ['Express 5', () => express()],
])('mounted in %s', (_name, application) => {
  const own = { name: 'own', check: () => ({ state: 'available' as const }) };

  it('answers every path below its mount', async () => {
    const { ask } = await serve(application().use('/status', closing({ backends: [own] })));
    for (const path of ['/status', '/status/', '/status/deep/er?x', '/status/healthcheck']) {
      expect([path, (await ask(path)).body]).toEqual([path, 'OK']);
    }
    expect((await ask('/healthcheck')).status).toBe(404);
  });

  it('answers only the full path it was given, however deep it is mounted', async () => {
    const { ask } = await serve(application().use('/api', closing({ path: '/api/healthcheck', backends: [own] })));
    expect((await ask('/api/healthcheck')).body).toBe('OK');
    expect((await ask('/api/other')).status).toBe(404);
  });

  it('serves several endpoints with their own paths and checks in one application', async () => {
    const app = application();
    app.use(closing({ path: '/public', backends: [own] }));
    app.use(closing({ path: '/admin', backends: [{ name: 'ill', check: () => ({ state: 'unavailable' }) }] }));
    const { ask } = await serve(app);
    expect([(await ask('/public')).status, (await ask('/admin')).status]).toEqual([200, 503]);
  });

  it('keeps headers that were set before it', async () => {
    const app = application();
    app.use((_req, res, next) => {
      res.setHeader('X-Before', 'kept');
      next();
    });
    app.use(closing({}));
    const { ask } = await serve(app);
    expect((await ask('/healthcheck')).headers['x-before']).toBe('kept');
  });
});

describe('in bare node:http', () => {
  it('answers 404 for other paths where nothing comes behind it', async () => {
    const { ask } = await serve(closing({}));
    const statuses = await Promise.all(['/healthcheck', '/other'].map((path) => ask(path)));
    expect(statuses.map((answer) => answer.status)).toEqual([200, 404]);
  });

  it('answers everything with path: false', async () => {
    const { ask } = await serve(closing({ path: false }));
    expect((await ask('/whatever/it/is')).status).toBe(200);
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
  ])('answers or hands on: %s', async (_title, allowedSourceRanges, body) => {
    const { ask } = await serve(HOSTS['node:http']!({ allowedSourceRanges }));
    expect((await ask('/healthcheck')).body).toBe(body);
  });

  it.each([
    ['::1', ''],
    ['::/127', ''],
    ['0:0:0:0:0:0:0:1/128', ''],
    ['::', blocked],
    ['2001:db8::/32', blocked],
    ['0.0.0.0/0', blocked],
  ])('compares an IPv6 peer with %s', async (range, body) => {
    const { ask } = await serve(HOSTS['node:http']!({ allowedSourceRanges: [range] }), '::1');
    expect((await ask('/healthcheck')).body).toBe(body);
  });

  it('takes an IPv4 peer on an IPv6 socket for an IPv4 peer', async () => {
    const { port } = await serve(HOSTS['node:http']!({ allowedSourceRanges: '127.0.0.1' }), '::');
    const { body } = await askFor('127.0.0.1', port, '/healthcheck');
    expect(body).toBe('');
  });

  it('goes by the connection, not by what forwarding headers claim', async () => {
    const { ask } = await serve(HOSTS['node:http']!({ allowedSourceRanges: '10.0.0.1' }));
    expect((await ask('/healthcheck', { headers: { 'x-forwarded-for': '10.0.0.1' } })).body).toBe(blocked);
  });

  it('hands on where the peer is unknown', () => {
    const health = closing({ allowedSourceRanges: '0.0.0.0/0' });
    let handedOn = 0;
    health({ url: '/healthcheck', headers: {}, socket: {} } as never, {} as never, () => void handedOn++);
    expect(handedOn).toBe(1);
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
  ])('with %s: %j hands the request on: %s', async (name, value, handedOn) => {
    const { ask } = await serve(HOSTS['node:http']!({ ignoreProxiedRequests: true }));
    expect((await ask('/healthcheck', { headers: { [name]: value } })).body).toBe(handedOn ? 'next' : '');
  });

  it('is off by default', async () => {
    const { ask } = await serve(HOSTS['node:http']!({}));
    expect((await ask('/healthcheck', { headers: { 'x-forwarded-for': 'a' } })).body).toBe('');
  });

  it('hands on before any check runs', async () => {
    let runs = 0;
    const backends = [{ name: 'own', check: () => ({ state: 'available' as const, details: String(runs++) }) }];
    const { ask } = await serve(HOSTS['node:http']!({ ignoreProxiedRequests: true, backends }));
    await ask('/healthcheck', { headers: { 'x-forwarded-for': 'a' } });
    expect(runs).toBe(0);
  });
});
