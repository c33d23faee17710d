/**
 * Returns the response headers of `enforceQuota()` that pages of other origins may read, for `cors({ ...corsHeaders() })`. Pages
 * do not need to send any.
 */
export function corsHeaders(): { exposedHeaders: string[]; allowedHeaders: string[] } {
  return { exposedHeaders: ['RateLimit', 'RateLimit-Policy', 'Retry-After'], allowedHeaders: [] };
}
