import type { IncomingMessage } from 'node:http';

/** Headers that mark a request as forwarded by a proxy. */
const FORWARDING_HEADERS = [
  'x-forwarded',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-prefix',
] as const;

/** Returns whether a request has a non-empty header that proxies add when they forward it. */
export function isProxied(req: IncomingMessage): boolean {
  return FORWARDING_HEADERS.some((name) => Boolean(req.headers[name]));
}
