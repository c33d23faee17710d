/** Returns the path of a URL or of a request target, without the query string. */
export function urlPath(url: string): string {
  const queryIndex = url.indexOf('?');
  return queryIndex < 0 ? url : url.slice(0, queryIndex);
}
