import type { IncomingMessage } from 'node:http';

/**
 * Returns a request target in origin form, with repeated slashes in its path merged. If a target contains scheme and
 * host (as sent by clients of proxies), only the path is used: links use the `Host` header.
 */
export function originForm(target: string): string {
  if (target.startsWith('/') && !target.includes('//')) return target;
  const local = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const mark = local.indexOf('?');
  const path = (mark < 0 ? local : local.slice(0, mark)).replaceAll(/\/{2,}/g, '/');
  return `${path.startsWith('/') || path === '*' ? path : `/${path}`}${mark < 0 ? '' : local.slice(mark)}`;
}

/** Normalizes `req.url` for all later middleware. */
export function normalizeTarget(req: IncomingMessage): void {
  const target = req.url ?? '/';
  const normal = originForm(target);
  if (normal !== target) req.url = normal;
}
