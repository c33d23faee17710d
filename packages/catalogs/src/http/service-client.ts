import type { Caller } from '../caller/caller.js';
import { CatalogError, type CatalogErrorCode } from '../errors/catalog-error.js';
import { ResponseTooLarge, readBoundedText } from './bounded-text.js';
import { toCatalogError } from './service-fault.js';
import type { ServiceSession } from './service-session.js';

/** The endpoint, credentials and limits for requests to a remote service. Times are in milliseconds. */
export interface HttpCatalogOptions {
  /** The service's endpoint, with or without its version (`http://images:9292`, `http://volumes:8776/v3`). */
  readonly url: string;
  readonly session: ServiceSession;
  /** The timeout of a request. Default: 30,000. */
  readonly timeoutMs?: number;
  /** The maximum number of retries if an idempotent request fails because of the network or the service. Default: 2. */
  readonly retries?: number;
  /** The maximum response size, in bytes. A larger response is an `UNAVAILABLE` error. Default: 32 MiB. */
  readonly maxResponseBytes?: number;
  /** Returns the headers to add to each request, such as a request id. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

/** All keys of {@link HttpCatalogOptions}, which `checkOptions()` accepts. */
export const httpCatalogOptions: Readonly<Record<keyof HttpCatalogOptions, true>> = {
  url: true,
  session: true,
  timeoutMs: true,
  retries: true,
  maxResponseBytes: true,
  headers: true,
};

/**
 * The user on whose behalf a request is sent. `caller`: the request has the caller's own token if one exists, otherwise
 * the service user's token. `service`: always the service user's token. `project`: like `caller`, but the service
 * user's token has the caller's project as its scope, so that a new resource belongs to that project.
 */
export type ActingUser = 'caller' | 'service' | 'project';

export interface ServiceRequest {
  readonly caller: Caller;
  readonly as: ActingUser;
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly json?: unknown;
  /** The binary request body, instead of `json`. */
  readonly content?: Uint8Array | AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** The error codes by HTTP status, for responses that do not contain a more specific error. */
  readonly errors?: Readonly<Record<number, CatalogErrorCode>>;
}

export interface ServiceResponse {
  readonly status: number;
  /** The parsed response body; undefined if the body is empty. */
  readonly body: any;
}

const IDEMPOTENT_METHODS = new Set(['GET', 'PUT', 'DELETE']);

/** The statuses that a busy or unavailable service, or a proxy in front of the service, returns. */
const RETRYABLE_STATUSES = new Set([500, 502, 503, 504]);

const RETRY_DELAY_MS = 100;

const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** An HTTP client for one service. Handles tokens, timeouts, retries and errors. */
export class ServiceClient {
  readonly #service: string;
  readonly #options: HttpCatalogOptions;
  readonly #base: string;

  /** @param version the path to append to an endpoint without a version, such as `/v2` */
  constructor(service: string, version: string, options: HttpCatalogOptions) {
    const url = options.url.replace(/\/+$/, '');
    this.#service = service;
    this.#options = options;
    this.#base = /\/v\d+(\.\d+)?$/.test(url) ? url : `${url}${version}`;
  }

  /** Sends a request. @param path the path after the version; a function if the path contains the token's project id */
  async request(
    method: string,
    path: string | ((projectId: string) => string),
    request: ServiceRequest,
  ): Promise<ServiceResponse> {
    return this.#attempt(method, path, request, (response) => this.#read(response));
  }

  /** Streams the response body of a GET request. The timeout applies to the whole download. */
  async download(path: string, request: ServiceRequest): Promise<AsyncIterable<Uint8Array>> {
    const { body } = await this.#attempt('GET', path, request, async (response) =>
      response.ok ? (response.body ?? []) : this.#read(response),
    );
    return withServiceFailures(this.#service, body as AsyncIterable<Uint8Array>);
  }

  async #attempt(
    method: string,
    path: string | ((projectId: string) => string),
    request: ServiceRequest,
    read: (response: Response) => Promise<unknown>,
  ): Promise<ServiceResponse> {
    const maxAttempts =
      IDEMPOTENT_METHODS.has(method) && !isStream(request.content) ? 1 + (this.#options.retries ?? 2) : 1;
    let hasRenewedToken = false;
    for (let attempt = 1; ; attempt++) {
      const actor = await this.#actor(request);
      let response: Response;
      let body: unknown;
      try {
        response = await this.#send(method, path, request, actor);
        body = await read(response);
      } catch (error) {
        if (error instanceof ResponseTooLarge)
          throw new CatalogError(
            'UNAVAILABLE',
            `The ${this.#service} service returned an invalid response: ${error.message}.`,
          );
        if (attempt < maxAttempts) {
          await pauseBeforeRetry(attempt);
          continue;
        }
        throw new CatalogError('UNAVAILABLE', `The ${this.#service} service cannot be reached.`, { cause: error });
      }
      // An earlier attempt deleted the resource, but the response to that attempt was lost.
      if (method === 'DELETE' && attempt > 1 && response.status === 404) return { status: 204, body: undefined };
      const canRenewToken = response.status === 401 && actor.own && !hasRenewedToken && !isStream(request.content);
      if (canRenewToken || (RETRYABLE_STATUSES.has(response.status) && attempt < maxAttempts)) {
        if (canRenewToken) {
          hasRenewedToken = true;
          attempt--;
          await this.#options.session.discard(actor.token);
        } else await pauseBeforeRetry(attempt);
        continue;
      }
      if (!response.ok) throw toCatalogError(this.#service, response.status, body, request.errors ?? {});
      return { status: response.status, body };
    }
  }

  async #actor({ caller, as }: ServiceRequest) {
    const { session } = this.#options;
    if (as !== 'service' && caller.token) {
      // The service user's token makes the other service accept a caller's token that has expired in the meantime.
      const { token: serviceToken } = await session.token();
      return { token: caller.token, projectId: caller.projectId, serviceToken, own: false };
    }
    const cachedToken = await session.token(as === 'project' ? caller.projectId : '');
    // Some operations are reserved for services and require a service user's token in both token headers.
    return { ...cachedToken, serviceToken: cachedToken.token, own: true };
  }

  #send(
    method: string,
    path: string | ((projectId: string) => string),
    { query, json, content, headers, timeoutMs }: ServiceRequest,
    actor: { readonly token: string; readonly projectId: string; readonly serviceToken: string },
  ): Promise<Response> {
    const url = new URL(`${this.#base}${typeof path === 'string' ? path : path(actor.projectId)}`);
    for (const [key, value] of Object.entries(query ?? {}))
      for (const singleValue of value === undefined ? [] : [value].flat()) url.searchParams.append(key, singleValue);
    const init: RequestInit & { duplex?: 'half' } = {
      method,
      headers: {
        Accept: 'application/json',
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...this.#options.headers?.(),
        ...headers,
        'X-Auth-Token': actor.token,
        'X-Service-Token': actor.serviceToken,
      },
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs ?? this.#options.timeoutMs ?? 30_000),
      body: json === undefined ? (content as RequestInit['body']) : JSON.stringify(json),
    };
    if (isStream(content)) init.duplex = 'half';
    return fetch(url, init);
  }

  async #read(response: Response): Promise<unknown> {
    const text = await readBoundedText(response, this.#options.maxResponseBytes ?? MAX_RESPONSE_BYTES);
    if (text === '') return undefined;
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
}

function isStream(content: ServiceRequest['content']): boolean {
  return content !== undefined && !(content instanceof Uint8Array);
}

/** Yields the chunks of a response. Throws `UNAVAILABLE` if the connection fails. */
async function* withServiceFailures(service: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    throw new CatalogError('UNAVAILABLE', `The ${service} service closed the connection early.`, { cause: error });
  }
}

function pauseBeforeRetry(attempt: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS * attempt));
}
