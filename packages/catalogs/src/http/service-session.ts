import { checkOptions } from '@apistrata/record-store/options';
import { CatalogError } from '../errors/catalog-error.js';
import { type IdentityLimits, IdentityRequests, identityUnavailable } from './identity-requests.js';

/**
 * The service user for logins to other services, and the user's project. Domains and the project are identified by id
 * or name.
 */
export interface ServiceUser {
  readonly username: string;
  readonly password: string;
  readonly userDomainId?: string;
  /** The name of the user's domain. Default: `Default`. */
  readonly userDomainName?: string;
  readonly projectId?: string;
  /** The project's name. Default: `service`. */
  readonly projectName?: string;
  readonly projectDomainId?: string;
  /** The name of the project's domain. Default: `Default`. */
  readonly projectDomainName?: string;
}

/** The service user's credentials, and the URL of the identity service that verifies the credentials. */
export interface ServiceCredentials extends ServiceUser {
  /** The identity service's URL, with or without `/v3`. */
  readonly authUrl: string;
}

const CREDENTIAL_KEYS: Readonly<Record<keyof ServiceCredentials, true>> = {
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

/** A token issued by the identity service, and the project that the token is valid for. */
export interface ServiceToken {
  readonly token: string;
  readonly projectId: string;
}

interface CachedToken extends ServiceToken {
  readonly expiresAt: number;
}

/** How long before its expiry a token is renewed, so that no token expires in transit. */
const RENEWAL_MARGIN_MS = 60_000;
/**
 * The time without login attempts after the identity service has rejected the credentials. Identity services lock a
 * user after repeated failures.
 */
const PAUSE_AFTER_REJECTION_MS = 10_000;

/** The maximum number of projects with cached tokens. */
const MAX_CACHED_TOKENS = 500;

/** Timeout and limits for logins to the identity service. Times are in milliseconds. */
export interface ServiceSessionOptions extends Partial<IdentityLimits> {
  /** The timeout of a login request. Default: 10,000. */
  readonly timeoutMs?: number;
  /** The maximum size of a login response, which may contain a region's whole service catalog. Default: 4 MiB. */
  readonly maxResponseBytes?: number;
  /** Returns the current time, in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

const OPTION_KEYS: Readonly<Record<keyof ServiceSessionOptions, true>> = {
  timeoutMs: true,
  maxResponseBytes: true,
  headers: true,
  now: true,
};

/** Logs in with the service user's password and caches each token until shortly before its expiry. */
export class ServiceSession {
  /** The identity service's URL, including `/v3`. */
  readonly url: string;
  readonly #requests: IdentityRequests;
  readonly #user: ServiceUser;
  readonly #now: () => number;
  readonly #tokens = new Map<string, Promise<CachedToken>>();
  #rejectedUntil = 0;

  constructor(credentials: ServiceCredentials, options: ServiceSessionOptions = {}) {
    checkOptions('new ServiceSession()', credentials, CREDENTIAL_KEYS);
    checkOptions('new ServiceSession()', options, OPTION_KEYS);
    const { timeoutMs = 10_000, maxResponseBytes = 4 * 1024 * 1024, headers, now = Date.now } = options;
    this.url = `${credentials.authUrl.replace(/\/+$/, '').replace(/\/v3$/, '')}/v3`;
    this.#requests = new IdentityRequests({ timeoutMs, maxResponseBytes, headers });
    this.#user = credentials;
    this.#now = now;
  }

  /**
   * Returns a token of the service user for the given project, in which the user needs a role. Default: the user's own
   * project.
   *
   * @throws `UNAVAILABLE` if the login fails; `FORBIDDEN` if the service user has no role in the given project
   */
  async token(projectId = ''): Promise<ServiceToken> {
    const cachedLogin = this.#tokens.get(projectId);
    const currentToken = await cachedLogin?.catch(() => undefined);
    if (currentToken && currentToken.expiresAt - RENEWAL_MARGIN_MS > this.#now()) return currentToken;
    // Concurrent callers wait for the login that is in progress.
    const loginInProgress = this.#tokens.get(projectId);
    if (loginInProgress && loginInProgress !== cachedLogin) return loginInProgress;
    const [oldestProjectId] = this.#tokens.keys();
    if (oldestProjectId !== undefined && this.#tokens.size >= MAX_CACHED_TOKENS) this.#tokens.delete(oldestProjectId);
    const login = this.#logIn(projectId);
    this.#tokens.set(projectId, login);
    return login;
  }

  /** Removes a token from the cache after a service has rejected the token. */
  async discard(token: string): Promise<void> {
    for (const [projectId, cachedLogin] of this.#tokens)
      if ((await cachedLogin.catch(() => undefined))?.token === token) this.#tokens.delete(projectId);
  }

  async #logIn(projectId: string): Promise<CachedToken> {
    if (this.#now() < this.#rejectedUntil) throw identityUnavailable('it recently rejected the service credentials');
    const response = await this.#requests.send(`${this.url}/auth/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ auth: passwordLoginBody(this.#user, projectId) }),
    });
    const token = response.headers.get('x-subject-token');
    if (response.ok && token) return parseToken(token, await this.#requests.json(response));
    await response.body?.cancel();
    if (response.status !== 401 && response.status !== 403)
      throw identityUnavailable(`it responded to the login with ${response.status} instead of a token`);
    if (projectId)
      throw new CatalogError(
        'FORBIDDEN',
        `The service user "${this.#user.username}" has no role in project ${projectId}.`,
      );
    this.#rejectedUntil = this.#now() + PAUSE_AFTER_REJECTION_MS;
    throw identityUnavailable(`it rejected the service credentials with ${response.status}`);
  }
}

function passwordLoginBody(user: ServiceUser, projectId: string) {
  const { username, password, projectName = 'service' } = user;
  const domainReference = (id: string | undefined, name = 'Default') => (id === undefined ? { name } : { id });
  const id = projectId || user.projectId;
  const project = id
    ? { id }
    : { name: projectName, domain: domainReference(user.projectDomainId, user.projectDomainName) };
  const { userDomainId, userDomainName } = user;
  const credentials = { name: username, password, domain: domainReference(userDomainId, userDomainName) };
  return { identity: { methods: ['password'], password: { user: credentials } }, scope: { project } };
}

function parseToken(token: string, document: unknown): CachedToken {
  const tokenFields = (
    document as { readonly token?: { readonly project?: { id?: unknown }; expires_at?: unknown } } | null
  )?.token;
  const expiresAt = Date.parse(String(tokenFields?.expires_at));
  const projectId = tokenFields?.project?.id;
  if (typeof projectId !== 'string' || Number.isNaN(expiresAt))
    throw identityUnavailable('it returned a malformed token');
  return { token, projectId, expiresAt };
}
