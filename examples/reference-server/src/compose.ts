import { createEngine, DatabaseUnavailable, type Engine, SecretKeyError } from '@apistrata/compute-engine';
import type { EngineObserver } from '@apistrata/compute-engine/observation';
import { allowedHosts, type ComputeApi, type ComputeApiOptions, computeApi } from '@apistrata/compute-router';
import type { Healthcheck } from '@apistrata/healthcheck';
import { QemuError } from '@apistrata/qemu';
import { projectQuotas } from '@apistrata/quota';
import { sqlStore } from '@apistrata/quota/sql';
import express, { type Express } from 'express';
import type { Logger } from 'pino';
import { callerKindOf } from './callers.js';
import type { Cloud } from './cloud/cloud.js';
import { maskPassword, secretKeyFileFrom } from './database-url.js';
import { mountDocs } from './docs.js';
import { favicon } from './favicon.js';
import { createHealthEndpoint } from './health.js';
import { machinesFrom } from './machines.js';
import { observersOf } from './observation.js';
import type { Options } from './options.js';
import type { Plan } from './plan.js';
import { RateLimits } from './rate-limits.js';
import { StartError } from './start-error.js';
import { welcome } from './welcome.js';

/** The components of a server that does not listen yet. */
export interface ServerComponents {
  readonly engine: Engine;
  readonly health: Healthcheck;
  readonly rateLimits: RateLimits;
  readonly app: Express;
  /** The services that `--cloud` adds to the compute API. */
  readonly cloud: Cloud | undefined;
  readonly close: () => Promise<void>;
}

/** Returns the number of hosts, and the number of servers on them. */
async function countHostsAndServers({ hypervisors }: Engine) {
  const hosts = await hypervisors.list();
  return { hosts: hosts.length, servers: hosts.reduce((sum, { usage }) => sum + usage.servers, 0) };
}

/** Returns an observer that logs, at level debug, how each server list is queried. */
function createListLogger(log: Logger): EngineObserver {
  return { list: (plan) => log.debug(plan, 'list of servers') };
}

async function engineFrom(plan: Plan, database: string, log: Logger, runsJobs: boolean): Promise<Engine> {
  const { settings, catalogs, databaseSettings, options, environment, observation } = plan;
  try {
    const { preset, driver } = await machinesFrom(plan, log);
    return await createEngine({
      database,
      databaseRead: options['db-read'],
      ...databaseSettings,
      secretKeyFile: secretKeyFileFrom(options, environment, database),
      preset,
      settings,
      catalogs,
      ...(runsJobs ? {} : { worker: false as const }),
      driver,
      imageDirectory: options['image-dir'],
      observer: [...observersOf(observation).engine, createListLogger(log)],
      events: plan.events,
      onError: (error, job) => log.error({ err: error, job: job?.id, kind: job?.kind }, 'background work failed'),
    });
  } catch (error) {
    if (error instanceof TypeError && /webhook/.test(error.message))
      throw new StartError(`--webhook: ${error.message}`);
    if (error instanceof TypeError && /databaseRead/.test(error.message))
      throw new StartError('--db-read must list replicas (postgres://...) of the PostgreSQL database in --db');
    if (error instanceof RangeError) throw new StartError(`--database, --setting or --durability: ${error.message}`);
    if (error instanceof SecretKeyError) throw new StartError(`--secret-key-file: ${error.message}`);
    if (error instanceof StartError) throw error;
    if (error instanceof QemuError) throw new StartError(`--driver qemu: ${error.message}`);
    throw new StartError(`--db ${maskPassword(database)} cannot be used: ${reasonOf(error)}`);
  }
}

/** Returns the database's error message, which only the administrator who starts the program may see. */
function reasonOf(error: unknown): string {
  const cause = error instanceof DatabaseUnavailable ? (error.cause as Error) : (error as Error);
  return cause.message || String((cause as { code?: string }).code);
}

/** Opens the services that `--cloud` adds. Their modules are loaded only with that option. */
async function openCloudServices(options: Options, engine: Engine, log: Logger): Promise<Cloud | undefined> {
  return options.cloud ? (await import('./cloud/cloud.js')).openCloud(options, engine, log) : undefined;
}

function openApiDocumentOf(api: ComputeApi, version: unknown, url: string): string | undefined {
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
    throw new StartError(`--trust-proxy: ${(error as Error).message}; it accepts loopback, an address or a network`);
  }
}

/**
 * Rejects unknown host names if callers need no token, because otherwise any website could use the API through DNS
 * rebinding.
 */
function rejectUnknownHosts(app: Express, options: Options): void {
  const { host, 'allowed-host': allowedNames } = options;
  if (callerKindOf(options) !== 'noauth' && allowedNames.length === 0) return;
  try {
    app.use(allowedHosts({ host, allowed: allowedNames }));
  } catch (error) {
    throw new StartError(`--allowed-host: ${(error as Error).message}`);
  }
}

/** Creates the API, which validates `--max-version` and `--cors-origin`. Other errors are bugs, not invalid options. */
function createApi(options: ComputeApiOptions): ComputeApi {
  try {
    return computeApi(options);
  } catch (error) {
    const { message } = error as Error;
    if (/maxVersion|is not a version/.test(message)) throw new StartError(`--max-version: ${message}`);
    if (message.startsWith('cors: ')) throw new StartError(message.replace('cors', '--cors-origin'));
    throw error;
  }
}

/**
 * Opens the database and creates all parts of the server.
 *
 * @param runsJobs whether this process runs background jobs; if false, other processes run them
 * @throws StartError with a one-line message, after closing everything that was opened
 */
export async function composeServer(
  plan: Plan,
  database: string,
  log: Logger,
  runsJobs = true,
): Promise<ServerComponents> {
  const { options, observation } = plan;
  let engine: Engine;
  const lineLog = { warn: (line: string) => log.warn(line), error: (line: string) => log.error(line) };
  const health = createHealthEndpoint(options, { engine: () => engine, database, log: lineLog });
  engine = await engineFrom(plan, database, log, runsJobs);
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
    const cloud = await openCloudServices(options, engine, log);
    const apiOptions: ComputeApiOptions = {
      engine,
      identity: cloud?.identity ?? plan.identity,
      headers: options.headers,
      policies: plan.policies,
      quota: projectQuotas({ preset: 'key-manager', store, defaults: plan.projectQuotas }),
      maxVersion: options['max-version'],
      rateLimit: rateLimits,
      cors: corsFrom(options),
      logger: log,
      observer: observersOf(observation).api,
    };
    const api = createApi({ ...apiOptions, healthcheck: health });
    const app = express();
    app.disable('x-powered-by');
    app.disable('etag');
    trustProxies(app, options);
    rejectUnknownHosts(app, options);
    app.get('/openapi.json', (req, res) => {
      const version = req.query.version ?? options['max-version'];
      const openApiDocument = openApiDocumentOf(api, version, `${req.protocol}://${req.host}`);
      if (openApiDocument) res.type('json').send(openApiDocument);
      else res.status(400).json({ error: `'${version}' is not a version` });
    });
    if (options.metrics && observation.scrapeHandler) app.use('/metrics', observation.scrapeHandler);
    mountDocs(app, options);
    app.get('/favicon.ico', favicon());
    const { consoleProxyUrl } = engine.settings;
    app.use(welcome({ options, database, counts: () => countHostsAndServers(engine), consoleProxyUrl }));
    // A mounted API with its own health endpoint would respond with its health to every request below the mount path.
    cloud?.mount(app, computeApi({ ...apiOptions, healthcheck: false }));
    app.use(api);
    return { engine, health, rateLimits, app, cloud, close };
  } catch (error) {
    await close();
    throw error;
  }
}
