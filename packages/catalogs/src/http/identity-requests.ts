import { CatalogError } from '../errors/catalog-error.js';
import { ResponseTooLarge, readBoundedText } from './bounded-text.js';

/** Limits and headers for requests to an identity service. Times are in milliseconds. */
export interface IdentityLimits {
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /** Returns the headers to add to each request, such as trace headers. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

/** Creates the `UNAVAILABLE` error for an identity service that does not respond or returns an unexpected response. */
export function identityUnavailable(problem: string, cause?: unknown): CatalogError {
  return new CatalogError('UNAVAILABLE', `The identity service is unavailable: ${problem}.`, { cause });
}

/** Sends requests to an identity service, with a timeout and a size limit. All errors are `UNAVAILABLE`. */
export class IdentityRequests {
  readonly #limits: IdentityLimits;

  constructor(limits: IdentityLimits) {
    this.#limits = limits;
  }

  /** Sends an idempotent request, such as a query or a login, and retries it once if the connection fails. */
  async send(
    url: string,
    init: RequestInit & { readonly headers: Readonly<Record<string, string>> },
  ): Promise<Response> {
    const headers = { accept: 'application/json', ...this.#limits.headers?.(), ...init.headers };
    // Redirects are rejected because they would forward tokens to another server.
    const request = {
      ...init,
      headers,
      redirect: 'error' as const,
      signal: AbortSignal.timeout(this.#limits.timeoutMs),
    };
    try {
      return await fetch(url, request);
    } catch (firstError) {
      if (request.signal.aborted) throw this.#unreachable(firstError);
      // The request is retried because the server may have closed the keep-alive connection while the request was sent.
      return fetch(url, request).catch((error: unknown) => {
        throw this.#unreachable(error);
      });
    }
  }

  /** Parses a response body; returns undefined if the body is not JSON. */
  async json(response: Response): Promise<unknown> {
    try {
      return JSON.parse(await readBoundedText(response, this.#limits.maxResponseBytes));
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      if (error instanceof ResponseTooLarge) throw identityUnavailable(error.message);
      throw this.#unreachable(error);
    }
  }

  #unreachable(error: unknown): CatalogError {
    const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
    const { timeoutMs } = this.#limits;
    return identityUnavailable(isTimeout ? `no response within ${timeoutMs} ms` : 'it cannot be reached', error);
  }
}
