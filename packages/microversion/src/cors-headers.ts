import type { VersionMiddleware } from './negotiation/version-middleware.js';

/**
 * Returns the response headers that pages from other origins may read and the request headers that they may send, for
 * `cors({ ...corsHeaders(versions) })`. The argument is `versioning()` or `microversion()` middleware.
 */
export function corsHeaders({ headers }: VersionMiddleware): { exposedHeaders: string[]; allowedHeaders: string[] } {
  // CORS always allows the request header `Accept`, so it is not listed.
  return { exposedHeaders: [...headers.written], allowedHeaders: headers.read.filter((name) => name !== 'Accept') };
}
