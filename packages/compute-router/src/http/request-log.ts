import { createRequire } from 'node:module';
import { requestId } from '@apistrata/request-id';
import type { Logger, SerializedRequest } from 'pino';
import { redactHeaders, redactQuery, redactSecrets } from './log-secrets.js';
import type { Middleware } from './middleware.js';

/** Redacts the secrets in a logged request's URL, query and headers. */
function redactRequest({ url, query, headers }: Pick<SerializedRequest, 'url' | 'query' | 'headers'>) {
  return { url: redactSecrets(url), query: redactQuery(query), headers: redactHeaders(headers) };
}

/** Creates the middleware that logs each response without secrets. */
export function requestLog(logger: Logger): Middleware {
  // The package `pino-http` is loaded only if requests are logged.
  const { pinoHttp }: typeof import('pino-http') = createRequire(import.meta.url)('pino-http');
  return pinoHttp({
    logger,
    genReqId: requestId({ preset: 'openstack' }).genReqId,
    // The `redact` option of pino would search every log entry for each of these headers.
    serializers: {
      req: (req) => Object.assign(req, redactRequest(req)),
      res: (res) => Object.assign(res, { headers: redactHeaders(res.headers) }),
    },
    customLogLevel: (req, res, error) => {
      // A client may disconnect at any time, which is not a server failure.
      if (!res.writableFinished && req.socket.destroyed) return 'info';
      return error || res.statusCode >= 500 ? 'error' : res.statusCode >= 400 ? 'warn' : 'info';
    },
  });
}
