import { beforeEach, describe, expect, it } from 'vitest';
import { IdentityUnavailable } from '../../../src/identity/identity-unavailable.js';
import { alice, type Handler, HOUR, onIdentityServer, START, send, server, withOptions } from './identity-server.js';

onIdentityServer();

describe("the service's own token", () => {
  it('is renewed before it expires', async () => {
    server.loginLifetimeMs = 100_000;
    const identify = withOptions({ cacheMs: 0 });
    await identify('t-alice');
    server.now += 39_999;
    await identify('t-alice');
    expect(server.logins.length).toBe(1);
    server.now += 1;
    await identify('t-alice');
    expect(server.logins.length).toBe(2);
  });

  it('is renewed once after it was revoked, for any number of requests', async () => {
    const identify = withOptions();
    await identify('t-alice');
    server.tokens.delete('service-1');
    server.issue('t-bob', alice);
    const callers = await Promise.all(['t-bob', 'x', 'y'].map((token) => identify(token)));
    expect(callers.map((caller) => caller?.userId)).toEqual(['u1', undefined, undefined]);
    expect(server.logins.length).toBe(2);
  });

  it('makes the service unavailable if a new one is rejected as well', async () => {
    const refuse: Handler = (_, res) => send(res, 401, {});
    const identify = withOptions();
    await identify('t-alice');
    server.instead.push(refuse, (req, res) => {
      server.instead.push(refuse);
      req.resume();
      res.setHeader('X-Subject-Token', 's');
      send(res, 201, { token: { ...alice, expires_at: new Date(START + HOUR).toISOString() } });
    });
    await expect(identify('other')).rejects.toThrow(IdentityUnavailable);
  });

  it('is not requested for each request after a wrong password', async () => {
    server.password = 'changed';
    const identify = withOptions();
    await expect(identify('t-alice')).rejects.toThrow(/rejected the service credentials with 401/);
    await expect(identify('t-alice')).rejects.toThrow(/recently rejected/);
    expect(server.logins.length).toBe(1);
    server.password = 'secret';
    server.now += 10_000;
    expect(await identify('t-alice')).toMatchObject({ userId: 'u1' });
  });
});

describe('a service token in addition to the user token', () => {
  beforeEach(() => server.issue('t-glance', { user: { id: 'g' }, project: { id: 's' }, roles: [{ name: 'service' }] }));

  it('adds its roles', async () => {
    expect(await withOptions()('t-alice', 't-glance')).toMatchObject({
      userId: 'u1',
      roles: ['member', 'reader'],
      serviceRoles: ['service'],
    });
  });

  it('must be valid', async () => {
    expect(await withOptions()('t-alice', 'wrong')).toBeUndefined();
    expect(await withOptions()('wrong', 't-glance')).toBeUndefined();
  });

  it('does not apply to the next request of the user', async () => {
    const identify = withOptions();
    await identify('t-alice', 't-glance');
    expect(await identify('t-alice')).not.toHaveProperty('serviceRoles');
    expect(await identify('t-alice', 't-glance')).toMatchObject({ serviceRoles: ['service'] });
    expect(server.validations).toBe(2);
  });
});
