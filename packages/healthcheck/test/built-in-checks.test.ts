import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import forge from 'node-forge';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type Check,
  certificate,
  diskSpace,
  eventLoopDelay,
  eventLoopUtilization,
  heap,
  http,
  ping,
  rss,
  tcp,
} from '../src/index.js';
import { closing, serve } from './serve.js';

const DAY_MS = 86_400_000;

const run = async (check: Check) => (await closing({ backends: [check] }).status()).results[0]!;

/** Blocks the event loop. */
function block(ms: number): void {
  const end = Date.now() + ms;
  while (Date.now() < end);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function freedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Creates a certificate in PEM format that is valid between two days, counted from now. */
function createCertificate(untilDay: number, fromDay = 0): string {
  const format = { type: 'spki', format: 'pem' } as const;
  const keys = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: format,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const cert = forge.pki.createCertificate();
  cert.publicKey = forge.pki.publicKeyFromPem(keys.publicKey);
  cert.validity.notBefore = new Date(Date.now() + fromDay * DAY_MS);
  cert.validity.notAfter = new Date(Date.now() + untilDay * DAY_MS);
  cert.setSubject([{ name: 'commonName', value: 'example.org' }]);
  cert.sign(forge.pki.privateKeyFromPem(keys.privateKey), forge.md.sha256.create());
  return forge.pki.certificateToPem(cert);
}

describe('checks of the process', () => {
  it.each([
    ['eventLoopDelay', eventLoopDelay({ maxMs: 60_000 })],
    ['eventLoopUtilization', eventLoopUtilization({ max: 1 })],
    ['heap', heap({ maxRatio: 1 })],
    ['rss', rss({ maxBytes: 2 ** 40 })],
    ['diskSpace', diskSpace('/', { minFreeBytes: 1 })],
  ])('%s is available within its limit, and reports the measured value', async (_name, check) => {
    expect(await run(check)).toMatchObject({ state: 'available', reason: 'OK', details: expect.stringMatching(/\d/) });
  });

  it.each([
    ['heap', heap({ maxRatio: 1e-9 }), 'HEAP FULL'],
    ['rss', rss({ maxBytes: 1 }), 'RSS TOO HIGH'],
    ['diskSpace', diskSpace('/', { minFreeRatio: 2 }), 'DISK FULL'],
  ])('%s is unavailable beyond its limit', async (_name, check, reason) => {
    expect(await run(check)).toMatchObject({ state: 'unavailable', reason });
  });

  it('are degraded beyond their limit if configured', async () => {
    expect(await run(rss({ maxBytes: 1, stateBeyondLimit: 'degraded' }))).toMatchObject({
      state: 'degraded',
      available: true,
    });
  });

  it('eventLoopDelay detects a blocked event loop, and its recovery', async () => {
    const check = eventLoopDelay({ maxMs: 250, cacheMs: 0 });
    const health = closing({ backends: [check] });
    await pause(60);
    block(600);
    await pause(60);
    expect((await health.status()).results[0]!.reason).toBe('EVENT LOOP DELAYED');
    await expect.poll(async () => (await health.status()).results[0]!.reason).toBe('OK');
  });

  it('eventLoopUtilization detects a saturated event loop, after a first second without a result', async () => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(5_000);
    onTestFinished(() => clock.mockRestore());
    const check = eventLoopUtilization({ max: 0.5, cacheMs: 0 });
    await pause(1);
    block(300);
    for (const now of [5_000, 5_999]) {
      clock.mockReturnValue(now);
      expect(check.check(AbortSignal.any([]))).toEqual({
        state: 'available',
        details: 'The first measurement of the event loop takes 1000 ms',
      });
    }
    clock.mockReturnValue(6_000);
    expect(check.check(AbortSignal.any([]))).toMatchObject({ state: 'unavailable', reason: 'EVENT LOOP BUSY' });
  });

  it('diskSpace is unavailable, with a reason, for a missing path', async () => {
    expect(
      await run(diskSpace(join(import.meta.dirname, 'no-such-folder'), { minFreeBytes: 1, name: 'data' })),
    ).toMatchObject({
      state: 'unavailable',
      reason: 'CHECK FAILED: data',
      details: expect.stringContaining('ENOENT'),
    });
  });
});

describe('checks of the network', () => {
  it('tcp is available while a server accepts connections', async () => {
    const { port } = await serve(() => undefined);
    expect(await run(tcp('127.0.0.1', port))).toMatchObject({ name: `tcp:127.0.0.1:${port}`, state: 'available' });
  });

  it('tcp is unavailable without a listener', async () => {
    expect(await run(tcp('127.0.0.1', await freedPort()))).toMatchObject({
      state: 'unavailable',
      reason: 'UNREACHABLE',
      details: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it.each([
    [200, {}, 'available', 'OK'],
    [204, {}, 'available', 'OK'],
    [302, {}, 'unavailable', 'UNHEALTHY RESPONSE'],
    [503, {}, 'unavailable', 'UNHEALTHY RESPONSE'],
    [401, { statuses: [401] }, 'available', 'OK'],
    [200, { statuses: [401] }, 'unavailable', 'UNHEALTHY RESPONSE'],
  ] as const)('http treats a response of %i with %j as %s', async (status, options, state, reason) => {
    const { url } = await serve((_req, res) => res.writeHead(status, { location: '/' }).end());
    expect(await run(http(`${url}/health?token=secret`, options))).toMatchObject({
      name: `http:${url}/health`,
      state,
      reason,
      details: `${url}/health returned ${status}`,
    });
  });

  it('http is unavailable without a listener', async () => {
    expect(await run(http(`http://127.0.0.1:${await freedPort()}/`))).toMatchObject({
      reason: 'UNREACHABLE',
      details: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('http gives up at its timeout, and closes the connection', async () => {
    let closed: Promise<void> | undefined;
    const { url } = await serve((req) => {
      closed = new Promise((resolve) => req.socket.once('close', () => resolve()));
    });
    expect((await run(http(url, { name: 'slow', timeoutMs: 200 }))).reason).toBe('CHECK TIMED OUT: slow');
    await closed;
  });
});

describe('ping()', () => {
  it('is available while the client responds, and otherwise reports the error that it throws', async () => {
    const signal = new AbortController().signal;
    const redis = ping(async () => 'PONG', { name: 'redis', timeoutMs: 7 });
    expect([redis.name, redis.timeoutMs]).toEqual(['redis', 7]);
    expect(await redis.check(signal)).toEqual({ state: 'available', details: 'redis responds' });
    const broken = ping(() => Promise.reject(new Error('ECONNREFUSED')), { name: 'redis' });
    expect(await broken.check(signal)).toEqual({
      state: 'unavailable',
      reason: 'UNREACHABLE',
      details: 'redis: ECONNREFUSED',
    });
  });

  it('passes the abort signal of its timeout', async () => {
    const health = closing({
      log: false,
      backends: [
        ping((signal) => new Promise((_, reject) => signal.addEventListener('abort', reject)), {
          name: 'slow',
          timeoutMs: 5,
        }),
      ],
    });
    expect((await health.status()).results[0]!.reason).toBe('CHECK TIMED OUT: slow');
  });

  it('is rejected without a name or a function', () => {
    expect(() => ping(() => true, {} as never)).toThrow('{ name: "redis" }');
    expect(() => ping('redis' as never, { name: 'redis' })).toThrow('ping(() => client.ping()');
    expect(() => ping(() => true, { name: 'a', timeout: 5 } as never)).toThrow('Did you mean "timeoutMs"?');
  });
});

describe('certificate()', () => {
  const folder = mkdtempSync(join(tmpdir(), 'apistrata-certificate-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'server.pem');
  writeFileSync(file, createCertificate(30));
  const check = (options = {}) => certificate(file, options).check(new AbortController().signal);

  it('is available while the certificate remains valid for long enough', async () => {
    expect(await check()).toMatchObject({
      state: 'available',
      details: expect.stringContaining('at least 14 more days are required'),
    });
  });

  it('fails or, if configured, is degraded if the certificate expires too soon', async () => {
    expect(await check({ minDays: 40 })).toMatchObject({ state: 'unavailable', reason: 'CERTIFICATE EXPIRES' });
    expect(await check({ minDays: 40, stateBeyondLimit: 'degraded' })).toMatchObject({ state: 'degraded' });
  });

  it.each([
    [-2, -1, 'CERTIFICATE EXPIRED'],
    [1, 60, 'CERTIFICATE NOT YET VALID'],
  ])('fails for a certificate that is valid from day %i to day %i', async (from, to, reason) => {
    const other = join(folder, `${reason}.pem`);
    writeFileSync(other, createCertificate(to, from));
    expect(await certificate(other).check(new AbortController().signal)).toMatchObject({
      state: 'unavailable',
      reason,
    });
  });

  it('fails if the file does not exist', async () => {
    await expect(certificate(join(folder, 'none.pem')).check(new AbortController().signal)).rejects.toThrow('ENOENT');
  });
});
