import { CatalogError } from '../errors/catalog-error.js';
import { AnswerTooLarge, boundedText } from './bounded-text.js';

/** Bounds of requests to an identity service. Times in milliseconds. */
export interface IdentityLimits {
  readonly timeoutMs: number;
  readonly maxAnswerBytes: number;
  /** Sent with every request: headers of a trace, for one. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

/** The identity service does not answer, or not as it should; `UNAVAILABLE`. */
export function identityUnavailable(problem: string, cause?: unknown): CatalogError {
  return new CatalogError('UNAVAILABLE', `The identity service is unavailable: ${problem}.`, { cause });
}

/** Requests to an identity service, bounded in time and size. Everything throws `UNAVAILABLE`. */
export class IdentityRequests {
  readonly #limits: IdentityLimits;

  constructor(limits: IdentityLimits) {
    this.#limits = limits;
  }

  /** For requests that can be repeated, as asking and logging in can. */
  async send(
    url: string,
    init: RequestInit & { readonly headers: Readonly<Record<string, string>> },
  ): Promise<Response> {
    const headers = { accept: 'application/json', ...this.#limits.headers?.(), ...init.headers };
    // A redirect is refused, for it would carry tokens to another place.
    const request = {
      ...init,
      headers,
      redirect: 'error' as const,
      signal: AbortSignal.timeout(this.#limits.timeoutMs),
    };
    try {
      return await fetch(url, request);
    } catch (first) {
      if (request.signal.aborted) throw this.#unreachable(first);
      // A kept connection may have been closed just now by the other side.
      return fetch(url, request).catch((error: unknown) => {
        throw this.#unreachable(error);
      });
    }
  }

  /** The answer's document; undefined where it is none. */
  async json(response: Response): Promise<unknown> {
    try {
      return JSON.parse(await boundedText(response, this.#limits.maxAnswerBytes));
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      if (error instanceof AnswerTooLarge) throw identityUnavailable(error.message);
      throw this.#unreachable(error);
    }
  }

  #unreachable(error: unknown): CatalogError {
    const timedOut = error instanceof DOMException && error.name === 'TimeoutError';
    const { timeoutMs } = this.#limits;
    return identityUnavailable(timedOut ? `no answer within ${timeoutMs} ms` : 'it cannot be reached', error);
  }
}
