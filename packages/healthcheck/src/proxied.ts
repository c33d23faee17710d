import type { IncomingMessage } from 'node:http';

/** Headers that mark a request as forwarded by a proxy. */
const FORWARDED = [
  'x-forwarded',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-prefix',
] as const;

/** Returns true if the request has a non-empty forwarding header. */
export function isProxied(req: IncomingMessage): boolean {
  return FORWARDED.some((name) => Boolean(req.headers[name]));
}
