/** Returns the path of a URL or of a request target, without the query string. */
export function urlPath(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}
