import { createServer, type Server } from 'node:http';
import type { MetricsHandler } from '@apistrata/compute-router/prometheus';

/** A scrape waits for a slow database, but at most this long. */
const REQUEST_MS = 30_000;

/** Creates a separate server for metrics, so that clients of the API have no access to them. It serves nothing else. */
export function metricsServer(handler: MetricsHandler): Server {
  const server = createServer((req, res) => {
    if (/^\/metrics(?:\?|$)/.test(req.url ?? '')) handler(req, res);
    else res.writeHead(404, { 'Content-Length': 0 }).end();
  });
  server.maxConnections = 20;
  server.requestTimeout = REQUEST_MS;
  server.headersTimeout = REQUEST_MS;
  server.timeout = 2 * REQUEST_MS;
  return server;
}
