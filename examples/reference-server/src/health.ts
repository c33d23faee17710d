import { dirname } from 'node:path';
import type { Engine, PartHealth } from '@apistrata/compute-engine';
import {
  type Check,
  diskSpace,
  type Healthcheck,
  type HealthcheckLog,
  healthcheckFromConfig,
  http,
} from '@apistrata/healthcheck';
import { isFile } from './database-url.js';
import type { Options } from './options.js';
import { readJson } from './preset-file.js';
import { SERVICE_OPTIONS } from './services.js';
import { StartError } from './start-error.js';

/** Probes come every few seconds from several sides; what they cost is bounded by what is remembered. */
const OWN_PARTS = { timeoutMs: 3_000, cacheMs: 1_000 };
const OTHER_SERVICES = { timeoutMs: 3_000, cacheMs: 5_000 };

/** A service that answers anything but a failure of its own is there: not all of them talk to strangers. */
const ALIVE = Array.from({ length: 300 }, (_, index) => 200 + index);

function ownPart(name: string, ask: () => Promise<PartHealth>): Check {
  return {
    name,
    ...OWN_PARTS,
    async check() {
      const { healthy, reason } = await ask();
      return healthy ? { state: 'available', details: reason } : { state: 'unavailable', reason, details: reason };
    },
  };
}

/** Replicas spare the primary; who is served does not depend on them. */
function replicasCheck(ask: () => Promise<PartHealth>): Check {
  return {
    name: 'replicas',
    ...OWN_PARTS,
    async check() {
      const { healthy, reason } = await ask();
      return { state: healthy ? 'available' : 'degraded', details: reason };
    },
  };
}

/** A database that cannot grow fails in the middle of somebody's request: better to say so before. */
const LEAST_FREE_BYTES = 32 * 1024 * 1024;

function checksFrom(options: Options, engine: () => Engine, database: string): readonly Check[] {
  const remote = { identity: options['identity-url'] } as Record<string, string | undefined>;
  for (const [name, option] of Object.entries(SERVICE_OPTIONS)) remote[name] = options[option];
  return [
    ownPart('database', () => engine().health.database()),
    ownPart('worker', () => engine().health.worker()),
    ...(options['db-read'].length > 0 ? [replicasCheck(() => engine().health.replicas())] : []),
    ...(isFile(database)
      ? [diskSpace(dirname(database), { name: 'disk', minFreeBytes: LEAST_FREE_BYTES, ...OWN_PARTS })]
      : []),
    ...Object.entries(remote).flatMap(([name, url]) =>
      url ? [http(url, { name, statuses: ALIVE, ...OTHER_SERVICES })] : [],
    ),
  ];
}

/**
 * The health endpoint: `/healthcheck` and `/readyz` ask the database and its disk, the worker and every other service that this one
 * leans on, unless `--healthcheck backends=...` names others; `/livez` asks nobody, for no restart would cure those.
 */
export function healthFrom(
  options: Options,
  { engine, database, log }: { engine: () => Engine; database: string; log: HealthcheckLog },
): Healthcheck {
  const file = options['healthcheck-config'];
  const fromFile = file ? (readJson('healthcheck-config', file) as Record<string, string>) : {};
  const checks = checksFrom(options, engine, database);
  const all = checks.map(({ name }) => name).join(',');
  try {
    const record = {
      backends: all,
      ...fromFile,
      ...(options.healthcheck as Record<string, string>),
    };
    return healthcheckFromConfig(record, {
      checks,
      groups: { live: { backends: [] }, ready: { backends: record.backends } },
      log,
    });
  } catch (error) {
    throw new StartError(`--healthcheck: ${(error as Error).message}`);
  }
}
