/** Returns a label for a dotted part name, such as "the query parameter limit" for `query.limit`. */
export function partLabel(name: string): string {
  if (name === 'status') return 'the status';
  if (name.startsWith('errors.')) return `the error ${name.slice('errors.'.length)}`;
  if (name.startsWith('query.')) return `the query parameter ${name.slice('query.'.length)}`;
  if (name === 'body') return 'the request body';
  if (name === 'reply') return 'the response';
  if (name.startsWith('body.')) return `${name.slice('body.'.length)} in the request`;
  return `${name.replace(/^reply\.?/, '')} in the response`;
}

/** How deep a field lies in its body: `body.server.name` is at 1. */
export function depthOf(name: string): number {
  return name.split(/\.|(?=\[\])/).length - 2;
}

/** The last word of a dotted name: `name` of `body.server.name`, `each` of what repeats. */
export function ownName(name: string): string {
  if (name.endsWith('[]')) return '[each]';
  if (name.endsWith('.*')) return '(any key)';
  return name.slice(name.lastIndexOf('.') + 1);
}
