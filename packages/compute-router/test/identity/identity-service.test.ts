import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Caller } from '@apistrata/compute-engine';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type IdentityServiceOptions, identityService } from '../../src/identity/identity-service.js';
import { IdentityUnavailable } from '../../src/identity/identity-unavailable.js';

const START = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** A local server that speaks the part of the identity protocol that is used: login by password, validation. */
class IdentityServer {
  now = START;
  readonly tokens = new Map<string, Record<string, unknown>>();
  readonly requests: string[] = [];
  readonly logins: unknown[] = [];
  /** Answers instead of the server, once per element. */
  readonly instead: Handler[] = [];
  password = 'secret';
  loginLifetimeMs = HOUR;
  url = '';
  #server: Server | undefined;

  get validations(): number {
    return this.requests.filter((line) => line.startsWith('GET')).length;
  }

  async listen(): Promise<void> {
    this.#server = createServer((req, res) => this.#answer(req, res));
    await new Promise<void>((done) => this.#server!.listen(0, '127.0.0.1', done));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise((done) => this.#server!.close(done));
    this.#server!.closeAllConnections();
    await closed;
  }

  issue(token: string, document: Record<string, unknown>, lifetimeMs = HOUR): void {
    this.tokens.set(token, { ...document, expires_at: new Date(this.now + lifetimeMs).toISOString() });
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    this.requests.push(`${req.method} ${req.url}`);
    const instead = this.instead.shift();
    const { pathname } = new URL(req.url!, this.url);
    if (instead) instead(req, res);
    else if (pathname.startsWith('/v3/projects/')) this.#showProject(req, res, pathname);
    else if (pathname !== '/v3/auth/tokens') send(res, 404, {});
    else if (req.method === 'POST') this.#logIn(req, res);
    else this.#validate(req, res);
  }

  #logIn(req: IncomingMessage, res: ServerResponse): void {
    let body = '';
    req.on('data', (chunk) => (body += chunk));
    req.on('end', () => {
      const login = JSON.parse(body);
      this.logins.push(login);
      if (login.auth.identity.password.user.password !== this.password) return send(res, 401, { error: {} });
      const token = `service-${this.logins.length}`;
      this.issue(
        token,
        { user: { id: 'nova' }, project: { id: 'service' }, roles: [{ name: 'service' }] },
        this.loginLifetimeMs,
      );
      res.setHeader('X-Subject-Token', token);
      send(res, 201, { token: this.tokens.get(token) });
    });
  }

  #validate(req: IncomingMessage, res: ServerResponse): void {
    const token = this.#find(req.headers['x-subject-token']);
    if (!this.#find(req.headers['x-auth-token'])) send(res, 401, { error: { code: 401 } });
    else if (token) send(res, 200, { token });
    else send(res, 404, { error: { code: 404 } });
  }

  #showProject(req: IncomingMessage, res: ServerResponse, pathname: string): void {
    if (!this.#find(req.headers['x-auth-token'])) send(res, 401, { error: { code: 401 } });
    else if (pathname === '/v3/projects/p1') send(res, 200, { project: { id: 'p1' } });
    else send(res, 404, { error: { code: 404 } });
  }

  #find(name: string | string[] | undefined) {
    const token = this.tokens.get(String(name));
    return token && Date.parse(String(token.expires_at)) > this.now ? token : undefined;
  }
}

function send(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'Content-Type': 'application/json' });
  res.end(JSON.stringify(body));
}

const alice = {
  user: { id: 'u1', name: 'alice', domain: { id: 'd1', name: 'Users' } },
  project: { id: 'p1', name: 'demo', domain: { id: 'd2', name: 'Projects' } },
  roles: [
    { id: 'r1', name: 'member' },
    { id: 'r2', name: 'reader' },
  ],
};

let server: IdentityServer;
beforeEach(async () => {
  server = new IdentityServer();
  await server.listen();
  server.issue('t-alice', alice);
});
afterEach(() => server.close());

const withOptions = (options: Partial<IdentityServiceOptions> = {}) => {
  const clock = { now: () => server.now };
  const identity = identityService({ url: server.url, username: 'nova', password: 'secret', clock, ...options });
  const who = async (token?: string, service?: string): Promise<Caller | undefined> =>
    identity({ headers: { 'x-auth-token': token, 'x-service-token': service } } as unknown as IncomingMessage);
  return Object.assign(who, { identity });
};

describe('an identity service', () => {
  it('tells who a token belongs to', async () => {
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

  it('is logged into with the password of the service user, scoped to its project', async () => {
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

  it('is where clients are sent for a token, unless they know it by another address', () => {
    expect(withOptions().identity.uri).toBe(server.url);
    expect(withOptions({ publicUrl: 'https://public/v3' }).identity.uri).toBe('https://public/v3');
  });

  it.each([undefined, '', 'with blank', 'ünicode'])('is not asked about %j', async (token) => {
    expect(await withOptions()(token)).toBeUndefined();
    expect(server.requests).toEqual([]);
  });

  it('knows nothing of other tokens', async () => {
    expect(await withOptions()('wrong')).toBeUndefined();
  });
});

describe('the scope of a token', () => {
  it('of the whole system keeps its roles, outside any project', async () => {
    server.issue('t', { user: alice.user, system: { all: true }, roles: [{ name: 'admin' }] });
    expect(await withOptions()('t')).toMatchObject({ projectId: '', systemScope: true, roles: ['admin'] });
  });

  it.each([
    ['of a domain', { user: alice.user, domain: { id: 'd1' }, roles: [{ name: 'admin' }] }],
    ['that is none', { user: alice.user }],
  ])('%s gives no role', async (_, document) => {
    server.issue('t', document);
    expect(await withOptions()('t')).toMatchObject({ userId: 'u1', projectId: '', systemScope: false, roles: [] });
  });
});

describe('what is remembered', () => {
  it('saves asking again, until its time is over', async () => {
    const who = withOptions({ cacheMs: 60_000 });
    await who('t-alice');
    server.now += 59_999;
    await who('t-alice');
    expect(server.validations).toBe(1);
    server.now += 1;
    expect(await who('t-alice')).toMatchObject({ userId: 'u1' });
    expect(server.validations).toBe(2);
  });

  it('never outlives the token', async () => {
    const who = withOptions({ cacheMs: 10 * HOUR });
    expect(await who('t-alice')).toMatchObject({ userId: 'u1' });
    server.now += HOUR;
    expect(await who('t-alice')).toBeUndefined();
  });

  it('forgets a revoked token when its time is over', async () => {
    const who = withOptions({ cacheMs: 60_000 });
    await who('t-alice');
    server.tokens.delete('t-alice');
    expect(await who('t-alice')).toMatchObject({ userId: 'u1' });
    server.now += 60_000;
    expect(await who('t-alice')).toBeUndefined();
  });

  it('includes that a token is not valid, for a shorter time', async () => {
    const who = withOptions({ rejectedCacheMs: 1_000 });
    await who('late');
    server.issue('late', alice);
    expect(await who('late')).toBeUndefined();
    expect(server.validations).toBe(1);
    server.now += 1_000;
    expect(await who('late')).toMatchObject({ userId: 'u1' });
  });

  it('is bounded, and nonsense does not push out what is valid', async () => {
    const who = withOptions({ maxCached: 2 });
    await who('t-alice');
    for (const token of ['a', 'b', 'c']) await who(token);
    expect(server.validations).toBe(4);
    await who('c');
    await who('t-alice');
    expect(server.validations).toBe(4);
    await who('a');
    expect(server.validations).toBe(5);
  });

  it('can be switched off', async () => {
    const who = withOptions({ cacheMs: 0, rejectedCacheMs: 0 });
    for (const token of ['t-alice', 't-alice', 'x', 'x']) await who(token);
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

describe('many requests at once', () => {
  it('with one token make one question', async () => {
    const who = withOptions();
    const callers = await Promise.all(Array.from({ length: 50 }, () => who('t-alice')));
    expect(new Set(callers.map((caller) => caller?.userId))).toEqual(new Set(['u1']));
    expect(server.requests).toEqual(['POST /v3/auth/tokens', 'GET /v3/auth/tokens?nocatalog']);
  });

  it('with different tokens make one login', async () => {
    const who = withOptions();
    await Promise.all(Array.from({ length: 20 }, (_, i) => who(`t${i}`)));
    expect(server.logins.length).toBe(1);
    expect(server.validations).toBe(20);
  });
});

describe("the service's own token", () => {
  it('is renewed before it ends', async () => {
    server.loginLifetimeMs = 100_000;
    const who = withOptions({ cacheMs: 0 });
    await who('t-alice');
    server.now += 39_999;
    await who('t-alice');
    expect(server.logins.length).toBe(1);
    server.now += 1;
    await who('t-alice');
    expect(server.logins.length).toBe(2);
  });

  it('is renewed once when it was revoked, however many notice', async () => {
    const who = withOptions();
    await who('t-alice');
    server.tokens.delete('service-1');
    server.issue('t-bob', alice);
    const callers = await Promise.all(['t-bob', 'x', 'y'].map((token) => who(token)));
    expect(callers.map((caller) => caller?.userId)).toEqual(['u1', undefined, undefined]);
    expect(server.logins.length).toBe(2);
  });

  it('that is refused again, though new, makes the service unavailable', async () => {
    const refuse: Handler = (_, res) => send(res, 401, {});
    const who = withOptions();
    await who('t-alice');
    server.instead.push(refuse, (req, res) => {
      server.instead.push(refuse);
      req.resume();
      res.setHeader('X-Subject-Token', 's');
      send(res, 201, { token: { ...alice, expires_at: new Date(START + HOUR).toISOString() } });
    });
    await expect(who('other')).rejects.toThrow(IdentityUnavailable);
  });

  it('that cannot be had for a wrong password is not tried for at each request', async () => {
    server.password = 'changed';
    const who = withOptions();
    await expect(who('t-alice')).rejects.toThrow(/refused the service credentials with 401/);
    await expect(who('t-alice')).rejects.toThrow(/a moment ago/);
    expect(server.logins.length).toBe(1);
    server.password = 'secret';
    server.now += 10_000;
    expect(await who('t-alice')).toMatchObject({ userId: 'u1' });
  });
});

describe('a service token beside the token of the user', () => {
  beforeEach(() => server.issue('t-glance', { user: { id: 'g' }, project: { id: 's' }, roles: [{ name: 'service' }] }));

  it('adds its roles', async () => {
    expect(await withOptions()('t-alice', 't-glance')).toMatchObject({
      userId: 'u1',
      roles: ['member', 'reader'],
      serviceRoles: ['service'],
    });
  });

  it('has to be valid', async () => {
    expect(await withOptions()('t-alice', 'wrong')).toBeUndefined();
    expect(await withOptions()('wrong', 't-glance')).toBeUndefined();
  });

  it('is not kept with the user for the next request', async () => {
    const who = withOptions();
    await who('t-alice', 't-glance');
    expect(await who('t-alice')).not.toHaveProperty('serviceRoles');
    expect(await who('t-alice', 't-glance')).toMatchObject({ serviceRoles: ['service'] });
    expect(server.validations).toBe(2);
  });
});

describe('an identity service in trouble', () => {
  const hang: Handler = () => {};
  const text: Handler = (_, res) => void res.writeHead(200).end('<html>');

  it.each<[string, Handler]>([
    ['fails', (_, res) => send(res, 500, {})],
    ['is overloaded', (_, res) => send(res, 503, {})],
    ['forbids it', (_, res) => send(res, 403, {})],
    ['does not answer with JSON', text],
    ['answers with other JSON', (_, res) => send(res, 200, { token: { user: {} } })],
    ['answers with null', (_, res) => send(res, 200, null)],
    ['sends elsewhere', (_, res) => void res.writeHead(302, { Location: '/elsewhere' }).end()],
    ['breaks off', (_, res) => void res.writeHead(200, { 'Content-Length': 100 }).write('{', () => res.destroy())],
  ])('is unavailable when it %s, which is not remembered', async (_, trouble) => {
    const who = withOptions();
    await who('t-warm-up');
    // Twice, for a request that got no answer is repeated once.
    server.instead.push(trouble, trouble);
    await expect(who('t-alice')).rejects.toMatchObject({ code: 'IDENTITY_UNAVAILABLE', status: 503 });
    server.instead.length = 0;
    expect(await who('t-alice')).toMatchObject({ userId: 'u1' });
  });

  it.each<[string, Handler]>([
    ['fails', (_, res) => send(res, 500, {})],
    ['gives no token', (_, res) => send(res, 201, { token: alice })],
    ['does not answer with JSON', text],
  ])('is unavailable when the login %s', async (_, trouble) => {
    server.instead.push(trouble);
    const who = withOptions();
    await expect(who('t-alice')).rejects.toThrow(IdentityUnavailable);
    expect(await who('t-alice')).toMatchObject({ userId: 'u1' });
  });

  it('is unavailable when its answer is larger than the limit, which is read no further', async () => {
    const who = withOptions({ maxAnswerBytes: 10_000 });
    expect(await who('t-alice')).toMatchObject({ userId: 'u1' });
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
    await expect(who('t-other')).rejects.toThrow(
      'The identity service is unavailable: the answer is larger than 10000 bytes.',
    );
    expect(written).toBeLessThan(50_000_000);
  });

  it('is unavailable when it takes too long, at either step', async () => {
    const who = withOptions({ timeoutMs: 50 });
    server.instead.push(hang);
    await expect(who('t-alice')).rejects.toThrow(/no answer within 50 ms/);
    const patient = withOptions({ timeoutMs: 1_000 });
    await patient('t-warm-up');
    server.instead.push(hang);
    await expect(patient('t-alice')).rejects.toThrow(/no answer within 1000 ms/);
  });

  it('is asked again when only a connection broke', async () => {
    const who = withOptions();
    await who('t-warm-up');
    server.instead.push((req) => req.socket.destroy());
    expect(await who('t-alice')).toMatchObject({ userId: 'u1' });
  });

  it('is unavailable when nobody listens, and known tokens still work', async () => {
    const who = withOptions();
    await who('t-alice');
    await server.close();
    await expect(who('t-bob')).rejects.toThrow(/cannot be reached/);
    await expect(withOptions()('t-alice')).rejects.toThrow(IdentityUnavailable);
    expect(await who('t-alice')).toMatchObject({ userId: 'u1' });
    await server.listen();
  });

  it('never has a token or a password in the error', async () => {
    const who = withOptions({ password: 'pass-word-x' });
    const error: unknown = await who('t-secret-x').catch((reason) => reason);
    expect(error).toBeInstanceOf(IdentityUnavailable);
    expect(`${(error as Error).message} ${JSON.stringify(error)} ${(error as Error).stack}`).not.toMatch(
      /pass-word-x|t-secret-x/,
    );
  });
});

describe('the options of an identity service', () => {
  const good = { url: 'http://identity/v3', username: 'nova', password: 'secret' };

  it.each([
    [{ ...good, timeout: 5 }, /unknown option "timeout"/],
    [{ ...good, url: undefined }, /url is missing/],
    [{ ...good, password: undefined }, /password is missing/],
    [{ ...good, username: '' }, /username must be a text/],
    [{ ...good, url: 'identity:5000' }, /url must be like http:/],
    [{ ...good, url: 'http://' }, /url must be like http:/],
    [{ ...good, cacheMs: -1 }, /cacheMs must be a number from 0, not -1/],
    [{ ...good, timeoutMs: '5' }, /timeoutMs must be a number/],
    [{ ...good, maxCached: Number.NaN }, /maxCached must be a number/],
  ])('are refused when wrong: %j', (options, message) => {
    expect(() => identityService(options as never)).toThrow(message);
  });
});

describe('projects', () => {
  it('are known to the identity service, or are not', async () => {
    const { projectExists } = withOptions().identity;
    expect(await projectExists!('p1')).toBe(true);
    for (const unknown of ['p2', 'p1/../p1', '..', '.', '', 'p1?x', 'p1#'])
      expect(await projectExists!(unknown)).toBe(false);
  });

  it('are asked about again with a new token when ours has been revoked', async () => {
    const { projectExists } = withOptions().identity;
    expect(await projectExists!('p1')).toBe(true);
    for (const token of [...server.tokens.keys()].filter((name) => name.startsWith('service-')))
      server.tokens.delete(token);
    expect(await projectExists!('p1')).toBe(true);
    expect(server.logins).toHaveLength(2);
  });

  it('are not judged when the service refuses, breaks or is away', async () => {
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
