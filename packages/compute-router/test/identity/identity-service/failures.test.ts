import { describe, expect, it } from 'vitest';
import { identityService } from '../../../src/identity/identity-service.js';
import { IdentityUnavailable } from '../../../src/identity/identity-unavailable.js';
import { alice, type Handler, onIdentityServer, send, server, withOptions } from './identity-server.js';

onIdentityServer();

describe('a failing identity service', () => {
  const hang: Handler = () => {};
  const text: Handler = (_, res) => void res.writeHead(200).end('<html>');

  it.each<[string, Handler]>([
    ['fails', (_, res) => send(res, 500, {})],
    ['is overloaded', (_, res) => send(res, 503, {})],
    ['denies access', (_, res) => send(res, 403, {})],
    ['does not respond with JSON', text],
    ['responds with other JSON', (_, res) => send(res, 200, { token: { user: {} } })],
    ['responds with null', (_, res) => send(res, 200, null)],
    ['redirects the client', (_, res) => void res.writeHead(302, { Location: '/elsewhere' }).end()],
    ['breaks off', (_, res) => void res.writeHead(200, { 'Content-Length': 100 }).write('{', () => res.destroy())],
  ])('is unavailable when it %s, which is not cached', async (_, failure) => {
    const identify = withOptions();
    await identify('t-warm-up');
    // Twice, because the client retries a request once if it does not receive a response.
    server.instead.push(failure, failure);
    await expect(identify('t-alice')).rejects.toMatchObject({ code: 'IDENTITY_UNAVAILABLE', status: 503 });
    server.instead.length = 0;
    expect(await identify('t-alice')).toMatchObject({ userId: 'u1' });
  });

  it.each<[string, Handler]>([
    ['fails', (_, res) => send(res, 500, {})],
    ['returns no token', (_, res) => send(res, 201, { token: alice })],
    ['does not respond with JSON', text],
  ])('is unavailable when the login %s', async (_, failure) => {
    server.instead.push(failure);
    const identify = withOptions();
    await expect(identify('t-alice')).rejects.toThrow(IdentityUnavailable);
    expect(await identify('t-alice')).toMatchObject({ userId: 'u1' });
  });

  it('is unavailable when its response exceeds the limit, and the rest is not read', async () => {
    const identify = withOptions({ maxResponseBytes: 10_000 });
    expect(await identify('t-alice')).toMatchObject({ userId: 'u1' });
    let written = 0;
    const flood: Handler = (_, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json' });
      const more = () => {
        while (!res.destroyed && res.write(' '.repeat(65_536))) written += 65_536;
      };
      res.on('drain', more);
      more();
    };
    server.instead.push(flood);
    await expect(identify('t-other')).rejects.toThrow(
      'The identity service is unavailable: the response is larger than 10000 bytes.',
    );
    expect(written).toBeLessThan(50_000_000);
  });

  it('is unavailable when it takes too long, at either step', async () => {
    const identify = withOptions({ timeoutMs: 50 });
    server.instead.push(hang);
    await expect(identify('t-alice')).rejects.toThrow(/no response within 50 ms/);
    const patient = withOptions({ timeoutMs: 1_000 });
    await patient('t-warm-up');
    server.instead.push(hang);
    await expect(patient('t-alice')).rejects.toThrow(/no response within 1000 ms/);
  });

  it('receives the request again after a broken connection', async () => {
    const identify = withOptions();
    await identify('t-warm-up');
    server.instead.push((req) => req.socket.destroy());
    expect(await identify('t-alice')).toMatchObject({ userId: 'u1' });
  });

  it('is unavailable when its port is closed, and cached tokens still work', async () => {
    const identify = withOptions();
    await identify('t-alice');
    await server.close();
    await expect(identify('t-bob')).rejects.toThrow(/cannot be reached/);
    await expect(withOptions()('t-alice')).rejects.toThrow(IdentityUnavailable);
    expect(await identify('t-alice')).toMatchObject({ userId: 'u1' });
    await server.listen();
  });

  it.each([
    ['denies the login', 'another'],
    ['repeats the token in its response', 'pass-word-x'],
  ])('never has a token or a password in the error if it %s', async (_, accepted) => {
    server.password = accepted;
    const identify = withOptions({ password: 'pass-word-x' });
    const received: unknown[] = [];
    if (accepted === 'pass-word-x') {
      await identify('t-warm-up');
      server.instead.push((req, res) => {
        received.push(req.headers['x-subject-token']);
        send(res, 500, { error: { message: `t-secret-x is unknown` } });
      });
    }
    const error: unknown = await identify('t-secret-x').catch((reason) => reason);
    expect(error).toBeInstanceOf(IdentityUnavailable);
    expect(received).toEqual(accepted === 'pass-word-x' ? ['t-secret-x'] : []);
    expect(`${(error as Error).message} ${JSON.stringify(error)} ${(error as Error).stack}`).not.toMatch(
      /pass-word-x|t-secret-x/,
    );
  });
});

describe('the options of an identity service', () => {
  const valid = { url: 'http://identity/v3', username: 'nova', password: 'secret' };

  it.each([
    [{ ...valid, timeout: 5 }, /unknown option "timeout"/],
    [{ ...valid, url: undefined }, /url is missing/],
    [{ ...valid, password: undefined }, /password is missing/],
    [{ ...valid, username: '' }, /username must be a non-empty string/],
    [{ ...valid, url: 'identity:5000' }, /url must be an HTTP or HTTPS URL/],
    [{ ...valid, url: 'http://' }, /url must be an HTTP or HTTPS URL/],
    [{ ...valid, cacheMs: -1 }, /cacheMs must be a non-negative number, not -1/],
    [{ ...valid, timeoutMs: '5' }, /timeoutMs must be a non-negative number/],
    [{ ...valid, maxCached: Number.NaN }, /maxCached must be a non-negative number, not NaN/],
  ])('are rejected if invalid: %j', (options, message) => {
    expect(() => identityService(options as never)).toThrow(message);
  });
});
