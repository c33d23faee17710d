import type { Catalogs } from '@apistrata/catalogs';
import { checkOptions, type DatabaseSettings, defaultDatabaseSettings } from '@apistrata/record-store/options';
import type { AnyAction } from '../actions/runner/action.js';
import type { Clock } from '../clock/clock.js';
import { defaultSettings, type Settings } from '../core/settings.js';
import type { Driver } from '../drivers/driver.js';
import type { DriverServices } from '../drivers/driver-services.js';
import type { EventOptions } from '../events/engine-events.js';
import { nameWebhooks, parseWebhookTarget, type WebhookOptions } from '../events/webhook-options.js';
import type { Job } from '../jobs/jobs.js';
import type { WorkerOptions } from '../jobs/worker.js';
import { type EngineObserver, engineObserverHooks } from '../observation/observer.js';
import type { Preset } from '../preset/preset.js';
import type { SecretKeyOptions } from '../secrets/sealer-for.js';

/** Options for `createEngine()`. All of them are optional. */
export interface EngineOptions extends Partial<DatabaseSettings>, SecretKeyOptions {
  /** The database: `:memory:`, a SQLite file, or `postgres://...`. Default `:memory:`. */
  readonly database?: string;
  /**
   * URLs of read replicas (streaming replication, hot standby) of the PostgreSQL server in `database`. They serve reads
   * through `engine.reading()`. All processes that share a database need the same list. Default: none.
   */
  readonly databaseRead?: readonly string[];
  /** The clock that all parts of the engine use. Default: the system clock. */
  readonly clock?: Clock;
  /**
   * The driver that runs machines. Pass a function if the driver needs the clock, images or networks. Default:
   * simulated machines without latency.
   */
  readonly driver?: Driver | ((clock: Clock, services: DriverServices) => Driver | Promise<Driver>);
  /**
   * Directory in which the embedded image service stores image content; created if missing. Default: the path of the
   * SQLite file followed by `.images`; for `:memory:` and PostgreSQL, content is stored in the database, at most 256
   * MiB per image.
   */
  readonly imageDirectory?: string;
  /** Catalogs that replace the embedded ones, such as clients of external services. */
  readonly catalogs?: Partial<Catalogs>;
  /**
   * Initial content of the cloud; default: a small cloud with fixed ids. Records that already exist are not changed.
   */
  readonly preset?: Preset;
  /** Settings of the cloud. */
  readonly settings?: Partial<Settings>;
  /** Options for the worker that executes background jobs; false disables it in this process. */
  readonly worker?: Pick<WorkerOptions, 'concurrency' | 'leaseMs' | 'pollMs' | 'retryMs'> | false;
  /**
   * Custom actions, which `engine.servers.act` can start. A stored job of an action is executed only by engines that
   * have this action.
   */
  readonly actions?: readonly AnyAction[];
  /** Observers for metrics and traces. Each of them receives every event. Default: none. */
  readonly observer?: EngineObserver | readonly EngineObserver[];
  /**
   * Stores notifications for webhooks and for readers of the event stream (`{}` enables only the stream). Default:
   * notifications are not stored. `engine.on` works in either case.
   */
  readonly events?: EventOptions;
  /** Called when a background job fails unexpectedly. */
  readonly onError?: (error: unknown, job: Job | undefined) => void;
}

const engineOptionNames: Readonly<Record<keyof EngineOptions, unknown>> = {
  ...defaultDatabaseSettings,
  database: true,
  databaseRead: true,
  secretKey: true,
  secretKeyFile: true,
  clock: true,
  driver: true,
  imageDirectory: true,
  catalogs: true,
  preset: true,
  settings: true,
  worker: true,
  actions: true,
  observer: true,
  events: true,
  onError: true,
};

const catalogs: Readonly<Record<keyof Catalogs, true>> = { images: true, networks: true, volumes: true, shares: true };

type ConfigurableWorkerOptions = Exclude<NonNullable<EngineOptions['worker']>, false>;

const worker: Readonly<Record<keyof ConfigurableWorkerOptions, true>> = {
  concurrency: true,
  leaseMs: true,
  pollMs: true,
  retryMs: true,
};

const events: Readonly<Record<keyof EventOptions, true>> = { webhooks: true, keepMs: true };

const webhookOptionNames: Readonly<Record<keyof WebhookOptions, true>> = {
  url: true,
  secret: true,
  types: true,
  timeoutMs: true,
  attempts: true,
  name: true,
};

/** Returns the observers as a list. */
export function observersOf({ observer = [] }: Pick<EngineOptions, 'observer'>): readonly EngineObserver[] {
  return 'at' in observer ? observer : [observer];
}

/** Minimum number of characters in a webhook secret, so that it cannot be guessed. */
const MIN_SECRET_LENGTH = 24;

function checkWebhook(givenOptions: WebhookOptions): void {
  checkOptions('createEngine(): events.webhooks', givenOptions, webhookOptionNames);
  if (!/^https?:\/\//.test(givenOptions.url) || !URL.canParse(givenOptions.url))
    // The URL may contain secrets, so the message omits it.
    throw new TypeError(
      'createEngine(): a webhook url must be an HTTP or HTTPS URL, such as https://example.org/events',
    );
  parseWebhookTarget(givenOptions.url);
  if (givenOptions.attempts !== undefined && !(Number.isInteger(givenOptions.attempts) && givenOptions.attempts >= 1))
    throw new TypeError(
      `createEngine(): attempts in a webhook must be an integer of at least 1, not ${givenOptions.attempts}`,
    );
  if (typeof givenOptions.secret !== 'string' || givenOptions.secret.length < MIN_SECRET_LENGTH)
    throw new TypeError(`createEngine(): a webhook secret must have at least ${MIN_SECRET_LENGTH} characters`);
}

const POSTGRES_URL = /^postgres(ql)?:\/\//;

function checkReplicas({ database = ':memory:', databaseRead = [] }: EngineOptions): void {
  if (databaseRead.length > 0 && !POSTGRES_URL.test(database))
    throw new TypeError('createEngine(): databaseRead requires a PostgreSQL database: set database to its URL');
  if (!databaseRead.every((url) => POSTGRES_URL.test(url)))
    throw new TypeError('createEngine(): databaseRead must be a list of URLs like postgres://...');
}

/**
 * Checks the names and values of options, including nested ones.
 *
 * @throws TypeError if an option is unknown or invalid
 */
export function checkEngineOptions(givenOptions: EngineOptions): void {
  checkOptions('createEngine()', givenOptions, engineOptionNames);
  checkReplicas(givenOptions);
  checkOptions('createEngine(): events', givenOptions.events ?? {}, events);
  for (const webhookOptions of givenOptions.events?.webhooks ?? []) checkWebhook(webhookOptions);
  nameWebhooks(givenOptions.events?.webhooks ?? []);
  for (const observer of observersOf(givenOptions))
    checkOptions('createEngine(): observer', observer, engineObserverHooks);
  checkOptions('createEngine(): catalogs', givenOptions.catalogs ?? {}, catalogs);
  checkOptions('createEngine(): worker', givenOptions.worker || {}, worker);
  checkOptions('createEngine(): settings', givenOptions.settings ?? {}, defaultSettings);
  checkOptions('createEngine(): settings.quotas', givenOptions.settings?.quotas ?? {}, defaultSettings.quotas);
}
