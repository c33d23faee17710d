import type { IncomingMessage } from 'node:http';

/** The path that a request asks for: what stands before the query. */
export function urlPath({ url = '/' }: IncomingMessage): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}
