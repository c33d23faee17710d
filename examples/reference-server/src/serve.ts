import type { Engine } from '@apistrata/compute-engine';
import type { MetricsSource, PrometheusMetrics } from '@apistrata/compute-router/prometheus';
import { type DrainOptions, guardServer } from '@apistrata/healthcheck/server';
import { type Logger, pino } from 'pino';
import { openControl } from './admin/control-socket.js';
import { checkPlaces } from './check-places.js';
import { compose } from './compose.js';
import { openConsoles } from './consoles/open-consoles.js';
import { databaseFrom, isFile, withoutPassword } from './database-url.js';
import { GRACE_MS } from './end-times.js';
import { expressServer } from './express-server.js';
import { listen } from './listen.js';
import { metricsServer } from './metrics-server.js';
import { observationFrom } from './observation.js';
import { openLog } from './open-log.js';
import type { Options } from './options.js';
import { limitsFrom, planFrom } from './plan.js';
import { rateLimitsFrom } from './rate-limits.js';
import { sendTraces } from './send-traces.js';

/** A server that runs, and how to end it. */
export interface Running {
  readonly url: string;
  readonly database: string;
  /** Where metrics are, if they have a port of their own. */
  readonly metricsUrl: string | undefined;
  readonly engine: Engine;
  /** Those of this process, if anybody wants metrics. */
  readonly metrics: PrometheusMetrics | undefined;
  readonly log: Logger;
  /** Takes policies, log level, limits of connections and rates from new options. Rejects, and changes nothing, when they are wrong. */
  readonly reload: (options: Options) => Promise<void>;
  /** Health fails first; requests go on to be answered for the drain time; then connections end and work is handed back. */
  readonly stop: () => Promise<void>;
  /**
   * Another process has taken the place: nothing new is accepted, health stays what it is, and connections that are open are
   * served until their clients leave them or rest for `keepAliveMs`. `stop` hurries that.
   */
  readonly retire: () => Promise<void>;
  /** How long `stop` takes at the most until all connections are closed. */
  readonly stopsWithinMs: number;
}

/**
 * Starts everything. Throws {@link StartError} with one clear line when that is impossible; nothing is left running.
 *
 * @param group of a worker: who knows the metrics of all workers, and tells them on a port of their own
 */
export async function serve(options: Options, environment: NodeJS.ProcessEnv, group?: MetricsSource): Promise<Running> {
  const log = await openLog(options);
  const wanted = planFrom(options, environment, await observationFrom(options, group));
  const database = databaseFrom(options);
  const consoles = await openConsoles(options, log);
  const plan = { ...wanted, settings: { ...consoles?.settings, ...wanted.settings } };
  const composed = await compose(plan, database, log).catch((error) => {
    consoles?.close();
    throw error;
  });
  const { engine, health, rateLimits, app, close: closeEngine } = composed;
  consoles?.use(engine);
  const { metrics, scraped } = plan.observation;
  const monitored = scraped && !group && options['metrics-port'] !== undefined ? metricsServer(scraped) : undefined;
  const close = async () => {
    monitored?.close();
    monitored?.closeAllConnections();
    consoles?.close();
    await closeEngine();
    await sendTraces(plan.observation, log);
  };
  try {
    const server = expressServer(app);
    // Where there are other workers, Node would offer them what is one too many here, and again and again when all are full.
    Object.assign(server, { dropMaxConnection: true });
    const guarded = guardServer(server, plan.limits);
    metrics?.scrape({ engine, server: guarded });
    const metricsUrl =
      monitored && (await listen(monitored, options['metrics-host'], options['metrics-port']!, 'metrics-'));
    const url = await listen(server, options.host, options.port);
    const closeControl = isFile(database) ? await openControl(engine, database, log) : undefined;
    let leaving: Promise<void> | undefined;
    const leave = async (how: DrainOptions) => {
      // Streams have no end of their own, and would hold the others up.
      engine.events.endReading();
      await guarded.drain(how);
      await closeControl?.();
      await close();
    };
    return {
      url,
      metricsUrl: metricsUrl && `${metricsUrl}/metrics`,
      database: withoutPassword(database),
      engine,
      metrics,
      log,
      async reload(changed) {
        const limits = limitsFrom(changed);
        const rates = rateLimitsFrom(changed);
        plan.policies.reload({ file: changed['policy-file'] });
        guarded.limit(limits);
        log.level = changed['log-level'];
        await rateLimits.apply(rates);
      },
      async stop() {
        if (leaving) setTimeout(() => server.closeAllConnections(), GRACE_MS).unref();
        leaving ??= leave({ health, delayMs: options['drain-ms'], graceMs: GRACE_MS });
        await leaving;
      },
      async retire() {
        const { keepAliveMs } = plan.limits;
        leaving ??= leave({ delayMs: 0, quietMs: keepAliveMs, graceMs: keepAliveMs + GRACE_MS });
        await leaving;
      },
      stopsWithinMs: options['drain-ms'] + GRACE_MS,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Checks options, the files they name, addresses and folders as a start would. Opens no database and creates nothing.
 *
 * @throws StartError for the first fault
 */
export async function checkConfig(options: Options, environment: NodeJS.ProcessEnv): Promise<void> {
  await checkPlaces(options);
  const composed = await compose(
    planFrom(options, environment, await observationFrom(options)),
    ':memory:',
    pino({ level: 'silent' }),
    false,
  );
  await composed.close();
}
