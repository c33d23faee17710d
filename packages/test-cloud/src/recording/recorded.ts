import { parseJson } from '../gateway/body-tap.js';
import type { HarEntry } from './har.js';
import type { Headers } from './shape.js';

/** A request and its response, parsed from a recording. */
export interface Recorded {
  readonly number: number;
  readonly method: string;
  /** The path and query string of the request. */
  readonly url: string;
  readonly requestHeaders: Headers;
  readonly requestBody: unknown;
  readonly status: number;
  readonly responseHeaders: Headers;
  readonly responseBody: unknown;
}

const headersOf = (pairs: HarEntry['request']['headers']): Headers =>
  Object.fromEntries(pairs.map(({ name, value }) => [name.toLowerCase(), value]));

/** Parses an entry of a HAR file. @param index the position of the entry, counted from 0 */
export function readEntry({ request, response }: HarEntry, index: number): Recorded {
  const { pathname, search } = new URL(request.url);
  return {
    number: index + 1,
    method: request.method,
    url: `${pathname}${search}`,
    requestHeaders: headersOf(request.headers),
    requestBody: parseJson(request.postData?.text ?? ''),
    status: response.status,
    responseHeaders: headersOf(response.headers),
    responseBody: parseJson(response.content.text ?? ''),
  };
}
