import type { Caller } from '../caller/caller.js';
import { CatalogError, type CatalogErrorCode } from '../errors/catalog-error.js';
import { AnswerTooLarge, boundedText } from './bounded-text.js';
import { errorOf } from './service-fault.js';
import type { ServiceSession } from './service-session.js';

/** Where a real service is, who asks it, and how long it may take. Times in milliseconds. */
export interface HttpCatalogOptions {
  /** The service's endpoint, with or without its version (`http://images:9292`, `http://volumes:8776/v3`). */
  readonly url: string;
  readonly session: ServiceSession;
  /** How long one request may take. Default 30,000. */
  readonly timeoutMs?: number;
  /** How often a request that may safely be repeated is, after a failure of the network or the service. Default 2. */
  readonly retries?: number;
  /** How long an answer may be; longer ones count as a failure of the service. Default 32 MiB. */
  readonly maxAnswerBytes?: number;
  /** Sent with every request: a request id, for one. */
  readonly headers?: () => Readonly<Record<string, string>>;
}

/** Every key of {@link HttpCatalogOptions}, for `checkOptions()`. */
export const httpCatalogOptions: Readonly<Record<keyof HttpCatalogOptions, true>> = {
  url: true,
  session: true,
  timeoutMs: true,
  retries: true,
  maxAnswerBytes: true,
  headers: true,
};

/**
 * In whose name a request goes out. `caller`: with the caller's own token where there is one, else the service's.
 * `service`: the service's, always. `project`: for what will belong to the caller's project, so the service's token, if
 * it must be used, is one of that project.
 */
export type Acting = 'caller' | 'service' | 'project';

export interface ServiceRequest {
  readonly caller: Caller;
  readonly as: Acting;
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly json?: unknown;
  /** Instead of `json`: bytes, sent as they come. */
  readonly content?: Uint8Array | AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** What a status means here, where the service does not say it more precisely itself. */
  readonly errors?: Readonly<Record<number, CatalogErrorCode>>;
}

export interface ServiceAnswer {
  readonly status: number;
  /** The parsed body; undefined when there is none. */
  readonly body: any;
}

/** Requests that do no harm when they happen twice. */
const REPEATABLE = new Set(['GET', 'PUT', 'DELETE']);

/** Answers of a service that is busy or gone, or of the proxy in front of it. */
const PASSING = new Set([500, 502, 503, 504]);

const RETRY_DELAY_MS = 100;

const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** Speaks to one service: tokens, timeouts, repetition, errors. */
export class ServiceClient {
  readonly #service: string;
  readonly #options: HttpCatalogOptions;
  readonly #base: string;

  /** @param version the path that the endpoint ends in when it names no version itself, as `/v2` */
  constructor(service: string, version: string, options: HttpCatalogOptions) {
    const url = options.url.replace(/\/+$/, '');
    this.#service = service;
    this.#options = options;
    this.#base = /\/v\d+(\.\d+)?$/.test(url) ? url : `${url}${version}`;
  }

  /** @param path below the version; a function when it names the project that the token is of */
  async request(
    method: string,
    path: string | ((projectId: string) => string),
    request: ServiceRequest,
  ): Promise<ServiceAnswer> {
    return this.#attempt(method, path, request, (response) => this.#read(response));
  }

  /** What a path leads to, as it comes. The time that the request may take is that of all of it. */
  async download(path: string, request: ServiceRequest): Promise<AsyncIterable<Uint8Array>> {
    const { body } = await this.#attempt('GET', path, request, async (response) =>
      response.ok ? (response.body ?? []) : this.#read(response),
    );
    return unbroken(this.#service, body as AsyncIterable<Uint8Array>);
  }

  async #attempt(
    method: string,
    path: string | ((projectId: string) => string),
    request: ServiceRequest,
    read: (response: Response) => Promise<unknown>,
  ): Promise<ServiceAnswer> {
    const attempts = REPEATABLE.has(method) && !isStream(request.content) ? 1 + (this.#options.retries ?? 2) : 1;
    let renewed = false;
    for (let attempt = 1; ; attempt++) {
      const actor = await this.#actor(request);
      let response: Response;
      let body: unknown;
      try {
        response = await this.#send(method, path, request, actor);
        body = await read(response);
      } catch (error) {
        if (error instanceof AnswerTooLarge)
          throw new CatalogError('UNAVAILABLE', `The ${this.#service} service misbehaves: ${error.message}.`);
        if (attempt < attempts) {
          await pause(attempt);
          continue;
        }
        throw new CatalogError('UNAVAILABLE', `The ${this.#service} service cannot be reached.`, { cause: error });
      }
      // What was deleted by an attempt whose answer got lost is deleted.
      if (method === 'DELETE' && attempt > 1 && response.status === 404) return { status: 204, body: undefined };
      const mayRenew = response.status === 401 && actor.own && !renewed && !isStream(request.content);
      if (mayRenew || (PASSING.has(response.status) && attempt < attempts)) {
        if (mayRenew) {
          renewed = true;
          attempt--;
          await this.#options.session.discard(actor.token);
        } else await pause(attempt);
        continue;
      }
      if (!response.ok) throw errorOf(this.#service, response.status, body, request.errors ?? {});
      return { status: response.status, body };
    }
  }

  async #actor({ caller, as }: ServiceRequest) {
    const { session } = this.#options;
    if (as !== 'service' && caller.token) {
      // With the service's own token beside it, a token that expired under way is still accepted.
      const { token: serviceToken } = await session.token();
      return { token: caller.token, projectId: caller.projectId, serviceToken, own: false };
    }
    const held = await session.token(as === 'project' ? caller.projectId : '');
    // Some operations are only for services, and want to see that twice.
    return { ...held, serviceToken: held.token, own: true };
  }

  #send(
    method: string,
    path: string | ((projectId: string) => string),
    { query, json, content, headers, timeoutMs }: ServiceRequest,
    actor: { readonly token: string; readonly projectId: string; readonly serviceToken: string },
  ): Promise<Response> {
    const url = new URL(`${this.#base}${typeof path === 'string' ? path : path(actor.projectId)}`);
    for (const [key, value] of Object.entries(query ?? {}))
      for (const one of value === undefined ? [] : [value].flat()) url.searchParams.append(key, one);
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
    const text = await boundedText(response, this.#options.maxAnswerBytes ?? MAX_ANSWER_BYTES);
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

/** The pieces of an answer; a connection that breaks is the service's failure. */
async function* unbroken(service: string, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces;
  } catch (error) {
    throw new CatalogError('UNAVAILABLE', `The ${service} service broke off.`, { cause: error });
  }
}

function pause(attempt: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, RETRY_DELAY_MS * attempt));
}
