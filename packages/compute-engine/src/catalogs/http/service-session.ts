import { checkOptions } from '../../check-options.js';
import { CatalogError } from '../catalog-error.js';
import { boundedText } from './bounded-text.js';

/** Who this service is to the others. */
export interface ServiceCredentials {
  /** The identity service, up to and without `/v3`. */
  readonly authUrl: string;
  readonly username: string;
  readonly password: string;
  readonly projectName: string;
  /** Default: `Default`. */
  readonly userDomainName?: string;
  /** Default: `Default`. */
  readonly projectDomainName?: string;
}

const CREDENTIALS: Readonly<Record<keyof ServiceCredentials, true>> = {
  authUrl: true,
  username: true,
  password: true,
  projectName: true,
  userDomainName: true,
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

/** A token comes with the whole catalog of its region. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** How many projects' tokens are kept at once. */
const HELD_TOKENS = 500;

/** How logins are asked for. Times in milliseconds. */
export interface ServiceSessionOptions {
  /** How long a login may take. Default 10,000. */
  readonly timeoutMs?: number;
  /** Sent with every login: headers of a trace, for one. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

/** Logs in with a password and keeps the tokens until shortly before they expire. */
export class ServiceSession {
  readonly #credentials: ServiceCredentials;
  readonly #timeoutMs: number;
  readonly #headers: ServiceSessionOptions['headers'];
  readonly #tokens = new Map<string, Promise<HeldToken>>();

  constructor(credentials: ServiceCredentials, options: ServiceSessionOptions = {}) {
    checkOptions('new ServiceSession()', credentials, CREDENTIALS);
    checkOptions('new ServiceSession()', options, { timeoutMs: true, headers: true });
    this.#credentials = credentials;
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#headers = options.headers;
  }

  /**
   * A token of the service in its own project or, for what must belong to it, in another one (where it needs a role).
   * Throws `UNAVAILABLE`, or `FORBIDDEN` when it has no role there.
   */
  async token(projectId = ''): Promise<ServiceToken> {
    const held = this.#tokens.get(projectId);
    const current = await held?.catch(() => undefined);
    if (current && current.expiresAt - RENEW_BEFORE_MS > Date.now()) return current;
    // Whoever comes while a login is under way waits for that one.
    if (this.#tokens.get(projectId) === held) {
      if (this.#tokens.size >= HELD_TOKENS) this.#tokens.delete(this.#tokens.keys().next().value!);
      this.#tokens.set(projectId, this.#login(projectId));
    }
    return this.#tokens.get(projectId)!;
  }

  /** Forgets a token that a service has refused. */
  async discard(token: string): Promise<void> {
    for (const [projectId, held] of this.#tokens)
      if ((await held.catch(() => undefined))?.token === token) this.#tokens.delete(projectId);
  }

  async #login(projectId: string): Promise<HeldToken> {
    const { authUrl, username, password, projectName } = this.#credentials;
    const { userDomainName = 'Default', projectDomainName = 'Default' } = this.#credentials;
    const project = projectId ? { id: projectId } : { name: projectName, domain: { name: projectDomainName } };
    const user = { name: username, password, domain: { name: userDomainName } };
    const auth = { identity: { methods: ['password'], password: { user } }, scope: { project } };
    let response: Response;
    try {
      response = await fetch(`${authUrl.replace(/\/(v3\/?)?$/, '')}/v3/auth/tokens`, {
        method: 'POST',
        headers: { ...this.#headers?.(), 'Content-Type': 'application/json', Accept: 'application/json' },
        body: JSON.stringify({ auth }),
        signal: AbortSignal.timeout(this.#timeoutMs),
      });
    } catch (error) {
      throw new CatalogError('UNAVAILABLE', 'The identity service cannot be reached.', { cause: error });
    }
    const token = response.headers.get('x-subject-token');
    if (!response.ok || !token) {
      await response.body?.cancel();
      if (projectId && (response.status === 401 || response.status === 403))
        throw new CatalogError('FORBIDDEN', `The service user "${username}" has no role in project ${projectId}.`);
      throw new CatalogError(
        'UNAVAILABLE',
        `The identity service refused the service user "${username}" (${response.status}).`,
      );
    }
    try {
      const { token: wire } = JSON.parse(await boundedText(response, MAX_ANSWER_BYTES));
      return { token, projectId: String(wire.project.id), expiresAt: Date.parse(wire.expires_at) };
    } catch (error) {
      throw new CatalogError('UNAVAILABLE', 'The identity service gave a token that cannot be read.', { cause: error });
    }
  }
}
