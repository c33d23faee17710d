import type { IncomingMessage } from 'node:http';

/**
 * Returns a request target in origin form, with repeated slashes in the path merged. Removes the scheme and host that
 * clients send to proxies, because links are created from the `Host` header.
 */
export function toOriginForm(target: string): string {
  if (target.startsWith('/') && !target.includes('//')) return target;
  const pathAndQuery = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const queryStart = pathAndQuery.indexOf('?');
  const path = (queryStart < 0 ? pathAndQuery : pathAndQuery.slice(0, queryStart)).replaceAll(/\/{2,}/g, '/');
  const query = queryStart < 0 ? '' : pathAndQuery.slice(queryStart);
  return `${path.startsWith('/') || path === '*' ? path : `/${path}`}${query}`;
}

/** Converts `req.url` to origin form, for all later middlewares. */
export function normalizeTarget(req: IncomingMessage): void {
  const target = req.url ?? '/';
  const normalizedTarget = toOriginForm(target);
  if (normalizedTarget !== target) req.url = normalizedTarget;
}
