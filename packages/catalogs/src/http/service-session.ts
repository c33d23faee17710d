import { checkOptions } from '@apistrata/record-store/options';
import { CatalogError } from '../errors/catalog-error.js';
import { type IdentityLimits, IdentityRequests, identityUnavailable } from './identity-requests.js';

/**
 * The user with which a service authenticates to others, and its project. Domains and the project are given by id or
 * name.
 */
export interface ServiceUser {
  readonly username: string;
  readonly password: string;
  readonly userDomainId?: string;
  /** Default: `Default`. */
  readonly userDomainName?: string;
  readonly projectId?: string;
  /** Default: `service`. */
  readonly projectName?: string;
  readonly projectDomainId?: string;
  /** Default: `Default`. */
  readonly projectDomainName?: string;
}

/** The credentials of this service, and the identity service that verifies them. */
export interface ServiceCredentials extends ServiceUser {
  /** URL of the identity service, with or without `/v3`. */
  readonly authUrl: string;
}

const CREDENTIALS: Readonly<Record<keyof ServiceCredentials, true>> = {
  authUrl: true,
  username: true,
  password: true,
  userDomainId: true,
  userDomainName: true,
  projectId: true,
  projectName: true,
  projectDomainId: true,
  projectDomainName: true,
};

/** A token of the identity service, and its project. */
export interface ServiceToken {
  readonly token: string;
  readonly projectId: string;
}

interface CachedToken extends ServiceToken {
  readonly expiresAt: number;
}

/** Tokens are renewed this long before they expire, so that none expires in transit. */
const RENEW_BEFORE_MS = 60_000;
/** Pause after rejected credentials: identity services lock users after repeated failures. */
const REJECTED_PAUSE_MS = 10_000;

/** The maximum number of projects with cached tokens. */
const MAX_CACHED_TOKENS = 500;

/** Options of logins. Times are in milliseconds. */
export interface ServiceSessionOptions extends Partial<IdentityLimits> {
  /** Timeout of a login. Default: 10,000. */
  readonly timeoutMs?: number;
  /** Maximum size of a login's response, which may contain the whole catalog of a region. Default: 4 MiB. */
  readonly maxResponseBytes?: number;
  /** Returns the current time since the epoch. */
  readonly now?: () => number;
}

const OPTIONS: Readonly<Record<keyof ServiceSessionOptions, true>> = {
  timeoutMs: true,
  maxResponseBytes: true,
  headers: true,
  now: true,
};

/** Logs in with a password and caches the tokens until shortly before they expire. */
export class ServiceSession {
  /** URL of the identity service, including `/v3`. */
  readonly url: string;
  readonly #requests: IdentityRequests;
  readonly #user: ServiceUser;
  readonly #now: () => number;
  readonly #tokens = new Map<string, Promise<CachedToken>>();
  #rejectedUntil = 0;

  constructor(credentials: ServiceCredentials, options: ServiceSessionOptions = {}) {
    checkOptions('new ServiceSession()', credentials, CREDENTIALS);
    checkOptions('new ServiceSession()', options, OPTIONS);
    const { timeoutMs = 10_000, maxResponseBytes = 4 * 1024 * 1024, headers, now = Date.now } = options;
    this.url = `${credentials.authUrl.replace(/\/+$/, '').replace(/\/v3$/, '')}/v3`;
    this.#requests = new IdentityRequests({ timeoutMs, maxResponseBytes, headers });
    this.#user = credentials;
    this.#now = now;
  }

  /**
   * Returns a token of the service in its own project. For resources that must belong to another project, returns a token
   * in that project, where the service needs a role.
   *
   * @throws `UNAVAILABLE`; `FORBIDDEN` if the service has no role in the project
   */
  async token(projectId = ''): Promise<ServiceToken> {
    const cached = this.#tokens.get(projectId);
    const current = await cached?.catch(() => undefined);
    if (current && current.expiresAt - RENEW_BEFORE_MS > this.#now()) return current;
    // Concurrent callers wait for the same login.
    const inProgress = this.#tokens.get(projectId);
    if (inProgress && inProgress !== cached) return inProgress;
    const [oldest] = this.#tokens.keys();
    if (oldest !== undefined && this.#tokens.size >= MAX_CACHED_TOKENS) this.#tokens.delete(oldest);
    const login = this.#logIn(projectId);
    this.#tokens.set(projectId, login);
    return login;
  }

  /** Removes a token that a service has rejected. */
  async discard(token: string): Promise<void> {
    for (const [projectId, cached] of this.#tokens)
      if ((await cached.catch(() => undefined))?.token === token) this.#tokens.delete(projectId);
  }

  async #logIn(projectId: string): Promise<CachedToken> {
    if (this.#now() < this.#rejectedUntil) throw identityUnavailable('it recently rejected the service credentials');
    const response = await this.#requests.send(`${this.url}/auth/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ auth: passwordLogin(this.#user, projectId) }),
    });
    const token = response.headers.get('x-subject-token');
    if (response.ok && token) return parseToken(token, await this.#requests.json(response));
    await response.body?.cancel();
    if (response.status !== 401 && response.status !== 403)
      throw identityUnavailable(`it returned ${response.status} for a login, not a token`);
    if (projectId)
      throw new CatalogError(
        'FORBIDDEN',
        `The service user "${this.#user.username}" has no role in project ${projectId}.`,
      );
    this.#rejectedUntil = this.#now() + REJECTED_PAUSE_MS;
    throw identityUnavailable(`it rejected the service credentials with ${response.status}`);
  }
}

function passwordLogin(user: ServiceUser, projectId: string) {
  const { username, password, projectName = 'service' } = user;
  const domain = (id: string | undefined, name = 'Default') => (id === undefined ? { name } : { id });
  const id = projectId || user.projectId;
  const project = id ? { id } : { name: projectName, domain: domain(user.projectDomainId, user.projectDomainName) };
  const { userDomainId, userDomainName } = user;
  const credentials = { name: username, password, domain: domain(userDomainId, userDomainName) };
  return { identity: { methods: ['password'], password: { user: credentials } }, scope: { project } };
}

function parseToken(token: string, document: unknown): CachedToken {
  const wire = (document as { readonly token?: { readonly project?: { id?: unknown }; expires_at?: unknown } } | null)
    ?.token;
  const expiresAt = Date.parse(String(wire?.expires_at));
  const projectId = wire?.project?.id;
  if (typeof projectId !== 'string' || Number.isNaN(expiresAt))
    throw identityUnavailable('it returned a malformed token');
  return { token, projectId, expiresAt };
}
