import { createEngine, DatabaseUnavailable, type Engine, SecretKeyError } from '@apistrata/compute-engine';
import { type ComputeApi, computeApi } from '@apistrata/compute-router';
import type { Healthcheck } from '@apistrata/healthcheck';
import { QemuError } from '@apistrata/qemu';
import { projectQuotas } from '@apistrata/quota';
import { sqlStore } from '@apistrata/quota/sql';
import express, { type Express } from 'express';
import type { Logger } from 'pino';
import { secretKeyFile, withoutPassword } from './database-url.js';
import { mountDocs } from './docs.js';
import { favicon } from './favicon.js';
import { healthFrom } from './health.js';
import { machinesFrom } from './machines.js';
import { observersOf } from './observation.js';
import type { Options } from './options.js';
import type { Plan } from './plan.js';
import { RateLimits } from './rate-limits.js';
import { StartError } from './start-error.js';
import { welcome } from './welcome.js';

/** Everything that serves, before it listens. */
export interface Composed {
  readonly engine: Engine;
  readonly health: Healthcheck;
  readonly rateLimits: RateLimits;
  readonly app: Express;
  readonly close: () => Promise<void>;
}

async function engineFrom(plan: Plan, database: string, log: Logger, works: boolean): Promise<Engine> {
  const { settings, catalogs, databaseSettings, options, environment, observation } = plan;
  try {
    const { preset, driver } = await machinesFrom(plan, log);
    return await createEngine({
      database,
      databaseRead: options['db-read'],
      ...databaseSettings,
      secretKeyFile: secretKeyFile(options, environment, database),
      preset,
      settings,
      catalogs,
      ...(works ? {} : { worker: false as const }),
      driver,
      imageDirectory: options['image-dir'],
      observer: observersOf(observation).engine,
      events: plan.events,
      onError: (error, job) => log.error({ err: error, job: job?.id, kind: job?.kind }, 'background work failed'),
    });
  } catch (error) {
    if (error instanceof TypeError && /webhook/.test(error.message))
      throw new StartError(`--webhook: ${error.message}`);
    if (error instanceof TypeError && /databaseRead/.test(error.message))
      throw new StartError('--db-read names replicas (postgres://...) of a database of PostgreSQL that --db names');
    if (error instanceof RangeError) throw new StartError(`--database, --setting or --durability: ${error.message}`);
    if (error instanceof SecretKeyError) throw new StartError(`--secret-key-file: ${error.message}`);
    if (error instanceof StartError) throw error;
    if (error instanceof QemuError) throw new StartError(`--driver qemu: ${error.message}`);
    throw new StartError(`--db ${withoutPassword(database)} cannot be used: ${reasonOf(error)}`);
  }
}

/** Whoever starts the program may read what callers may not: what the database itself said. */
function reasonOf(error: unknown): string {
  const told = error instanceof DatabaseUnavailable ? (error.cause as Error) : (error as Error);
  return told.message || String((told as { code?: string }).code);
}

function documentOf(api: ComputeApi, version: unknown, url: string): string | undefined {
  try {
    return api.openApiText(String(version), url);
  } catch {
    return undefined;
  }
}

function corsFrom({ 'cors-origin': origins }: Options) {
  if (origins.length === 0) return undefined;
  return { origins: origins.includes('*') ? ('*' as const) : origins };
}

function trustProxies(app: Express, { 'trust-proxy': proxies }: Options): void {
  try {
    app.set('trust proxy', [...proxies]);
  } catch (error) {
    throw new StartError(`--trust-proxy: ${(error as Error).message}; it takes loopback, an address or a network`);
  }
}

/**
 * Opens the database and puts everything together.
 *
 * @param works false: background work is left to others
 * @throws StartError with one clear line; nothing is left open then
 */
export async function compose(plan: Plan, database: string, log: Logger, works = true): Promise<Composed> {
  const { options, observation } = plan;
  let engine: Engine;
  const told = { warn: (line: string) => log.warn(line), error: (line: string) => log.error(line) };
  const health = healthFrom(options, { engine: () => engine, database, log: told });
  engine = await engineFrom(plan, database, log, works);
  const rateLimits = new RateLimits(options, log);
  const close = async () => {
    health.close();
    await rateLimits.close();
    await engine.close();
  };
  try {
    const store = sqlStore({ database: engine.quotaDatabase });
    await store.createSchema();
    await rateLimits.apply(plan.rateLimits);
    const api = computeApi({
      engine,
      identity: plan.identity,
      headers: options.headers,
      healthcheck: health,
      policies: plan.policies,
      quota: projectQuotas({ store, defaults: plan.projectQuotas }),
      maxVersion: options['max-version'],
      rateLimit: rateLimits,
      cors: corsFrom(options),
      logger: log,
      observer: observersOf(observation).api,
    });
    const app = express();
    app.disable('x-powered-by');
    app.disable('etag');
    trustProxies(app, options);
    app.get('/openapi.json', (req, res) => {
      const version = req.query.version ?? options['max-version'];
      const document = documentOf(api, version, `${req.protocol}://${req.host}`);
      if (document) res.type('json').send(document);
      else res.status(400).json({ error: `'${version}' is not a version` });
    });
    if (options.metrics && observation.scraped) app.use('/metrics', observation.scraped);
    mountDocs(app, options);
    app.get('/favicon.ico', favicon());
    app.use(welcome(options));
    app.use(api);
    return { engine, health, rateLimits, app, close };
  } catch (error) {
    await close();
    if (error instanceof RangeError || error instanceof TypeError)
      throw new StartError(`--max-version: ${error.message}`);
    throw error;
  }
}
