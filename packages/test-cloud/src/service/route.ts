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

/** Handles requests with a given method and path. */
export interface Route {
  readonly method: 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete';
  /** The path pattern in Express notation, such as `/v2.0/ports/:id`. */
  readonly path: string;
  /** Whether clients can use the route without a token. */
  readonly open: boolean;
  /**
   * The changes that run serially with this one: those in the same collection, those that name the same resource, or
   * none (for slow changes, if the storage rejects conflicts). Default: `none` for GET and for routes that require no
   * token, otherwise `collection`.
   */
  readonly serializedBy?: 'collection' | 'resource' | 'none';
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
/** Sets which changes run serially with those of a route, unless the route sets this itself. */
export const serialized = (serializedBy: Route['serializedBy'], route: Route): Route => ({ serializedBy, ...route });
/** Defines a GET route that requires no token, as version discovery needs. */
export const openGet = define('get', true);
export const openPost = define('post', true);

export const created = (body: unknown) => new Reply(201, body);
export const accepted = (body?: unknown) => new Reply(202, body);
export const noContent = () => new Reply(204);
