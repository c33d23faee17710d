import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Version } from '../version.js';
import type { RenderError } from './error-response.js';

/** The parts of the `versioning()` and `microversion()` middleware that the framework entry points use. */
export interface VersionMiddleware {
  /**
   * Negotiates one request without calling a handler: sets `req.microversion` and the response headers. Returns a promise
   * only if the `default` option of `versioning()` is a function that returns one.
   *
   * @throws RequestError for versions that are malformed, missing or not supported
   */
  readonly negotiate: (req: IncomingMessage, res: ServerResponse) => Version | Promise<Version>;
  /** Returns the response body for an error, in the format that the option `errors` selects; undefined for `next`. */
  readonly errorBody: RenderError;
  /** The request headers that the middleware reads, and the response headers that it writes. */
  readonly headers: { readonly read: readonly string[]; readonly written: readonly string[] };
  /** The name of the version source that removes the version from the path; undefined if no source does. */
  readonly pathSource: string | undefined;
}
