import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Caller } from '@apistrata/compute-engine';
import { afterEach, beforeEach } from 'vitest';
import { type IdentityServiceOptions, identityService } from '../../../src/identity/identity-service.js';

export const START = Date.UTC(2026, 0, 1);
export const HOUR = 3_600_000;

export type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** A local server with the parts of the identity API that the tests use: password login and token validation. */
class IdentityServer {
  now = START;
  readonly tokens = new Map<string, Record<string, unknown>>();
  readonly requests: string[] = [];
  readonly logins: unknown[] = [];
  /** Handlers that replace the server's own, one per request. */
  readonly instead: Handler[] = [];
  password = 'secret';
  loginLifetimeMs = HOUR;
  url = '';
  #server: Server | undefined;

  get validations(): number {
    return this.requests.filter((line) => line.startsWith('GET')).length;
  }

  async listen(): Promise<void> {
    this.#server = createServer((req, res) => this.#respond(req, res));
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

  #respond(req: IncomingMessage, res: ServerResponse): void {
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

export function send(res: ServerResponse, status: number, body: unknown): void {
  res.writeHead(status, { 'Content-Type': 'application/json' });
  res.end(JSON.stringify(body));
}

export const alice = {
  user: { id: 'u1', name: 'alice', domain: { id: 'd1', name: 'Users' } },
  project: { id: 'p1', name: 'demo', domain: { id: 'd2', name: 'Projects' } },
  roles: [
    { id: 'r1', name: 'member' },
    { id: 'r2', name: 'reader' },
  ],
};

export let server: IdentityServer;

/** Before each test, starts a server that accepts alice's token. */
export function onIdentityServer(): void {
  beforeEach(async () => {
    server = new IdentityServer();
    await server.listen();
    server.issue('t-alice', alice);
  });
  afterEach(() => server.close());
}

export const withOptions = (options: Partial<IdentityServiceOptions> = {}) => {
  const clock = { now: () => server.now };
  const identity = identityService({ url: server.url, username: 'nova', password: 'secret', clock, ...options });
  const identify = async (token?: string, service?: string): Promise<Caller | undefined> =>
    identity({ headers: { 'x-auth-token': token, 'x-service-token': service } } as unknown as IncomingMessage);
  return Object.assign(identify, { identity });
};
