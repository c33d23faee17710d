import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Version } from '../version.js';
import type { RenderError } from './error-response.js';

/** The parts of a middleware that the entry points for frameworks use: of `versioning()` or `microversion()`. */
export interface VersionMiddleware {
  /**
   * Negotiates one request without calling a handler: sets `req.microversion` and the response headers. Returns a promise
   * only if the version of the client is one.
   *
   * @throws RequestError for versions that are malformed, missing or not served
   */
  readonly negotiate: (req: IncomingMessage, res: ServerResponse) => Version | Promise<Version>;
  /** Returns the response body of an error by the option `errors`; undefined for `next`. */
  readonly errorBody: RenderError;
  /** The headers of requests that are read, and of responses that are written. */
  readonly headers: { readonly read: readonly string[]; readonly written: readonly string[] };
  /** The name of the source that removes the version from the path; undefined if there is none. */
  readonly pathSource: string | undefined;
}
