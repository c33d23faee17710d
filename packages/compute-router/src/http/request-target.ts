import type { IncomingMessage } from 'node:http';

/**
 * A request target as the API reads it: in origin form, with several slashes of its path counted as one. Of a target
 * with scheme and host (as clients of proxies send them) just the path is looked at: links keep to the `Host` header.
 */
export function originForm(target: string): string {
  if (target.startsWith('/') && !target.includes('//')) return target;
  const local = target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const mark = local.indexOf('?');
  const path = (mark < 0 ? local : local.slice(0, mark)).replaceAll(/\/{2,}/g, '/');
  return `${path.startsWith('/') || path === '*' ? path : `/${path}`}${mark < 0 ? '' : local.slice(mark)}`;
}

/** Writes the target of a request as everybody behind reads it. */
export function normalizeTarget(req: IncomingMessage): void {
  const target = req.url ?? '/';
  const normal = originForm(target);
  if (normal !== target) req.url = normal;
}
