import { CatalogError, IdentityRequests, type ServiceSession } from '@apistrata/compute-engine/catalogs';
import { IdentityUnavailable } from './identity-unavailable.js';
import { readTokenDocument, type TokenDocument } from './token-document.js';

/** Asks an identity service about tokens and projects, with a token of its own that a session gets and renews. */
export class IdentityClient {
  readonly #session: ServiceSession;
  readonly #requests: IdentityRequests;

  constructor(session: ServiceSession, limits: ConstructorParameters<typeof IdentityRequests>[0]) {
    this.#session = session;
    this.#requests = new IdentityRequests(limits);
  }

  /**
   * What a token stands for; undefined when it is not valid.
   *
   * @throws IdentityUnavailable
   */
  async validate(token: string): Promise<TokenDocument | undefined> {
    return orUnavailable(async () => {
      const response = await this.#ask('/auth/tokens?nocatalog', { 'x-subject-token': token });
      if (response.status === 404) {
        await response.body?.cancel();
        return undefined;
      }
      const document =
        response.status === 200 ? readTokenDocument(await this.#requests.json(response), token) : undefined;
      if (document) return document;
      if (!response.bodyUsed) await response.body?.cancel();
      throw new IdentityUnavailable(
        `it answered ${response.status} to the validation of a token, not a token document`,
      );
    });
  }

  /** Whether there is a project of this id; undefined when the service does not say. */
  async projectExists(projectId: string): Promise<boolean | undefined> {
    // In an address these are no names: they would lead elsewhere.
    if (projectId === '' || projectId === '.' || projectId === '..') return false;
    try {
      const { status, body } = await this.#ask(`/projects/${encodeURIComponent(projectId)}`);
      await body?.cancel();
      return status === 200 ? true : status === 404 ? false : undefined;
    } catch (error) {
      if (error instanceof CatalogError) return undefined;
      throw error;
    }
  }

  /** The answer to a question; with another token of ours where the first was revoked or has ended. */
  async #ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const ask = (own: string) =>
      this.#requests.send(`${this.#session.url}${path}`, { headers: { ...headers, 'x-auth-token': own } });
    const { token } = await this.#session.token();
    const response = await ask(token);
    if (response.status !== 401) return response;
    await response.body?.cancel();
    await this.#session.discard(token);
    return ask((await this.#session.token()).token);
  }
}

async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof CatalogError ? new IdentityUnavailable(error) : error;
  }
}
