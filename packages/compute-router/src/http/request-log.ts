import { createRequire } from 'node:module';
import { requestId } from '@apistrata/request-id';
import type { Logger, SerializedRequest } from 'pino';
import { redactHeaders, redactQuery, redactSecrets } from './log-secrets.js';
import type { Middleware } from './middleware.js';

/** Returns the URL, the query and the headers of a request, without secrets. */
function redactRequest({ url, query, headers }: Pick<SerializedRequest, 'url' | 'query' | 'headers'>) {
  return { url: redactSecrets(url), query: redactQuery(query), headers: redactHeaders(headers) };
}

/** Creates the step that logs each response, without secrets. */
export function requestLog(logger: Logger): Middleware {
  // Loaded only if requests are logged.
  const { pinoHttp }: typeof import('pino-http') = createRequire(import.meta.url)('pino-http');
  return pinoHttp({
    logger,
    genReqId: requestId({ preset: 'openstack' }).genReqId,
    // pino's `redact` option would search every entry for each of these headers.
    serializers: {
      req: (req) => Object.assign(req, redactRequest(req)),
      res: (res) => Object.assign(res, { headers: redactHeaders(res.headers) }),
    },
    customLogLevel: (req, res, error) => {
      // A client may disconnect at any time: this is not a failure of the server.
      if (!res.writableFinished && req.socket.destroyed) return 'info';
      return error || res.statusCode >= 500 ? 'error' : res.statusCode >= 400 ? 'warn' : 'info';
    },
  });
}
