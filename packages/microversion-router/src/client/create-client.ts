import type { ErrorStatus, OperationKey, ProblemDetails, RequestArguments, ResponseBody, TypedApi } from './types.js';

/** Options for {@link createClient}. */
export interface ClientOptions<V extends string> {
  /** The API version that the client is written for. It must equal the type argument. */
  readonly version: V;
  /** Returns the request headers that contain the version. Default: `{ 'API-Version': version }`. */
  readonly versionHeaders?: (version: V) => Readonly<Record<string, string>>;
  /** Headers of every request, such as `Authorization`, or a function that returns them. */
  readonly headers?:
    | Readonly<Record<string, string>>
    | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);
  /** The function that sends requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/**
 * A status that the operation does not document, for example from a proxy. A comparison with any status compiles; to
 * handle exactly the documented ones, use {@link ErrorStatus}: `Record<ErrorStatus<Api, V, 'GET /ping'>, string>`.
 */
export type UndocumentedStatus = number & Record<never, never>;

/** A response: `data` if the request succeeded, otherwise `error`. */
export type ClientResult<Data, Status extends number> =
  | { readonly ok: true; readonly status: number; readonly data: Data; readonly response: Response }
  | {
      readonly ok: false;
      readonly status: Status | UndocumentedStatus;
      readonly error: ProblemDetails;
      readonly response: Response;
    };

/**
 * Sends a request to one version of an API. Rejects if the connection fails, the request is aborted, or a successful
 * response contains malformed JSON.
 */
export type Client<Api extends TypedApi, V extends string> = <K extends OperationKey<Api, V>>(
  operation: K,
  ...parts: RequestArguments<Api, V, K>
) => Promise<ClientResult<ResponseBody<Api, V, K>, ErrorStatus<Api, V, K>>>;

interface AnyRequestParts {
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

function requestUrl(base: string, path: string, { params = {}, query = {} }: AnyRequestParts): string {
  const filledPath = path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const queryPairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((item) => [name, item] as const),
  );
  const queryString = queryPairs
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join('&');
  return base.replace(/\/+$/, '') + filledPath + (queryString && `?${queryString}`);
}

/**
 * Reads a response body and parses it if its media type is JSON. Returns other bodies, and error bodies with malformed
 * JSON, as text. Returns undefined for an empty body.
 */
async function readContent(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === '') return undefined;
  try {
    return /[/+]json\b/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : text;
  } catch (error) {
    if (response.ok) throw error;
    return text;
  }
}

/**
 * Creates a client for one version of an API. Operations, parameters, bodies and error statuses have the types of that
 * version, which are inferred from the server's operation definitions; no code is generated.
 *
 * @param url the base URL, to which operation paths are appended
 *
 * @example
 * ```ts
 * import { createClient } from '@apistrata/microversion-router/client';
 * import { typedOperationsOf } from '@apistrata/microversion-router';
 * import { z } from 'zod';
 *
 * const ping = typedOperationsOf<object>()({
 *   method: 'GET',
 *   path: '/ping',
 *   summary: 'Check the connection',
 *   status: 200,
 *   reply: { pong: z.boolean() },
 *   run: () => ({ pong: true }),
 * });
 * const operations = [ping];
 *
 * const client = createClient<typeof operations, '2026-11-22'>('https://api.example.com', { version: '2026-11-22' });
 * const result = await client('GET /ping');
 * if (result.ok) console.log(result.data.pong);
 * ```
 */
export function createClient<const Api extends TypedApi, const V extends string>(
  url: string,
  options: ClientOptions<V>,
): Client<Api, V> {
  const { version, versionHeaders = (text: V) => ({ 'API-Version': text }), headers } = options;
  const send = async (operation: string, parts: AnyRequestParts = {}) => {
    const [method = 'GET', path = '/'] = operation.split(' ');
    const hasBody = parts.body !== undefined;
    const response = await (options.fetch ?? fetch)(requestUrl(url, path, parts), {
      method,
      headers: {
        accept: 'application/json, application/problem+json',
        ...(hasBody && { 'content-type': 'application/json' }),
        ...versionHeaders(version),
        ...(typeof headers === 'function' ? await headers() : headers),
        ...parts.headers,
      },
      ...(hasBody && { body: JSON.stringify(parts.body) }),
      ...(parts.signal && { signal: parts.signal }),
    });
    const { ok, status } = response;
    const content = await readContent(response);
    if (ok) return { ok, status, data: content, response };
    const error = typeof content === 'object' && content !== null ? content : { status, detail: content };
    return { ok, status, error, response };
  };
  return send as unknown as Client<Api, V>;
}
