import type { IncomingMessage } from 'node:http';

/** Returns the path of a request, without the query. */
export function urlPath({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}
