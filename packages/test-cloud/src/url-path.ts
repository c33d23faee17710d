/** The path of a URL or of a request's target: what stands before the query. */
export function urlPath(url: string): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}
