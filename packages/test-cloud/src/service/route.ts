import type { Call } from './call.js';

/** An answer that is more than 200 with a body. */
export class Reply {
  constructor(
    readonly status: number,
    readonly body?: unknown,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

export type Run = (call: Call) => unknown;

/** One method on one path. */
export interface Route {
  readonly method: 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete';
  /** As Express writes it: `/v2.0/ports/:id`. */
  readonly path: string;
  /** Whether it answers without token. */
  readonly open: boolean;
  /** Gives the body of a 200, or a {@link Reply}; undefined when it has answered itself. */
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
/** Routes that answer without token: what clients ask before they have one. */
export const openGet = define('get', true);
export const openPost = define('post', true);

export const created = (body: unknown) => new Reply(201, body);
export const accepted = (body?: unknown) => new Reply(202, body);
export const noContent = () => new Reply(204);
