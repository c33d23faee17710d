import type { Call } from './call.js';

/** A response with a status other than 200, with headers, or without a body. */
export class Reply {
  constructor(
    readonly status: number,
    readonly body?: unknown,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

export type Run = (call: Call) => unknown;

/** The handler of requests with a method and a path. */
export interface Route {
  readonly method: 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete';
  /** The path pattern in Express notation, such as `/v2.0/ports/:id`. */
  readonly path: string;
  /** Whether clients can use the route without a token. */
  readonly open: boolean;
  /** Whether changes run concurrently, because they take long and the storage rejects those that conflict. */
  readonly concurrent?: true;
  /** Returns the body of a 200 response, or a {@link Reply}; undefined if it has already sent the response. */
  readonly run: Run;
}

const define =
  (method: Route['method'], open = false) =>
  (path: string, run: Run): Route => ({ method, path, open, run });

export const get = define('get');
export const head = define('head');
export const post = define('post');
export const put = define('put');
export const patch = define('patch');
export const del = define('delete');
/** Allows concurrent changes to the same resource. By default, they run serially. */
export const concurrently = (route: Route): Route => ({ ...route, concurrent: true });
/** Defines a GET route that requires no token, as version discovery needs. */
export const openGet = define('get', true);
export const openPost = define('post', true);

export const created = (body: unknown) => new Reply(201, body);
export const accepted = (body?: unknown) => new Reply(202, body);
export const noContent = () => new Reply(204);
