import type { ServerResponse } from 'node:http';

const UNAUTHORIZED_BODY = JSON.stringify({
  error: { code: 401, title: 'Unauthorized', message: 'This request needs a valid token in X-Auth-Token.' },
});

/**
 * Sends a 401 response in the identity middleware's format instead of a compute API fault, because clients read the
 * field `error` in the body and the identity service's URL in `WWW-Authenticate`.
 *
 * @param uri URL of the identity service
 */
export function sendUnauthorized(res: ServerResponse, uri: string): void {
  res.statusCode = 401;
  res.setHeader('WWW-Authenticate', `Keystone uri="${uri.replace(/[^\x21\x23-\x5b\x5d-\x7e]/gu, encodeURIComponent)}"`);
  res.setHeader('Content-Type', 'application/json');
  res.setHeader('Content-Length', Buffer.byteLength(UNAUTHORIZED_BODY));
  res.end(UNAUTHORIZED_BODY);
}
