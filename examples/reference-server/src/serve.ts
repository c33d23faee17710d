import type { Engine } from '@apistrata/compute-engine';
import type { MetricsSource, PrometheusMetrics } from '@apistrata/compute-router/prometheus';
import { type DrainOptions, guardServer } from '@apistrata/healthcheck/server';
import { type Logger, pino } from 'pino';
import { openControlSocket } from './admin/control-socket.js';
import { checkEnvironment } from './check-environment.js';
import { warnIfUnauthenticated } from './check-listening.js';
import type { AdminCredentials } from './cloud/cloud.js';
import { composeServer } from './compose.js';
import { startConsoleProxy } from './consoles/open-consoles.js';
import { databaseFrom, isSqliteFile, maskPassword } from './database-url.js';
import { expressServer } from './express-server.js';
import { clientUrl, listen } from './listen.js';
import { createMetricsServer } from './metrics-server.js';
import { observationFrom } from './observation.js';
import { openLog } from './open-log.js';
import type { Options } from './options.js';
import { limitsFrom, planFrom } from './plan.js';
import { rateLimitsFrom } from './rate-limits.js';
import { sendTraces } from './send-traces.js';
import { IN_FLIGHT_GRACE_MS, RETIRED_WORKER_IDLE_MS } from './shutdown-times.js';

/** A running server, and functions that stop it. */
export interface RunningServer {
  readonly url: string;
  readonly database: string;
  /** URL of the metrics endpoint, if it has a separate port. */
  readonly metricsUrl: string | undefined;
  readonly engine: Engine;
  /** The credentials of the first administrator, if this start with `--cloud` created them. */
  readonly firstAccess: AdminCredentials | undefined;
  /** The metrics of this process, if they are enabled. */
  readonly metrics: PrometheusMetrics | undefined;
  readonly log: Logger;
  /**
   * Applies the policies, log level, connection limits and rate limits in new options. If the options are invalid, the
   * promise rejects and nothing changes.
   */
  readonly reload: (options: Options) => Promise<void>;
  /**
   * Shuts down gracefully: health fails first; requests are served for the drain time; then connections are closed and
   * leases are released.
   */
  readonly stop: () => Promise<void>;
  /**
   * Drains a replaced worker: new connections are rejected, the health status does not change, and open connections
   * are served until their clients close them or are idle for a few seconds. `stop` ends this early.
   */
  readonly retire: () => Promise<void>;
  /** The maximum time that `stop` takes to close all connections. */
  readonly stopsWithinMs: number;
}

/**
 * Starts the server.
 *
 * @param workerMetrics in a worker, the source of all workers' metrics, because the primary process serves the metrics
 *   port
 * @throws {@link StartError} with one line, after stopping everything that was started
 */
export async function serve(
  options: Options,
  environment: NodeJS.ProcessEnv,
  workerMetrics?: MetricsSource,
): Promise<RunningServer> {
  const log = await openLog(options);
  warnIfUnauthenticated(options, log);
  const initialPlan = planFrom(options, environment, await observationFrom(options, workerMetrics));
  const database = databaseFrom(options);
  const consoles = await startConsoleProxy(options, log);
  const plan = { ...initialPlan, settings: { ...consoles?.settings, ...initialPlan.settings } };
  const parts = await composeServer(plan, database, log).catch((error) => {
    consoles?.close();
    throw error;
  });
  const { engine, health, rateLimits, app, cloud, close: closeEngine } = parts;
  consoles?.use(engine);
  const { metrics, scrapeHandler } = plan.observation;
  const scrapeServer =
    scrapeHandler && !workerMetrics && options['metrics-port'] !== undefined
      ? createMetricsServer(scrapeHandler)
      : undefined;
  const close = async () => {
    scrapeServer?.close();
    scrapeServer?.closeAllConnections();
    consoles?.close();
    await closeEngine();
    await sendTraces(plan.observation, log);
  };
  try {
    const server = expressServer(app);
    // Without this option, Node passes rejected connections to other workers, repeatedly if all of them are full.
    Object.assign(server, { dropMaxConnection: true });
    const guardedServer = guardServer(server, plan.limits);
    metrics?.scrape({ engine, server: guardedServer });
    const metricsUrl =
      scrapeServer && (await listen(scrapeServer, options['metrics-host'], options['metrics-port'] ?? 0, 'metrics-'));
    const url = await listen(server, options.host, options.port);
    const adminCredentials = await cloud?.begin(clientUrl(url)).catch((error) => {
      server.close();
      throw error;
    });
    const closeControlSocket = isSqliteFile(database) ? await openControlSocket(engine, database, log) : undefined;
    let shutdownPromise: Promise<void> | undefined;
    const drainAndClose = async (options: DrainOptions) => {
      // Event streams never end on their own, and would delay the shutdown.
      engine.events.endReading();
      await guardedServer.drain(options);
      await closeControlSocket?.();
      await close();
    };
    return {
      url,
      metricsUrl: metricsUrl && `${metricsUrl}/metrics`,
      database: maskPassword(database),
      engine,
      firstAccess: adminCredentials,
      metrics,
      log,
      async reload(changedOptions) {
        const limits = limitsFrom(changedOptions);
        const changedRateLimits = rateLimitsFrom(changedOptions);
        plan.policies.reload({ file: changedOptions['policy-file'] });
        guardedServer.limit(limits);
        log.level = changedOptions['log-level'];
        await rateLimits.apply(changedRateLimits);
      },
      async stop() {
        if (shutdownPromise) setTimeout(() => server.closeAllConnections(), IN_FLIGHT_GRACE_MS).unref();
        shutdownPromise ??= drainAndClose({ health, delayMs: options['drain-ms'], graceMs: IN_FLIGHT_GRACE_MS });
        await shutdownPromise;
      },
      async retire() {
        const { keepAliveMs } = plan.limits;
        shutdownPromise ??= drainAndClose({
          delayMs: 0,
          quietMs: Math.min(keepAliveMs, RETIRED_WORKER_IDLE_MS),
          graceMs: keepAliveMs + IN_FLIGHT_GRACE_MS,
        });
        await shutdownPromise;
      },
      stopsWithinMs: options['drain-ms'] + IN_FLIGHT_GRACE_MS,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Checks options, files, addresses and folders as `serve()` does, but opens no database and creates nothing.
 *
 * @throws StartError for the first problem
 */
export async function checkConfig(options: Options, environment: NodeJS.ProcessEnv): Promise<void> {
  await checkEnvironment(options);
  const parts = await composeServer(
    planFrom(options, environment, await observationFrom(options)),
    ':memory:',
    pino({ level: 'silent' }),
    false,
  );
  await parts.close();
}
