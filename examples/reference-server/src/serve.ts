import { mkdirSync } from 'node:fs';
import type { Server } from 'node:http';
import { dirname, resolve } from 'node:path';
import {
  type Catalogs,
  createEngine,
  DatabaseUnavailable,
  type Engine,
  httpImages,
  httpNetworks,
  httpVolumes,
  ServiceSession,
  SimulatedDriver,
} from '@apistrata/compute-engine';
import {
  type ComputeApi,
  computeApi,
  type Identity,
  identityService,
  noauth,
  policies,
  staticTokens,
} from '@apistrata/compute-router';
import { healthcheckFromConfig } from '@apistrata/healthcheck';
import { defaultsFrom, projectQuotas } from '@apistrata/quota';
import { sqlStore } from '@apistrata/quota/sql';
import express from 'express';
import { pino } from 'pino';
import { expressServer } from './express-server.js';
import { type Options, oneOf, pairs, StartError, wholeNumber } from './options.js';
import { readJson, readPreset } from './preset-file.js';
import { projectLimits, readDatabaseSettings, readSettings } from './settings.js';

/** A server that runs, and how to end it. */
export interface Running {
  readonly url: string;
  readonly database: string;
  readonly engine: Engine;
  /** Health fails first, then nothing new is accepted, requests in flight end, and work is handed back. */
  readonly stop: () => Promise<void>;
}

const DEFAULT_FILE = 'data/compute.db';

/** Time that requests in flight have to end once the server stops. */
const GRACE_MS = 8000;

function databaseFrom(options: Options): string {
  const url = options.db ?? DEFAULT_FILE;
  if (url === ':memory:' || /^postgres(ql)?:/.test(url)) return url;
  const file = resolve(url);
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

function credentials(environment: NodeJS.ProcessEnv) {
  const { OS_USERNAME: username, OS_PASSWORD: password } = environment;
  if (!username || !password)
    throw new StartError('a real service needs OS_USERNAME and OS_PASSWORD in the environment');
  return {
    username,
    password,
    projectName: environment.OS_PROJECT_NAME ?? 'service',
    userDomainName: environment.OS_USER_DOMAIN_NAME ?? 'Default',
    projectDomainName: environment.OS_PROJECT_DOMAIN_NAME ?? 'Default',
  };
}

function identityFrom(options: Options, environment: NodeJS.ProcessEnv): Identity {
  const kind = oneOf('auth', options.auth!, ['noauth', 'tokens', 'identity']);
  if (kind === 'noauth') return noauth({ projectId: options['noauth-project'] });
  if (kind === 'tokens') {
    if (!options.tokens) throw new StartError('--auth tokens needs --tokens FILE');
    return staticTokens(readJson('tokens', options.tokens) as Parameters<typeof staticTokens>[0]);
  }
  if (!options['identity-url']) throw new StartError('--auth identity needs --identity-url URL');
  return identityService({ url: options['identity-url'], ...credentials(environment) });
}

function healthFrom(options: Options) {
  const file = options['healthcheck-config'];
  const fromFile = file ? (readJson('healthcheck-config', file) as Record<string, string>) : {};
  try {
    return healthcheckFromConfig({
      ...fromFile,
      ...Object.fromEntries(pairs('healthcheck', options.lists.healthcheck)),
    });
  } catch (error) {
    throw new StartError((error as Error).message);
  }
}

async function engineFrom(
  options: Options,
  environment: NodeJS.ProcessEnv,
  database: string,
  log: pino.Logger,
): Promise<Engine> {
  const latencyMs = wholeNumber('latency-ms', options['latency-ms']!, 0, 3_600_000);
  const preset = options.preset ? readPreset(options.preset) : undefined;
  try {
    return await createEngine({
      database,
      ...readDatabaseSettings(options),
      preset,
      settings: readSettings(options),
      catalogs: catalogsFrom(options, environment),
      driver: (clock) => new SimulatedDriver({ clock, latencyMs, rules: preset?.rules }),
      onError: (error, job) => log.error({ err: error, job: job?.id, kind: job?.kind }, 'background work failed'),
    });
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`the database ${withoutPassword(database)} cannot be used: ${reasonOf(error)}`);
  }
}

/** Whoever starts the program may read what callers may not: what the database itself said. */
function reasonOf(error: unknown): string {
  const told = error instanceof DatabaseUnavailable ? (error.cause as Error) : (error as Error);
  return told.message || String((told as { code?: string }).code);
}

function withoutPassword(url: string): string {
  return url.replace(/(\/\/[^:@/]*):[^@/]*@/, '$1:***@');
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

/** Clients of the real services that were named, with one login for all of them. */
function catalogsFrom(options: Options, environment: NodeJS.ProcessEnv): Partial<Catalogs> {
  const urls = { images: options['image-url'], networks: options['network-url'], volumes: options['volume-url'] };
  if (!Object.values(urls).some(Boolean)) return {};
  const authUrl = options['identity-url'];
  if (!authUrl)
    throw new StartError('--image-url, --network-url and --volume-url need --identity-url, where the service logs in');
  const session = new ServiceSession({ authUrl, ...credentials(environment) });
  return {
    ...(urls.images && { images: httpImages({ url: urls.images, session }) }),
    ...(urls.networks && { networks: httpNetworks({ url: urls.networks, session }) }),
    ...(urls.volumes && { volumes: httpVolumes({ url: urls.volumes, session }) }),
  };
}

function versionFrom(api: ComputeApi, asked: unknown, url: string): Record<string, unknown> | undefined {
  try {
    return api.openApi(String(asked ?? '2.100'), url);
  } catch {
    return undefined;
  }
}

/** Starts everything. Throws {@link StartError} with one clear line when that is impossible; nothing is left running. */
export async function serve(options: Options, environment: NodeJS.ProcessEnv = process.env): Promise<Running> {
  const log = pino({
    level: oneOf('log-level', options['log-level']!, ['silent', 'error', 'warn', 'info', 'debug', 'trace']),
  });
  const port = wholeNumber('port', options.port!, 0, 65_535);
  const headers = oneOf('headers', options.headers!, ['service', 'openstack', 'both']);
  const identity = identityFrom(options, environment);
  const health = healthFrom(options);
  const rules = policiesFrom(options);
  const database = databaseFrom(options);
  const engine = await engineFrom(options, environment, database, log);
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
      logger: log,
    });
    const app = express();
    app.disable('x-powered-by');
    app.disable('etag');
    app.get('/openapi.json', (req, res) => {
      const document = versionFrom(api, req.query.version, `${req.protocol}://${req.host}`);
      if (document) res.json(document);
      else res.status(400).json({ error: `'${req.query.version}' is not a version` });
    });
    app.use(api);
    const server = expressServer(app);
    server.requestTimeout = 60_000;
    server.headersTimeout = 15_000;
    await listen(server, options.host!, port);
    const { port: actual } = server.address() as { port: number };
    const stop = async () => {
      health.shutdown();
      const closed = new Promise((done) => server.close(done));
      // A connection becomes idle when its last request has been answered; nobody waits for its keep-alive to run out.
      const idle = setInterval(() => server.closeIdleConnections(), 50);
      const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS);
      await closed;
      clearInterval(idle);
      clearTimeout(timer);
      health.close();
      await engine.close();
    };
    return { url: `http://${options.host}:${actual}`, database: withoutPassword(database), engine, stop };
  } catch (error) {
    await engine.close();
    throw error instanceof RangeError || error instanceof TypeError ? new StartError(error.message) : error;
  }
}
