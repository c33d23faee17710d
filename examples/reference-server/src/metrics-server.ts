import { createServer, type Server } from 'node:http';
import type { MetricsHandler } from '@apistrata/compute-router/prometheus';

/** Answers of a scrape wait for the database where that is slow; whoever asks waits no longer than this. */
const REQUEST_MS = 30_000;

/** A server of its own for metrics, so that a network that clients reach need not have them. It serves nothing else. */
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
