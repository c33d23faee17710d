import type { DatabaseSettings, Preset, Settings } from '@apistrata/compute-engine';
import type { Catalogs } from '@apistrata/compute-engine/catalogs';
import type { EventOptions } from '@apistrata/compute-engine/events';
import { type Identity, latestKnown, type Policies, policies } from '@apistrata/compute-router';
import type { RateLimit } from '@apistrata/compute-router/rate-limit';
import { type GuardLimits, guardLimits } from '@apistrata/healthcheck/server';
import { defaultsFrom } from '@apistrata/quota';
import { eventsFrom } from './events.js';
import { identityFrom } from './identity-from.js';
import type { Observation } from './observation.js';
import type { Options } from './options.js';
import { readPreset } from './preset-file.js';
import { checkRateLimitStore, rateLimitsFrom } from './rate-limits.js';
import { catalogsFrom } from './services.js';
import { settingsFrom } from './settings-from.js';
import { StartError } from './start-error.js';
import { checkWorkers } from './workers/check-workers.js';

/** What the options come to before anything is opened: files are read, names and values are checked. */
export interface Plan {
  readonly options: Options;
  readonly identity: Identity;
  readonly catalogs: Partial<Catalogs>;
  readonly policies: Policies;
  readonly preset: Preset | undefined;
  readonly settings: Partial<Settings>;
  readonly databaseSettings: Partial<DatabaseSettings>;
  readonly projectQuotas: ReturnType<typeof defaultsFrom>;
  readonly limits: Required<GuardLimits>;
  readonly rateLimits: readonly RateLimit[];
  readonly environment: NodeJS.ProcessEnv;
  readonly observation: Observation;
  readonly events: EventOptions | undefined;
}

/** Gives the mistake of whoever wrote the option the option's name. */
function blaming<T>(label: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${label}${(error as Error).message}`);
  }
}

/** The limits of connections, out of `--limit`. */
export function limitsFrom({ limit }: Options): Required<GuardLimits> {
  return blaming('--limit: ', () => guardLimits(limit as GuardLimits));
}

/** The policies, out of `--policy-file`; the message names the file and the line. */
export function policiesFrom(options: Options): Policies {
  return blaming('', () => policies({ file: options['policy-file'] }));
}

/** `latest` stands for the last version that the API knows. */
function withHighestVersion(options: Options): Options {
  return options['max-version'] === 'latest' ? { ...options, 'max-version': latestKnown().text } : options;
}

/** @throws StartError for the first option or file that cannot be used */
export function planFrom(options: Options, environment: NodeJS.ProcessEnv, observation: Observation): Plan {
  checkRateLimitStore(options);
  checkWorkers(options);
  const project = Object.entries(options.quota).filter(([name]) => name.startsWith('quota_'));
  return {
    options: withHighestVersion(options),
    identity: blaming('', () => identityFrom(options, environment, observation)),
    catalogs: catalogsFrom(options, environment, observation),
    policies: policiesFrom(options),
    preset: options.preset === undefined ? undefined : readPreset(options.preset),
    settings: settingsFrom(options),
    databaseSettings: { ...options.database, durability: options.durability },
    projectQuotas: blaming('--quota: ', () =>
      defaultsFrom(Object.fromEntries(project.map(([name, value]) => [name, String(value)]))),
    ),
    limits: limitsFrom(options),
    rateLimits: rateLimitsFrom(options),
    environment,
    observation,
    events: eventsFrom(options),
  };
}
