import type { DatabaseSettings, Preset, Settings } from '@apistrata/compute-engine';
import type { Catalogs } from '@apistrata/compute-engine/catalogs';
import type { EventOptions } from '@apistrata/compute-engine/events';
import { type Identity, newestSupported, type Policies, policies } from '@apistrata/compute-router';
import type { RateLimit } from '@apistrata/compute-router/rate-limit';
import { type GuardLimits, guardLimits } from '@apistrata/healthcheck/server';
import { defaultsFrom } from '@apistrata/quota';
import { checkListening } from './check-listening.js';
import { checkCloud } from './cloud/check-cloud.js';
import { eventOptionsFrom } from './events.js';
import { identityFrom } from './identity-from.js';
import type { Observation } from './observation.js';
import type { Options } from './options.js';
import { readPreset } from './preset-file.js';
import { checkRateLimitStore, rateLimitsFrom } from './rate-limits.js';
import { catalogsFrom } from './services.js';
import { settingsFrom } from './settings-from.js';
import { StartError } from './start-error.js';
import { checkWorkers } from './workers/check-workers.js';

/** The validated settings of a server, with the content of the files that options name. Nothing is opened yet. */
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

/** Converts errors about a value to StartErrors whose message begins with the label, such as `--limit: `. */
function labelErrors<T>(label: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${label}${(error as Error).message}`);
  }
}

/** Returns the connection limits from `--limit`. */
export function limitsFrom({ limit }: Options): Required<GuardLimits> {
  return labelErrors('--limit: ', () => guardLimits(limit as GuardLimits));
}

/** Returns the policies from `--policy-file`. Errors name the file and the line. */
export function policiesFrom(options: Options): Policies {
  return labelErrors('', () => policies({ file: options['policy-file'] }));
}

/** Replaces `--max-version latest` with the newest version that the API supports. */
function withHighestVersion(options: Options): Options {
  return options['max-version'] === 'latest' ? { ...options, 'max-version': newestSupported().text } : options;
}

/** Validates the options and the files that they name. @throws StartError for the first invalid option or file */
export function planFrom(options: Options, environment: NodeJS.ProcessEnv, observation: Observation): Plan {
  checkListening(options);
  checkRateLimitStore(options);
  checkCloud(options);
  checkWorkers(options);
  const projectQuotaEntries = Object.entries(options.quota).filter(([name]) => name.startsWith('quota_'));
  return {
    options: withHighestVersion(options),
    identity: labelErrors('', () => identityFrom(options, environment, observation)),
    catalogs: catalogsFrom(options, environment, observation),
    policies: policiesFrom(options),
    preset: options.preset === undefined ? undefined : readPreset(options.preset),
    settings: settingsFrom(options),
    databaseSettings: { ...options.database, durability: options.durability },
    projectQuotas: labelErrors('--quota: ', () =>
      defaultsFrom(Object.fromEntries(projectQuotaEntries.map(([name, value]) => [name, String(value)]))),
    ),
    limits: limitsFrom(options),
    rateLimits: rateLimitsFrom(options),
    environment,
    observation,
    events: eventOptionsFrom(options),
  };
}
