/**
 * Returns the response headers of `enforceQuota()` that pages of other origins may read, for `cors({ ...corsHeaders() })`. It
 * reads no request headers, so the list of allowed headers is empty.
 */
export function corsHeaders(): { exposedHeaders: string[]; allowedHeaders: string[] } {
  return { exposedHeaders: ['RateLimit', 'RateLimit-Policy', 'Retry-After'], allowedHeaders: [] };
}
