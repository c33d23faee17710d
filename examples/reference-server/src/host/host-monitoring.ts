import type { Host, HostOptions } from '@apistrata/compute-engine/hosts';
import type { Healthcheck } from '@apistrata/healthcheck';
import type { Logger } from 'pino';
import { createHostHealthEndpoint } from '../health.js';
import { listen } from '../listen.js';
import { createMetricsServer } from '../metrics-server.js';
import type { Options } from '../options.js';

/** The metrics and health endpoints that a host process serves on `--metrics-port`. */
export interface HostMonitoring {
  /** URL of the metrics. */
  readonly url: string;
  /** Observes the database connections of the host. */
  readonly observer: HostOptions['observer'];
  /** Sets the host whose metrics and health are served; before that, both are unavailable. */
  use(host: Host): void;
  close(): void;
}

/**
 * Listens on `--metrics-port` before the host joins the cloud, so that the host does not start if the port is in use.
 * Returns undefined without that option; packages for metrics are then not loaded.
 *
 * @throws StartError
 */
export async function openHostMonitoring(options: Options, log: Logger): Promise<HostMonitoring | undefined> {
  const { 'metrics-port': port, 'metrics-host': address } = options;
  if (port === undefined) return undefined;
  const { prometheusHostMetrics } = await import('@apistrata/compute-router/prometheus');
  const metrics = prometheusHostMetrics();
  let runningHost: Host | undefined;
  let serve: typeof metrics.handler = (_req, res) => {
    res.writeHead(503, { 'Content-Length': 0 }).end();
  };
  const health: Healthcheck = createHostHealthEndpoint(options, () => runningHost, log);
  const server = createMetricsServer((req, res) => serve(req, res), health);
  const url = await listen(server, address, port, 'metrics-').catch((error) => {
    health.close();
    throw error;
  });
  return {
    url: `${url}/metrics`,
    observer: metrics.database,
    use(host) {
      runningHost = host;
      metrics.scrape(host);
      serve = metrics.handler;
    },
    close() {
      health.close();
      server.close();
      server.closeAllConnections();
    },
  };
}
