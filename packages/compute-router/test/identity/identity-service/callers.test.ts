import { describe, expect, it } from 'vitest';
import { alice, HOUR, onIdentityServer, START, send, server, withOptions } from './identity-server.js';

onIdentityServer();

describe('an identity service', () => {
  it('identifies the caller by the token', async () => {
    expect(await withOptions()('t-alice')).toEqual({
      userId: 'u1',
      userName: 'alice',
      userDomainId: 'd1',
      projectId: 'p1',
      projectName: 'demo',
      projectDomainId: 'd2',
      roles: ['member', 'reader'],
      systemScope: false,
      token: 't-alice',
    });
    expect(server.requests).toEqual(['POST /v3/auth/tokens', 'GET /v3/auth/tokens?nocatalog']);
  });

  it.each(['', '/', '/v3', '/v3/'])('is found at its address followed by %j', async (suffix) => {
    expect(await withOptions({ url: server.url + suffix })('t-alice')).toMatchObject({ userId: 'u1' });
  });

  it('receives the password of the service user, scoped to its project', async () => {
    await withOptions()('t-alice');
    await withOptions({ userDomainId: 'x', projectDomainName: 'Y' })('t-alice');
    await withOptions({ projectId: 'z', userDomainName: 'W' })('t-alice');
    const user = { name: 'nova', password: 'secret' };
    const auth = (domain: object, project: object) => ({
      auth: { identity: { methods: ['password'], password: { user: { ...user, domain } } }, scope: { project } },
    });
    expect(server.logins).toEqual([
      auth({ name: 'Default' }, { name: 'service', domain: { name: 'Default' } }),
      auth({ id: 'x' }, { name: 'service', domain: { name: 'Y' } }),
      auth({ name: 'W' }, { id: 'z' }),
    ]);
  });

  it('is advertised in responses, unless a public URL is configured', () => {
    expect(withOptions().identity.uri).toBe(server.url);
    expect(withOptions({ publicUrl: 'https://public/v3' }).identity.uri).toBe('https://public/v3');
  });

  it.each([undefined, '', 'with blank', 'ünicode'])('receives no request for %j', async (token) => {
    expect(await withOptions()(token)).toBeUndefined();
    expect(server.requests).toEqual([]);
  });

  it('rejects unknown tokens', async () => {
    expect(await withOptions()('wrong')).toBeUndefined();
  });
});

describe('a token', () => {
  it('with system scope has its roles outside any project', async () => {
    server.issue('t', { user: alice.user, system: { all: true }, roles: [{ name: 'admin' }] });
    expect(await withOptions()('t')).toMatchObject({ projectId: '', systemScope: true, roles: ['admin'] });
  });

  it.each([
    ['with the scope of a domain', { user: alice.user, domain: { id: 'd1' }, roles: [{ name: 'admin' }] }],
    ['without a scope', { user: alice.user }],
  ])('%s has no roles', async (_, document) => {
    server.issue('t', document);
    expect(await withOptions()('t')).toMatchObject({ userId: 'u1', projectId: '', systemScope: false, roles: [] });
  });
});

describe('the cache', () => {
  it('saves requests until entries expire', async () => {
    const identify = withOptions({ cacheMs: 60_000 });
    await identify('t-alice');
    server.now += 59_999;
    await identify('t-alice');
    expect(server.validations).toBe(1);
    server.now += 1;
    expect(await identify('t-alice')).toMatchObject({ userId: 'u1' });
    expect(server.validations).toBe(2);
  });

  it('never keeps a token beyond its expiry', async () => {
    const identify = withOptions({ cacheMs: 10 * HOUR });
    expect(await identify('t-alice')).toMatchObject({ userId: 'u1' });
    server.now += HOUR;
    expect(await identify('t-alice')).toBeUndefined();
  });

  it('drops a revoked token when its entry expires', async () => {
    const identify = withOptions({ cacheMs: 60_000 });
    await identify('t-alice');
    server.tokens.delete('t-alice');
    expect(await identify('t-alice')).toMatchObject({ userId: 'u1' });
    server.now += 60_000;
    expect(await identify('t-alice')).toBeUndefined();
  });

  it('includes invalid tokens, for a shorter time', async () => {
    const identify = withOptions({ rejectedCacheMs: 1_000 });
    await identify('late');
    server.issue('late', alice);
    expect(await identify('late')).toBeUndefined();
    expect(server.validations).toBe(1);
    server.now += 1_000;
    expect(await identify('late')).toMatchObject({ userId: 'u1' });
  });

  it('is bounded, and invalid tokens do not evict valid ones', async () => {
    const identify = withOptions({ maxCached: 2 });
    await identify('t-alice');
    for (const token of ['a', 'b', 'c']) await identify(token);
    expect(server.validations).toBe(4);
    await identify('c');
    await identify('t-alice');
    expect(server.validations).toBe(4);
    await identify('a');
    expect(server.validations).toBe(5);
  });

  it('can be disabled', async () => {
    const identify = withOptions({ cacheMs: 0, rejectedCacheMs: 0 });
    for (const token of ['t-alice', 't-alice', 'x', 'x']) await identify(token);
    expect(server.validations).toBe(4);
  });

  it('does not include a token that the service describes as expired', async () => {
    server.instead.push(
      (_, res) => {
        res.setHeader('X-Subject-Token', 's');
        send(res, 201, { token: { ...alice, expires_at: new Date(START + HOUR).toISOString() } });
      },
      (_, res) => send(res, 200, { token: { ...alice, expires_at: new Date(START - 1).toISOString() } }),
    );
    expect(await withOptions()('t-alice')).toBeUndefined();
  });
});

describe('concurrent requests', () => {
  it('with one token share one look-up', async () => {
    const identify = withOptions();
    const callers = await Promise.all(Array.from({ length: 50 }, () => identify('t-alice')));
    expect(new Set(callers.map((caller) => caller?.userId))).toEqual(new Set(['u1']));
    expect(server.requests).toEqual(['POST /v3/auth/tokens', 'GET /v3/auth/tokens?nocatalog']);
  });

  it('with different tokens share one login', async () => {
    const identify = withOptions();
    await Promise.all(Array.from({ length: 20 }, (_, i) => identify(`t${i}`)));
    expect(server.logins.length).toBe(1);
    expect(server.validations).toBe(20);
  });
});

describe('projects', () => {
  it('are checked by the identity service', async () => {
    const { projectExists } = withOptions().identity;
    expect(await projectExists!('p1')).toBe(true);
    for (const unknown of ['p2', 'p1/../p1', '..', '.', '', 'p1?x', 'p1#'])
      expect(await projectExists!(unknown)).toBe(false);
  });

  it('are checked again with a new token after the token of the service was revoked', async () => {
    const { projectExists } = withOptions().identity;
    expect(await projectExists!('p1')).toBe(true);
    for (const token of [...server.tokens.keys()].filter((name) => name.startsWith('service-')))
      server.tokens.delete(token);
    expect(await projectExists!('p1')).toBe(true);
    expect(server.logins).toHaveLength(2);
  });

  it('are neither accepted nor rejected while the service denies access, fails or is unavailable', async () => {
    const { projectExists } = withOptions().identity;
    expect(await projectExists!('p1')).toBe(true);
    server.instead.push((_, res) => send(res, 403, {}));
    expect(await projectExists!('p1')).toBeUndefined();
    server.instead.push((_, res) => send(res, 500, {}));
    expect(await projectExists!('p1')).toBeUndefined();
    server.password = 'changed';
    server.tokens.clear();
    expect(await projectExists!('p1')).toBeUndefined();
  });
});

describe('access rules of a token', () => {
  const rule = { id: 'r', service: 'compute', method: 'GET', path: '/v2.1/servers' };
  const withRules = (access_rules: unknown) =>
    server.issue('t', { ...alice, application_credential: { id: 'a', name: 'ci', restricted: true, access_rules } });

  it('are requested from the service, which rejects tokens with rules otherwise', async () => {
    let header: string | string[] | undefined;
    const identify = withOptions();
    await identify('t-alice');
    server.instead.push((req, res) => {
      header = req.headers['openstack-identity-access-rules'];
      send(res, 404, {});
    });
    await identify('t');
    expect(Number(header)).toBeGreaterThanOrEqual(1);
  });

  it.each([
    ['GET', '/v2.1/servers', true],
    ['GET', '/v2.1/servers?limit=1', true],
    ['GET', '/v2.1/servers/1', false],
    ['POST', '/v2.1/servers', false],
  ])('decide on %s %s, even if the token is cached', async (method, url, allowed) => {
    withRules([rule]);
    const { identity } = withOptions();
    const identify = (more: object = {}) =>
      identity({ headers: { 'x-auth-token': 't' }, method, url, originalUrl: `/compute${url}`, ...more } as never);
    for (let i = 0; i < 2; i += 1) expect((await identify()) !== undefined).toBe(allowed);
    server.issue('s', { user: { id: 'nova' }, project: { id: 'service' }, roles: [{ name: 'service' }] });
    expect(await identify({ headers: { 'x-auth-token': 't', 'x-service-token': 's' } })).toBeDefined();
  });

  it.each([[[]], ['all'], [[{ service: 'compute' }, null]]])('allow nothing if they are %j', async (rules) => {
    withRules(rules);
    const req = { headers: { 'x-auth-token': 't' }, method: 'GET', url: '/v2.1/servers' };
    expect(await withOptions().identity(req as never)).toBeUndefined();
  });

  it('are optional', async () => {
    server.issue('t', { ...alice, application_credential: { id: 'a', name: 'ci', restricted: true } });
    expect(await withOptions()('t')).toMatchObject({ userId: 'u1' });
  });
});
