/**
 * Returns the response headers of `enforceQuota()` that pages from other origins may read, for
 * `cors({ ...corsHeaders() })`. The list of allowed request headers is empty, because `enforceQuota()` does not read
 * request headers.
 */
export function corsHeaders(): { exposedHeaders: string[]; allowedHeaders: string[] } {
  return { exposedHeaders: ['RateLimit', 'RateLimit-Policy', 'Retry-After'], allowedHeaders: [] };
}
