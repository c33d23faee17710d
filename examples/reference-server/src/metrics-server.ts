import { createServer, type Server } from 'node:http';
import type { MetricsHandler } from '@apistrata/compute-router/prometheus';

/** The timeout of a metrics request, which may have to wait for a slow database. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Responds with 404 to requests for paths other than `/metrics`. */
const rejectUnknownPath: MetricsHandler = (_req, res) => {
  res.writeHead(404, { 'Content-Length': 0 }).end();
};

/**
 * Creates a separate server for metrics, so that clients of the API have no access to them.
 *
 * @param otherHandler handles all other paths; default: 404
 */
export function createMetricsServer(handler: MetricsHandler, otherHandler = rejectUnknownPath): Server {
  const server = createServer((req, res) => {
    if (/^\/metrics(?:\?|$)/.test(req.url ?? '')) handler(req, res);
    else otherHandler(req, res);
  });
  server.maxConnections = 20;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.headersTimeout = REQUEST_TIMEOUT_MS;
  server.timeout = 2 * REQUEST_TIMEOUT_MS;
  return server;
}
