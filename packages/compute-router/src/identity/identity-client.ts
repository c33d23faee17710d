import { CatalogError, IdentityRequests, type ServiceSession } from '@apistrata/compute-engine/catalogs';
import { IdentityUnavailable } from './identity-unavailable.js';
import { readTokenDocument, type TokenDocument } from './token-document.js';

/**
 * A client that validates tokens and looks up projects in an identity service. It authenticates with the session's
 * token.
 */
export class IdentityClient {
  readonly #session: ServiceSession;
  readonly #requests: IdentityRequests;

  constructor(session: ServiceSession, limits: ConstructorParameters<typeof IdentityRequests>[0]) {
    this.#session = session;
    this.#requests = new IdentityRequests(limits);
  }

  /**
   * Validates a token. Returns the identity service's token document, or undefined if the token is not valid.
   *
   * @throws IdentityUnavailable if the service does not respond, or returns an unexpected response
   */
  async validate(token: string): Promise<TokenDocument | undefined> {
    return convertCatalogErrors(async () => {
      const response = await this.#request('/auth/tokens?nocatalog', {
        'x-subject-token': token,
        // The identity service accepts tokens with access rules only from clients that declare that they enforce them.
        'openstack-identity-access-rules': '1',
      });
      if (response.status === 404) {
        await response.body?.cancel();
        return undefined;
      }
      const document =
        response.status === 200 ? readTokenDocument(await this.#requests.json(response), token) : undefined;
      if (document) return document;
      if (!response.bodyUsed) await response.body?.cancel();
      throw new IdentityUnavailable(`it returned ${response.status} without a valid token document`);
    });
  }

  /** Returns whether a project exists, or undefined if the service does not respond or its response is inconclusive. */
  async projectExists(projectId: string): Promise<boolean | undefined> {
    // In a URL path, `.` and `..` would be relative segments.
    if (projectId === '' || projectId === '.' || projectId === '..') return false;
    try {
      const { status, body } = await this.#request(`/projects/${encodeURIComponent(projectId)}`);
      await body?.cancel();
      return status === 200 ? true : status === 404 ? false : undefined;
    } catch (error) {
      if (error instanceof CatalogError) return undefined;
      throw error;
    }
  }

  /** Sends a request, and retries it with a new service token if the old one has expired or was revoked. */
  async #request(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const request = (serviceToken: string) =>
      this.#requests.send(`${this.#session.url}${path}`, { headers: { ...headers, 'x-auth-token': serviceToken } });
    const { token } = await this.#session.token();
    const response = await request(token);
    if (response.status !== 401) return response;
    await response.body?.cancel();
    await this.#session.discard(token);
    return request((await this.#session.token()).token);
  }
}

/** Runs `work` and converts catalog errors to `IdentityUnavailable`. */
async function convertCatalogErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof CatalogError ? new IdentityUnavailable(error) : error;
  }
}
