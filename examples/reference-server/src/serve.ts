import type { Server } from 'node:http';
import {
  createEngine,
  DatabaseUnavailable,
  type Engine,
  SecretKeyError,
  SimulatedDriver,
} from '@apistrata/compute-engine';
import { type ComputeApi, computeApi, policies } from '@apistrata/compute-router';
import { type GuardedServer, guardServer } from '@apistrata/healthcheck/server';
import { defaultsFrom, projectQuotas } from '@apistrata/quota';
import { sqlStore } from '@apistrata/quota/sql';
import express from 'express';
import { type Logger, pino } from 'pino';
import { databaseFrom, secretKeyFile, withoutPassword } from './database-url.js';
import { expressServer } from './express-server.js';
import { healthFrom } from './health.js';
import { type Options, oneOf, StartError, wholeNumber } from './options.js';
import { readPreset } from './preset-file.js';
import { catalogsFrom, identityFrom } from './services.js';
import { connectionLimits, projectLimits, readDatabaseSettings, readSettings } from './settings.js';

/** A server that runs, and how to end it. */
export interface Running {
  readonly url: string;
  readonly database: string;
  readonly engine: Engine;
  readonly log: Logger;
  /** Health fails first; requests go on to be answered for the drain time; then connections end and work is handed back. */
  readonly stop: () => Promise<void>;
  /** How long `stop` takes at the most until all connections are closed. */
  readonly stopsWithinMs: number;
}

/** Time that requests in flight have to end once the drain time is over. */
const GRACE_MS = 8_000;

async function engineFrom(
  options: Options,
  environment: NodeJS.ProcessEnv,
  database: string,
  log: Logger,
): Promise<Engine> {
  const latencyMs = wholeNumber('latency-ms', options['latency-ms']!, 0, 3_600_000);
  const preset = options.preset ? readPreset(options.preset) : undefined;
  try {
    return await createEngine({
      database,
      ...readDatabaseSettings(options),
      secretKeyFile: secretKeyFile(options, environment, database),
      preset,
      settings: readSettings(options),
      catalogs: catalogsFrom(options, environment),
      driver: (clock) => new SimulatedDriver({ clock, latencyMs, rules: preset?.rules }),
      onError: (error, job) => log.error({ err: error, job: job?.id, kind: job?.kind }, 'background work failed'),
    });
  } catch (error) {
    if (error instanceof StartError) throw error;
    if (error instanceof SecretKeyError) throw new StartError(`--secret-key-file: ${error.message}`);
    throw new StartError(`the database ${withoutPassword(database)} cannot be used: ${reasonOf(error)}`);
  }
}

/** Whoever starts the program may read what callers may not: what the database itself said. */
function reasonOf(error: unknown): string {
  const told = error instanceof DatabaseUnavailable ? (error.cause as Error) : (error as Error);
  return told.message || String((told as { code?: string }).code);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used: ${error.message}`;
      fail(new StartError(`port ${port} of ${host} ${why}`));
    });
    server.listen(port, host, done);
  });
}

function guard(server: Server, options: Options): GuardedServer {
  try {
    return guardServer(server, connectionLimits(options));
  } catch (error) {
    throw new StartError(`--limit: ${(error as Error).message}`);
  }
}

function policiesFrom(options: Options) {
  try {
    return policies({ file: options['policy-file'] });
  } catch (error) {
    throw new StartError((error as Error).message);
  }
}

async function projectQuotasFrom(options: Options, engine: Engine) {
  const store = sqlStore({ database: engine.quotaDatabase });
  await store.createSchema();
  return projectQuotas({ store, defaults: projectDefaults(options) });
}

function projectDefaults(options: Options) {
  try {
    return defaultsFrom(projectLimits(options));
  } catch (error) {
    throw new StartError(`--quota: ${(error as Error).message}`);
  }
}

function versionFrom(api: ComputeApi, asked: unknown, url: string): string | undefined {
  try {
    return api.openApiText(String(asked ?? '2.100'), url);
  } catch {
    return undefined;
  }
}

function corsFrom({ lists }: Options) {
  const origins = lists['cors-origin'];
  if (origins.length === 0) return undefined;
  return { origins: origins.includes('*') ? ('*' as const) : origins };
}

/** Starts everything. Throws {@link StartError} with one clear line when that is impossible; nothing is left running. */
export async function serve(options: Options, environment: NodeJS.ProcessEnv = process.env): Promise<Running> {
  const log = pino({
    level: oneOf('log-level', options['log-level']!, ['silent', 'error', 'warn', 'info', 'debug', 'trace']),
  });
  const port = wholeNumber('port', options.port!, 0, 65_535);
  const headers = oneOf('headers', options.headers!, ['service', 'openstack', 'both']);
  const identity = identityFrom(options, environment);
  const drainMs = wholeNumber('drain-ms', options['drain-ms']!, 0, 3_600_000);
  let engine: Engine;
  const database = databaseFrom(options);
  const told = { warn: (line: string) => log.warn(line), error: (line: string) => log.error(line) };
  const health = healthFrom(options, { engine: () => engine, database, log: told });
  const rules = policiesFrom(options);
  engine = await engineFrom(options, environment, database, log);
  try {
    const quota = await projectQuotasFrom(options, engine);
    const api = computeApi({
      engine,
      identity,
      headers,
      healthcheck: health,
      policies: rules,
      quota,
      maxVersion: options['max-version'],
      cors: corsFrom(options),
      logger: log,
    });
    const app = express();
    app.disable('x-powered-by');
    app.disable('etag');
    app.get('/openapi.json', (req, res) => {
      const document = versionFrom(api, req.query.version, `${req.protocol}://${req.host}`);
      if (document) res.type('json').send(document);
      else res.status(400).json({ error: `'${req.query.version}' is not a version` });
    });
    app.use(api);
    const server = expressServer(app);
    const guarded = guard(server, options);
    await listen(server, options.host!, port);
    const { port: actual } = server.address() as { port: number };
    const stop = async () => {
      await guarded.drain({ health, delayMs: drainMs, graceMs: GRACE_MS });
      health.close();
      await engine.close();
    };
    return {
      url: `http://${options.host}:${actual}`,
      database: withoutPassword(database),
      engine,
      log,
      stop,
      stopsWithinMs: drainMs + GRACE_MS,
    };
  } catch (error) {
    await engine.close();
    throw error instanceof RangeError || error instanceof TypeError ? new StartError(error.message) : error;
  }
}
