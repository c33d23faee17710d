import type { IncomingMessage } from 'node:http';

/**
 * Returns a request target in origin form, with repeated slashes in the path merged. Scheme and host, which clients of
 * proxies send, are removed, because links are created from the `Host` header.
 */
export function originForm(target: string): string {
  if (target.startsWith('/') && !target.includes('//')) return target;
  const withoutOrigin = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const queryStart = withoutOrigin.indexOf('?');
  const path = (queryStart < 0 ? withoutOrigin : withoutOrigin.slice(0, queryStart)).replaceAll(/\/{2,}/g, '/');
  const query = queryStart < 0 ? '' : withoutOrigin.slice(queryStart);
  return `${path.startsWith('/') || path === '*' ? path : `/${path}`}${query}`;
}

/** Converts `req.url` to origin form, for all later middlewares. */
export function normalizeTarget(req: IncomingMessage): void {
  const target = req.url ?? '/';
  const normalized = originForm(target);
  if (normalized !== target) req.url = normalized;
}
