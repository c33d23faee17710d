import { AnswerTooLarge, boundedText } from '@apistrata/compute-engine/catalogs';
import { IdentityUnavailable } from './identity-unavailable.js';
import { readTokenDocument, type TokenDocument } from './token-document.js';

/** Credentials of this service's own user, which may validate tokens. Domains and the project by id or by name. */
export interface ServiceCredentials {
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

interface Login {
  readonly token: string;
  readonly expiresAt: number;
}

/** A token of our own is renewed this long before it ends, so that it does not end on its way. */
const RENEW_BEFORE_MS = 30_000;
/** After refused credentials nothing is tried for so long: identity services lock users who keep failing. */
const REFUSED_PAUSE_MS = 10_000;

/** Asks an identity service about tokens and projects, with a token of its own that it gets by password and renews. */
export class IdentityClient {
  readonly #tokensUrl: string;
  readonly #projectsUrl: string;
  readonly #credentials: ServiceCredentials;
  readonly #timeoutMs: number;
  readonly #maxAnswerBytes: number;
  readonly #headers: (() => Readonly<Record<string, string>>) | undefined;
  readonly #now: () => number;
  #login: Promise<Login> | undefined;
  #refusedUntil = 0;

  /** @param url address of the identity API, `/v3` included */
  constructor(
    url: string,
    credentials: ServiceCredentials,
    limits: {
      readonly timeoutMs: number;
      readonly maxAnswerBytes: number;
      readonly headers?: () => Readonly<Record<string, string>>;
    },
    now: () => number,
  ) {
    this.#tokensUrl = `${url}/auth/tokens`;
    this.#projectsUrl = `${url}/projects`;
    this.#credentials = credentials;
    this.#timeoutMs = limits.timeoutMs;
    this.#maxAnswerBytes = limits.maxAnswerBytes;
    this.#headers = limits.headers;
    this.#now = now;
  }

  /**
   * What a token stands for; undefined when it is not valid.
   *
   * @throws IdentityUnavailable
   */
  async validate(token: string): Promise<TokenDocument | undefined> {
    let login = await this.#ownToken();
    let response = await this.#ask(login.token, token);
    if (response.status === 401) {
      // Ours was revoked or has ended; the answer says nothing about the other one.
      await response.body?.cancel();
      login = await this.#ownToken(login);
      response = await this.#ask(login.token, token);
    }
    if (response.status === 404) {
      await response.body?.cancel();
      return undefined;
    }
    const document = response.status === 200 ? readTokenDocument(await this.#json(response), token) : undefined;
    if (document) return document;
    await cancel(response);
    throw new IdentityUnavailable(`it answered ${response.status} to the validation of a token, not a token document`);
  }

  /** Whether there is a project of this id; undefined when the service does not say. */
  async projectExists(projectId: string): Promise<boolean | undefined> {
    // In an address these are no names: they would lead elsewhere.
    if (projectId === '' || projectId === '.' || projectId === '..') return false;
    const ask = ({ token }: Login) =>
      this.#fetch(`${this.#projectsUrl}/${encodeURIComponent(projectId)}`, {
        headers: { accept: 'application/json', 'x-auth-token': token },
      });
    try {
      const login = await this.#ownToken();
      let response = await ask(login);
      await response.body?.cancel();
      if (response.status === 401) {
        response = await ask(await this.#ownToken(login));
        await response.body?.cancel();
      }
      return response.status === 200 ? true : response.status === 404 ? false : undefined;
    } catch (error) {
      if (error instanceof IdentityUnavailable) return undefined;
      throw error;
    }
  }

  #ask(own: string, subject: string): Promise<Response> {
    return this.#fetch(`${this.#tokensUrl}?nocatalog`, {
      headers: { accept: 'application/json', 'x-auth-token': own, 'x-subject-token': subject },
    });
  }

  /** The token at hand, or a new one when that ends soon or is the one that was refused; one login at a time. */
  async #ownToken(refused?: Login): Promise<Login> {
    const underway = this.#login;
    if (underway) {
      const login = await underway;
      if (login !== refused && this.#now() < login.expiresAt - RENEW_BEFORE_MS) return login;
      // Somebody else may have begun to renew it while this one waited.
      if (this.#login === underway) this.#login = undefined;
      if (this.#login) return this.#login;
    }
    const login = this.#logIn();
    this.#login = login;
    login.catch(() => {
      if (this.#login === login) this.#login = undefined;
    });
    return login;
  }

  async #logIn(): Promise<Login> {
    if (this.#now() < this.#refusedUntil)
      throw new IdentityUnavailable('it refused the service credentials a moment ago');
    const response = await this.#fetch(this.#tokensUrl, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(loginBody(this.#credentials)),
    });
    if (response.status === 401 || response.status === 403) {
      await response.body?.cancel();
      this.#refusedUntil = this.#now() + REFUSED_PAUSE_MS;
      throw new IdentityUnavailable(`it refused the service credentials with ${response.status}`);
    }
    const token = response.headers.get('x-subject-token');
    const document =
      response.status === 201 && token ? readTokenDocument(await this.#json(response), token) : undefined;
    if (document) return { token: token!, expiresAt: document.expiresAt };
    await cancel(response);
    throw new IdentityUnavailable(`it answered ${response.status} to a login, not a token`);
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    // A redirect is refused, for it would carry tokens to another place.
    const headers = { ...this.#headers?.(), ...(init.headers as Record<string, string>) };
    const request = { ...init, headers, redirect: 'error' as const, signal: AbortSignal.timeout(this.#timeoutMs) };
    try {
      return await fetch(url, request);
    } catch (first) {
      if (request.signal.aborted) throw this.#unreachable(first);
      // A kept connection may have been closed just now by the other side; asking and logging in can be repeated.
      return fetch(url, request).catch((error: unknown) => {
        throw this.#unreachable(error);
      });
    }
  }

  async #json(response: Response): Promise<unknown> {
    try {
      return JSON.parse(await boundedText(response, this.#maxAnswerBytes));
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      if (error instanceof AnswerTooLarge) throw new IdentityUnavailable(error.message);
      throw this.#unreachable(error);
    }
  }

  #unreachable(error: unknown): IdentityUnavailable {
    const timedOut = error instanceof DOMException && error.name === 'TimeoutError';
    return new IdentityUnavailable(timedOut ? `no answer within ${this.#timeoutMs} ms` : 'it cannot be reached', error);
  }
}

/** Gives back the connection of an answer nobody reads. */
async function cancel(response: Response): Promise<void> {
  if (!response.bodyUsed) await response.body?.cancel();
}

function loginBody(credentials: ServiceCredentials) {
  const domain = (id: string | undefined, name = 'Default') => (id === undefined ? { name } : { id });
  const { username, password, projectId, projectName = 'service' } = credentials;
  const user = { name: username, password, domain: domain(credentials.userDomainId, credentials.userDomainName) };
  const project =
    projectId === undefined
      ? { name: projectName, domain: domain(credentials.projectDomainId, credentials.projectDomainName) }
      : { id: projectId };
  return { auth: { identity: { methods: ['password'], password: { user } }, scope: { project } } };
}
