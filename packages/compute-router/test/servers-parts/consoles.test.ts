import { randomUUID } from 'node:crypto';
import { ManualClock } from '@apistrata/compute-engine/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '../api-under-test.js';
import { largeCapacityApi } from './large-capacity-api.js';

describe('consoles of a server', () => {
  let api: Api;
  const clock = new ManualClock();
  beforeAll(async () => {
    api = await largeCapacityApi({ engine: { clock } });
  });
  afterAll(async () => {
    expect(api.errors).toEqual([]);
    await api.close();
  });

  const at = (version: string) => api.as('ada:p1', version);
  const open = async (id: string, version: string, protocol: string, type: string) =>
    at(version).post(`/servers/${id}/remote-consoles`, { remote_console: { protocol, type } });
  const tokenIn = (url: string) => /token(?:=|%3D)([0-9a-f-]{36})$/.exec(url)![1]!;

  it.each([
    ['2.6', 'vnc', 'novnc'],
    ['2.7', 'vnc', 'xvpvnc'],
    ['2.7', 'vnc', 'xpvnc'],
    ['2.6', 'spice', 'spice-html5'],
    ['2.6', 'serial', 'serial'],
    ['2.8', 'mks', 'webmks'],
    ['2.99', 'spice', 'spice-direct'],
  ])('open at %s as %s %s', async (version, protocol, type) => {
    const { id } = await at(version).boot();
    const opened = await open(id, version, protocol, type);
    expect(opened.status).toBe(200);
    expect(opened.body).toEqual({ remote_console: { protocol, type, url: expect.any(String) } });
    const token = tokenIn(opened.body.remote_console.url);
    const shown = await api.as('admin:p1', '2.31').get(`/os-console-auth-tokens/${token}`);
    expect(shown.body).toEqual({
      console: {
        instance_uuid: id,
        host: expect.stringMatching(/^host/),
        port: expect.any(Number),
        internal_access_path: null,
      },
    });
  });

  it.each([
    ['2.7', 'mks', 'webmks'],
    ['2.98', 'spice', 'spice-direct'],
    ['2.6', 'vnc', 'serial'],
    ['2.6', 'rdp', 'rdp-html5'],
    ['2.100', 'rdp', 'rdp-html5'],
    ['2.6', 'vnc', 'unknown'],
  ])('are rejected at %s as %s %s', async (version, protocol, type) => {
    const { id } = await at(version).boot();
    expect((await open(id, version, protocol, type)).status).toBe(400);
  });

  const legacy = [
    ['os-getVNCConsole', 'novnc'],
    ['os-getVNCConsole', 'xvpvnc'],
    ['os-getSPICEConsole', 'spice-html5'],
    ['os-getSerialConsole', 'serial'],
  ] as const;
  it.each(legacy)('open by the action %s (%s) until 2.5', async (action, type) => {
    const { id } = await at('2.5').boot();
    const opened = await at('2.5').act(id, action, { type });
    expect([opened.status, opened.body]).toEqual([200, { console: { type, url: expect.any(String) } }]);
    expect((await at('2.5').act(id, action, { type: 'other' })).status).toBe(400);
    expect((await at('2.6').act(id, action, { type })).status).toBe(404);
    await at('2.5').act(id, 'os-stop');
    expect((await at('2.5').act(id, action, { type })).status).toBe(409);
  });

  it('do not support the type RDP', async () => {
    const { id } = await at('2.1').boot();
    expect((await at('2.5').act(id, 'os-getRDPConsole', { type: 'rdp-html5' })).status).toBe(400);
    expect((await at('2.6').act(id, 'os-getRDPConsole', { type: 'rdp-html5' })).status).toBe(404);
  });

  it('need a running server', async () => {
    const { id } = await at('2.6').boot();
    expect((await at('2.5').post(`/servers/${id}/remote-consoles`, {})).status).toBe(404);
    expect((await open(randomUUID(), '2.6', 'vnc', 'novnc')).status).toBe(404);
    await at('2.6').act(id, 'os-stop');
    expect((await open(id, '2.6', 'vnc', 'novnc')).status).toBe(409);
  });

  it('are unavailable while a server moves', async () => {
    const { id } = await at('2.6').boot();
    const { engine } = api;
    const context = {
      caller: { userId: 'x', projectId: 'p1', roles: ['admin'], isAdmin: true },
      isAdmin: true,
      requestId: `req-${randomUUID()}`,
    };
    await engine.servers.change(context, id, 'update', () => ({ taskState: 'migrating' }));
    expect((await open(id, '2.6', 'vnc', 'novnc')).status).toBe(409);
  });

  it('have separate tokens, which are valid until they expire', async () => {
    const { id } = await at('2.6').boot();
    const urls = [await open(id, '2.6', 'vnc', 'novnc'), await open(id, '2.6', 'vnc', 'novnc')];
    const [one, two] = urls.map(({ body }) => tokenIn(body.remote_console.url));
    expect(one).not.toBe(two);
    const admin = api.as('admin:p1', '2.31');
    const path = `/os-console-auth-tokens/${one}`;
    expect((await admin.get(path)).status).toBe(200);
    expect((await api.as('admin:p1', '2.30').get(path)).status).toBe(400);
    expect((await at('2.31').get(path)).status).toBe(403);
    expect((await admin.get(`/os-console-auth-tokens/${randomUUID()}`)).status).toBe(404);
    expect((await api.as('admin:p1', '2.98').get(`${path}?x=1`)).status).toBe(200);
    expect((await api.as('admin:p1', '2.99').get(`${path}?x=1`)).status).toBe(400);
    await clock.advance(600_000);
    expect((await admin.get(path)).status).toBe(404);
    const { body } = await open(id, '2.6', 'vnc', 'novnc');
    await at('2.6').delete(`/servers/${id}`);
    await api.idle();
    expect((await admin.get(`/os-console-auth-tokens/${tokenIn(body.remote_console.url)}`)).status).toBe(404);
  });

  it('show the TLS port of a direct console since 2.99', async () => {
    const { id } = await at('2.99').boot();
    const token = tokenIn((await open(id, '2.99', 'spice', 'spice-direct')).body.remote_console.url);
    const path = `/os-console-auth-tokens/${token}`;
    expect((await api.as('admin:p1', '2.99').get(path)).body.console).toHaveProperty('tls_port');
    expect((await api.as('admin:p1', '2.98').get(path)).body.console).not.toHaveProperty('tls_port');
    const plain = tokenIn((await open(id, '2.99', 'vnc', 'novnc')).body.remote_console.url);
    const shown = await api.as('admin:p1', '2.99').get(`/os-console-auth-tokens/${plain}`);
    expect(shown.body.console).not.toHaveProperty('tls_port');
  });

  it('return all output, or the given number of last lines', async () => {
    const { id } = await at('2.1').boot();
    const output = async (argument: unknown) => (await at('2.1').act(id, 'os-getConsoleOutput', argument)).body?.output;
    const all: string = await output({});
    const lines = all.split('\n');
    expect(lines.length).toBeGreaterThan(2);
    expect(await output({ length: null })).toBe(all);
    expect(await output({ length: -1 })).toBe(all);
    expect(await output({ length: 0 })).toBe('');
    expect(await output({ length: '2' })).toBe(lines.slice(-2).join('\n'));
    expect(await output({ length: 1000 })).toBe(all);
    for (const argument of [null, { length: -2 }, { length: 'x' }, { length: 1.5 }, { more: 1 }])
      expect((await at('2.1').act(id, 'os-getConsoleOutput', argument)).status).toBe(400);
    await at('2.1').act(id, 'shelve');
    expect((await at('2.1').act(id, 'os-getConsoleOutput', {})).status).toBe(409);
  });

  it('never cause a 500, for any request', async () => {
    const { id } = await at('2.5').boot();
    await fc.assert(
      fc.asyncProperty(fc.anything(), fc.string({ minLength: 1 }), async (value, text) => {
        for (const action of ['os-getConsoleOutput', ...legacy.map(([name]) => name)])
          expect([200, 400]).toContain((await at('2.5').act(id, action, value)).status);
        const path = `/servers/${id}/remote-consoles`;
        expect((await at('2.100').post(path, { remote_console: value })).status).toBe(400);
        const token = encodeURIComponent(text);
        expect([400, 404]).toContain((await api.as('admin:p1', '2.31').get(`/os-console-auth-tokens/${token}`)).status);
      }),
      { numRuns: 40 },
    );
  });
});
