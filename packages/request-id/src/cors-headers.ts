import { type RequestIdOptions, settingsFrom } from './settings.js';

/**
 * Returns the response headers that pages of other origins may read and the request headers that they may send, for
 * `cors({ ...corsHeaders(options) })`: those of `requestId()` with the same options.
 *
 * @throws TypeError for options that `requestId()` does not accept
 */
export function corsHeaders(options: RequestIdOptions = {}): { exposedHeaders: string[]; allowedHeaders: string[] } {
  const { headers, inbound } = settingsFrom(options);
  return { exposedHeaders: headers.map(({ name }) => name), allowedHeaders: inbound.map(({ name }) => name) };
}
