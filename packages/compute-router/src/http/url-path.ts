import type { IncomingMessage } from 'node:http';

/** Returns the path of a request, without the query. */
export function urlPath({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const queryStart = url.indexOf('?');
  return queryStart < 0 ? url : url.slice(0, queryStart);
}
