/** Labels for parts that are not body fields, by the first word of the part's name. */
const KIND_LABELS: Readonly<Record<string, string>> = {
  query: 'the query parameter',
  path: 'the path parameter',
  header: 'the request header',
  cookie: 'the cookie',
  headers: 'the response header',
  accepts: 'the request type',
  returns: 'the response type',
};

/** Returns whether a part belongs to the request. */
export function isRequestPart(name: string): boolean {
  return /^(?:body\b|(?:query|path|header|cookie)\.)/.test(name);
}

/** Returns a label for a dotted part name, such as "the query parameter limit" for `query.limit`. */
export function partLabel(name: string): string {
  if (name === 'status') return 'the status';
  const status = /^(errors|statuses)\.(\w+)(?:\.(.+)|\[\](.*))?$/.exec(name);
  if (status) {
    const [, kind, code, field, items] = status;
    const label = `the ${kind === 'errors' ? 'error' : 'status'} ${code}`;
    const inner = field ?? (items === undefined ? undefined : `[]${items}`);
    return inner === undefined ? label : `${inner} in the response of ${label}`;
  }
  const kind = /^(\w+)\./.exec(name)?.[1] ?? '';
  const label = Object.hasOwn(KIND_LABELS, kind) ? KIND_LABELS[kind] : undefined;
  if (label !== undefined) return `${label} ${name.slice(kind.length + 1)}`;
  if (name === 'body') return 'the request body';
  if (name === 'reply') return 'the response';
  if (name.startsWith('body.')) return `${name.slice('body.'.length)} in the request`;
  return `${name.replace(/^reply\.?/, '')} in the response`;
}

/** Returns the last segment of a dotted part name: `name` for `body.server.name`, and `[each]` for list items. */
export function lastSegment(name: string): string {
  const kind = /^(\w+)\./.exec(name)?.[1] ?? '';
  if (Object.hasOwn(KIND_LABELS, kind)) return name.slice(kind.length + 1);
  if (name.endsWith('[]')) return '[each]';
  if (name.endsWith('.*')) return '(any key)';
  return name.slice(name.lastIndexOf('.') + 1);
}
