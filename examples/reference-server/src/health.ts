import { dirname } from 'node:path';
import type { Engine, PartHealth } from '@apistrata/compute-engine';
import type { Host } from '@apistrata/compute-engine/hosts';
import {
  type Check,
  diskSpace,
  type Healthcheck,
  type HealthcheckLog,
  healthcheckFromConfig,
  http,
  type PageLink,
} from '@apistrata/healthcheck';
import { isSqliteFile } from './database-url.js';
import type { Options } from './options.js';
import { readJson } from './preset-file.js';
import { SERVICE_OPTIONS } from './services.js';
import { StartError } from './start-error.js';

/** Load balancers probe every few seconds from several addresses, so results are cached to limit the cost. */
const LOCAL_CHECK_OPTIONS = { timeoutMs: 3_000, cacheMs: 1_000 };
const REMOTE_CHECK_OPTIONS = { timeoutMs: 3_000, cacheMs: 5_000 };

/** Statuses of an available service. They include 4xx, because some services reject unauthenticated requests. */
const STATUSES_BELOW_500 = Array.from({ length: 300 }, (_, index) => 200 + index);

function requiredCheck(name: string, probe: () => Promise<PartHealth>): Check {
  return {
    name,
    ...LOCAL_CHECK_OPTIONS,
    async check() {
      const { healthy, reason } = await probe();
      return healthy ? { state: 'available', details: reason } : { state: 'unavailable', reason, details: reason };
    },
  };
}

/** Creates a check whose failure only degrades the service: the API still responds without replicas or machines. */
function optionalCheck(name: string, probe: () => Promise<PartHealth>): Check {
  return {
    name,
    ...LOCAL_CHECK_OPTIONS,
    async check() {
      const { healthy, reason } = await probe();
      return { state: healthy ? 'available' : 'degraded', details: reason };
    },
  };
}

/**
 * The health check fails if less disk space is free. At that time, requests still succeed, because the database can
 * still grow.
 */
const MIN_FREE_BYTES = 32 * 1024 * 1024;

function checksFrom(options: Options, engine: () => Engine, database: string): readonly Check[] {
  const remoteUrls = { identity: options['identity-url'] } as Record<string, string | undefined>;
  for (const [name, option] of Object.entries(SERVICE_OPTIONS)) remoteUrls[name] = options[option];
  return [
    requiredCheck('database', () => engine().health.database()),
    requiredCheck('worker', () => engine().health.worker()),
    ...(options['db-read'].length > 0 ? [optionalCheck('replicas', () => engine().health.replicas())] : []),
    ...(options.driver === 'qemu' ? [optionalCheck('machines', () => engine().health.machines())] : []),
    ...(isSqliteFile(database)
      ? [diskSpace(dirname(database), { name: 'disk', minFreeBytes: MIN_FREE_BYTES, ...LOCAL_CHECK_OPTIONS })]
      : []),
    ...Object.entries(remoteUrls).flatMap(([name, url]) =>
      url ? [http(url, { name, statuses: STATUSES_BELOW_500, ...REMOTE_CHECK_OPTIONS })] : [],
    ),
  ];
}

/** Returns links to other pages. They are relative, because a proxy may serve the pages below a prefix. */
function pageLinks(options: Options): readonly PageLink[] {
  return [
    { href: './', text: 'Compute API' },
    ...(options['no-docs'] ? [] : [{ href: 'docs', text: 'API reference' }]),
    { href: 'openapi.json', text: 'OpenAPI' },
  ];
}

/**
 * Creates the health endpoint: `/healthcheck` and `/readyz` check the database and its disk, the worker and all other
 * required services, unless `--healthcheck backends=...` names others; `/livez` checks nothing, because a restart would
 * not fix these services.
 */
export function createHealthEndpoint(
  options: Options,
  { engine, database, log }: { engine: () => Engine; database: string; log: HealthcheckLog },
): Healthcheck {
  return createEndpoint(options, { checks: checksFrom(options, engine, database), links: pageLinks(options), log });
}

const STARTING_HEALTH: PartHealth = { healthy: false, reason: 'The host is starting.' };

/**
 * Creates the health endpoint of a host process: `/healthcheck` and `/readyz` check that the host stores heartbeats and
 * that servers can start on it, unless `--healthcheck backends=...` names others; `/livez` checks nothing.
 *
 * @param host returns the host; undefined while the host is starting
 */
export function createHostHealthEndpoint(
  options: Options,
  host: () => Host | undefined,
  log: HealthcheckLog,
): Healthcheck {
  const checks = [
    requiredCheck('heartbeat', async () => host()?.health.heartbeat() ?? STARTING_HEALTH),
    optionalCheck('machines', async () => host()?.health.machines() ?? STARTING_HEALTH),
  ];
  return createEndpoint(options, { checks, log });
}

interface EndpointParts {
  readonly checks: readonly Check[];
  readonly links?: readonly PageLink[];
  readonly log: HealthcheckLog;
}

/** Creates a health endpoint with the options from `--healthcheck-config` and `--healthcheck`. @throws StartError */
function createEndpoint(options: Options, { checks, ...others }: EndpointParts): Healthcheck {
  const file = options['healthcheck-config'];
  const fileOptions = file ? (readJson('healthcheck-config', file) as Record<string, string>) : {};
  const checkNames = checks.map(({ name }) => name).join(',');
  try {
    const mergedOptions = {
      backends: checkNames,
      ...fileOptions,
      ...(options.healthcheck as Record<string, string>),
    };
    return healthcheckFromConfig(mergedOptions, {
      checks,
      ...others,
      groups: { live: { backends: [] }, ready: { backends: mergedOptions.backends } },
    });
  } catch (error) {
    throw new StartError(`--healthcheck: ${(error as Error).message}`);
  }
}
