import type { Server } from 'node:http';
import type { Engine } from '@apistrata/compute-engine';
import { guardServer } from '@apistrata/healthcheck/server';
import { type Logger, pino } from 'pino';
import { openControl } from './admin/control-socket.js';
import { compose } from './compose.js';
import { databaseFrom, isFile, withoutPassword } from './database-url.js';
import { expressServer } from './express-server.js';
import { metricsServer } from './metrics-server.js';
import { observationFrom } from './observation.js';
import type { Options } from './options.js';
import { limitsFrom, planFrom } from './plan.js';
import { rateLimitsFrom } from './rate-limits.js';
import { StartError } from './start-error.js';

/** A server that runs, and how to end it. */
export interface Running {
  readonly url: string;
  readonly database: string;
  /** Where metrics are, if they have a port of their own. */
  readonly metricsUrl: string | undefined;
  readonly engine: Engine;
  readonly log: Logger;
  /** Takes policies, log level, limits of connections and rates from new options. Rejects, and changes nothing, when they are wrong. */
  readonly reload: (options: Options) => Promise<void>;
  /** Health fails first; requests go on to be answered for the drain time; then connections end and work is handed back. */
  readonly stop: () => Promise<void>;
  /** How long `stop` takes at the most until all connections are closed. */
  readonly stopsWithinMs: number;
}

/** Time that requests in flight have to end once the drain time is over. */
const GRACE_MS = 8_000;

const LISTEN_TROUBLE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken: end the other program, or choose another one with --port',
  EACCES: 'needs rights that this user does not have: choose one above 1023 with --port',
  EADDRNOTAVAIL: 'cannot be used, for this machine does not have that address: choose one with --host',
  ENOTFOUND: 'cannot be used, for nobody knows that host: give an address with --host',
};

/** Listens, and tells the address. The names of the options that say where begin with `prefix`. */
function listen(server: Server, host: string, port: number, prefix = ''): Promise<string> {
  return new Promise((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = LISTEN_TROUBLE[error.code ?? ''] ?? `cannot be used: ${error.message}`;
      fail(new StartError(`port ${port} of ${host} ${why.replace('--', `--${prefix}`)}`));
    });
    server.listen(port, host, () => {
      const { port: taken } = server.address() as { port: number };
      done(`http://${host.includes(':') ? `[${host}]` : host}:${taken}`);
    });
  });
}

/** Starts everything. Throws {@link StartError} with one clear line when that is impossible; nothing is left running. */
export async function serve(options: Options, environment: NodeJS.ProcessEnv): Promise<Running> {
  const log = pino({ level: options['log-level'] });
  const plan = planFrom(options, environment, await observationFrom(options));
  const database = databaseFrom(options);
  const { engine, health, rateLimits, app, close: closeEngine } = await compose(plan, database, log);
  const { metrics } = plan.observation;
  const monitored = metrics && options['metrics-port'] !== undefined ? metricsServer(metrics) : undefined;
  const close = async () => {
    monitored?.close();
    monitored?.closeAllConnections();
    await closeEngine();
  };
  try {
    const server = expressServer(app);
    const guarded = guardServer(server, plan.limits);
    metrics?.scrape({ engine, server: guarded });
    const metricsUrl =
      monitored && (await listen(monitored, options['metrics-host'], options['metrics-port']!, 'metrics-'));
    const url = await listen(server, options.host, options.port);
    const closeControl = isFile(database) ? await openControl(engine, database, log) : undefined;
    return {
      url,
      metricsUrl: metricsUrl && `${metricsUrl}/metrics`,
      database: withoutPassword(database),
      engine,
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
        // Streams have no end of their own, and would hold the others up.
        engine.events.endReading();
        await guarded.drain({ health, delayMs: options['drain-ms'], graceMs: GRACE_MS });
        await closeControl?.();
        await close();
      },
      stopsWithinMs: options['drain-ms'] + GRACE_MS,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Checks options and the files they name as a start would, without opening the database or a port.
 *
 * @throws StartError for the first thing that is wrong
 */
export async function checkConfig(options: Options, environment: NodeJS.ProcessEnv): Promise<void> {
  const composed = await compose(
    planFrom(options, environment, await observationFrom(options)),
    ':memory:',
    pino({ level: 'silent' }),
    false,
  );
  await composed.close();
}
