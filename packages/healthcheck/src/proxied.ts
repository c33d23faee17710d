import type { IncomingMessage } from 'node:http';

/** The headers by which a request counts as forwarded by a proxy. */
const FORWARDED = [
  'x-forwarded',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-prefix',
] as const;

/** True for a request that carries one of the forwarding headers, not empty. */
export function isProxied(req: IncomingMessage): boolean {
  return FORWARDED.some((name) => Boolean(req.headers[name]));
}
