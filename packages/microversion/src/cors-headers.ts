import type { VersionMiddleware } from './negotiation/version-middleware.js';

/**
 * Returns the response headers that pages of other origins may read and the request headers that they may send, for
 * `cors({ ...corsHeaders(versions) })` with the middleware of `versioning()` or `microversion()`.
 */
export function corsHeaders({ headers }: VersionMiddleware): { exposedHeaders: string[]; allowedHeaders: string[] } {
  // CORS always allows the request header `Accept`.
  return { exposedHeaders: [...headers.written], allowedHeaders: headers.read.filter((name) => name !== 'Accept') };
}
