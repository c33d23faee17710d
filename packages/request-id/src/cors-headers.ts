import { type RequestIdOptions, settingsFrom } from './settings.js';

/**
 * Returns the headers of `requestId()` for `cors({ ...corsHeaders(options) })`: the response headers that pages from
 * other origins may read, and the request headers that they may send. Pass the same options as to `requestId()`.
 *
 * @throws TypeError for options that `requestId()` does not accept
 */
export function corsHeaders(options: RequestIdOptions = {}): { exposedHeaders: string[]; allowedHeaders: string[] } {
  const { headers, inbound } = settingsFrom(options);
  return { exposedHeaders: headers.map(({ name }) => name), allowedHeaders: inbound.map(({ name }) => name) };
}
