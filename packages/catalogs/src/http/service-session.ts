import { checkOptions } from '@apistrata/record-store/options';
import { CatalogError } from '../errors/catalog-error.js';
import { type IdentityLimits, IdentityRequests, identityUnavailable } from './identity-requests.js';

/** The user that a service is to others, and the project it acts in. Domains and the project by id or by name. */
export interface ServiceUser {
  readonly username: string;
  readonly password: string;
  readonly userDomainId?: string;
  /** Default `Default`. */
  readonly userDomainName?: string;
  readonly projectId?: string;
  /** Default `service`. */
  readonly projectName?: string;
  readonly projectDomainId?: string;
  /** Default `Default`. */
  readonly projectDomainName?: string;
}

/** Who this service is to the others, and who says so. */
export interface ServiceCredentials extends ServiceUser {
  /** The identity service, with or without `/v3`. */
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

/** A token of the identity service, and the project that it is for. */
export interface ServiceToken {
  readonly token: string;
  readonly projectId: string;
}

interface HeldToken extends ServiceToken {
  readonly expiresAt: number;
}

/** Tokens are renewed this long before they expire, so that none expires on its way. */
const RENEW_BEFORE_MS = 60_000;
/** After refused credentials nothing is tried for so long: identity services lock users who keep failing. */
const REFUSED_PAUSE_MS = 10_000;

/** How many projects' tokens are kept at once. */
const HELD_TOKENS = 500;

/** How logins are asked for. Times in milliseconds. */
export interface ServiceSessionOptions extends Partial<IdentityLimits> {
  /** How long a login may take. Default 10,000. */
  readonly timeoutMs?: number;
  /** How long its answer may be, which may come with the whole catalog of a region. Default 4 MiB. */
  readonly maxAnswerBytes?: number;
  /** What the time is, since the epoch. */
  readonly now?: () => number;
}

const OPTIONS: Readonly<Record<keyof ServiceSessionOptions, true>> = {
  timeoutMs: true,
  maxAnswerBytes: true,
  headers: true,
  now: true,
};

/** Logs in with a password and keeps the tokens until shortly before they expire. */
export class ServiceSession {
  /** Where the identity service is, `/v3` included. */
  readonly url: string;
  readonly #requests: IdentityRequests;
  readonly #user: ServiceUser;
  readonly #now: () => number;
  readonly #tokens = new Map<string, Promise<HeldToken>>();
  #refusedUntil = 0;

  constructor(credentials: ServiceCredentials, options: ServiceSessionOptions = {}) {
    checkOptions('new ServiceSession()', credentials, CREDENTIALS);
    checkOptions('new ServiceSession()', options, OPTIONS);
    const { timeoutMs = 10_000, maxAnswerBytes = 4 * 1024 * 1024, headers, now = Date.now } = options;
    this.url = `${credentials.authUrl.replace(/\/+$/, '').replace(/\/v3$/, '')}/v3`;
    this.#requests = new IdentityRequests({ timeoutMs, maxAnswerBytes, headers });
    this.#user = credentials;
    this.#now = now;
  }

  /**
   * A token of the service in its own project or, for what must belong to it, in another one (where it needs a role).
   * Throws `UNAVAILABLE`, or `FORBIDDEN` when it has no role there.
   */
  async token(projectId = ''): Promise<ServiceToken> {
    const held = this.#tokens.get(projectId);
    const current = await held?.catch(() => undefined);
    if (current && current.expiresAt - RENEW_BEFORE_MS > this.#now()) return current;
    // Whoever comes while a login is under way waits for that one.
    const underway = this.#tokens.get(projectId);
    if (underway && underway !== held) return underway;
    const [oldest] = this.#tokens.keys();
    if (oldest !== undefined && this.#tokens.size >= HELD_TOKENS) this.#tokens.delete(oldest);
    const login = this.#logIn(projectId);
    this.#tokens.set(projectId, login);
    return login;
  }

  /** Forgets a token that a service has refused. */
  async discard(token: string): Promise<void> {
    for (const [projectId, held] of this.#tokens)
      if ((await held.catch(() => undefined))?.token === token) this.#tokens.delete(projectId);
  }

  async #logIn(projectId: string): Promise<HeldToken> {
    if (this.#now() < this.#refusedUntil) throw identityUnavailable('it refused the service credentials a moment ago');
    const response = await this.#requests.send(`${this.url}/auth/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ auth: loginOf(this.#user, projectId) }),
    });
    const token = response.headers.get('x-subject-token');
    if (response.ok && token) return heldToken(token, await this.#requests.json(response));
    await response.body?.cancel();
    if (response.status !== 401 && response.status !== 403)
      throw identityUnavailable(`it answered ${response.status} to a login, not a token`);
    if (projectId)
      throw new CatalogError(
        'FORBIDDEN',
        `The service user "${this.#user.username}" has no role in project ${projectId}.`,
      );
    this.#refusedUntil = this.#now() + REFUSED_PAUSE_MS;
    throw identityUnavailable(`it refused the service credentials with ${response.status}`);
  }
}

function loginOf(user: ServiceUser, projectId: string) {
  const { username, password, projectName = 'service' } = user;
  const domain = (id: string | undefined, name = 'Default') => (id === undefined ? { name } : { id });
  const id = projectId || user.projectId;
  const project = id ? { id } : { name: projectName, domain: domain(user.projectDomainId, user.projectDomainName) };
  const { userDomainId, userDomainName } = user;
  const credentials = { name: username, password, domain: domain(userDomainId, userDomainName) };
  return { identity: { methods: ['password'], password: { user: credentials } }, scope: { project } };
}

function heldToken(token: string, document: unknown): HeldToken {
  const wire = (document as { readonly token?: { readonly project?: { id?: unknown }; expires_at?: unknown } } | null)
    ?.token;
  const expiresAt = Date.parse(String(wire?.expires_at));
  const projectId = wire?.project?.id;
  if (typeof projectId !== 'string' || Number.isNaN(expiresAt))
    throw identityUnavailable('it gave a token that cannot be read');
  return { token, projectId, expiresAt };
}
