import type { Catalogs } from '@apistrata/catalogs';
import { checkOptions, type DatabaseSettings, defaultDatabaseSettings } from '@apistrata/record-store/options';
import type { AnyAction } from '../actions/runner/action.js';
import type { Clock } from '../clock/clock.js';
import { defaultSettings, type Settings } from '../core/settings.js';
import type { Driver } from '../drivers/driver.js';
import type { DriverServices } from '../drivers/driver-services.js';
import type { EventOptions } from '../events/engine-events.js';
import { namedWebhooks, type WebhookOptions } from '../events/webhook.js';
import type { Job } from '../jobs/jobs.js';
import type { WorkerOptions } from '../jobs/worker.js';
import { type EngineObserver, engineObserverHooks } from '../observation/observer.js';
import type { Preset } from '../preset/preset.js';
import type { SecretKeyOptions } from '../secrets/sealer-for.js';

/** What `createEngine()` can be told. Everything has a default. */
export interface EngineOptions extends Partial<DatabaseSettings>, SecretKeyOptions {
  /** `:memory:`, a SQLite file, or `postgres://...`; default `:memory:`. */
  readonly database?: string;
  /**
   * Replicas of a PostgreSQL database (streaming, hot standby), as addresses like that of `database`: they answer what
   * `engine.reading()` is asked for. All processes of one database are given the same. Default: none.
   */
  readonly databaseRead?: readonly string[];
  readonly clock?: Clock;
  /** Default: simulated machines without latency. A driver that needs images and networks is made by a function. */
  readonly driver?: Driver | ((clock: Clock, services: DriverServices) => Driver | Promise<Driver>);
  /**
   * Folder where the embedded image service keeps the content of images, made when missing. Default: beside a SQLite file
   * (its name and `.images`); in the database, with 256 MiB an image at the most, for `:memory:` and PostgreSQL.
   */
  readonly imageDirectory?: string;
  /** Catalogs that replace embedded ones: clients of real services. */
  readonly catalogs?: Partial<Catalogs>;
  /** What the cloud has from the start; default: a small one with fixed ids. What is there already stays as it is. */
  readonly preset?: Preset;
  readonly settings?: Partial<Settings>;
  readonly worker?: Pick<WorkerOptions, 'concurrency' | 'leaseMs' | 'pollMs' | 'retryMs'> | false;
  /**
   * Actions of your own beside those of the API: their records, to be begun with `engine.servers.act`. An engine that
   * meets stored work of an action it was not made with leaves that for one which was.
   */
  readonly actions?: readonly AnyAction[];
  /** Looks on while the engine works: for metrics and traces. Several see the same. Default: nobody, which costs nothing. */
  readonly observer?: EngineObserver | readonly EngineObserver[];
  /**
   * Keeps what happens, for webhooks and for readers of the stream (`{}` is for the stream alone). Default: nothing is
   * kept; `engine.on` works all the same.
   */
  readonly events?: EventOptions;
  /** Told of background work that broke down. */
  readonly onError?: (error: unknown, job: Job | undefined) => void;
}

const options: Readonly<Record<keyof EngineOptions, unknown>> = {
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

type WorkerChoices = Exclude<NonNullable<EngineOptions['worker']>, false>;

const worker: Readonly<Record<keyof WorkerChoices, true>> = {
  concurrency: true,
  leaseMs: true,
  pollMs: true,
  retryMs: true,
};

const events: Readonly<Record<keyof EventOptions, true>> = { webhooks: true, keepMs: true };

const webhook: Readonly<Record<keyof WebhookOptions, true>> = {
  url: true,
  secret: true,
  types: true,
  timeoutMs: true,
  name: true,
};

/** Those who look on. */
export function observersOf({ observer = [] }: Pick<EngineOptions, 'observer'>): readonly EngineObserver[] {
  return 'at' in observer ? observer : [observer];
}

/** The least that nobody guesses. */
const SECRET_LENGTH = 24;

function checkWebhook(given: WebhookOptions): void {
  checkOptions('createEngine(): events.webhooks', given, webhook);
  if (!/^https?:\/\//.test(given.url) || !URL.canParse(given.url))
    throw new TypeError(`createEngine(): the url of a webhook is like https://example.org/events, not ${given.url}`);
  if (typeof given.secret !== 'string' || given.secret.length < SECRET_LENGTH)
    throw new TypeError(`createEngine(): the secret of a webhook has at least ${SECRET_LENGTH} characters`);
}

const POSTGRES = /^postgres(ql)?:\/\//;

function checkReplicas({ database = ':memory:', databaseRead = [] }: EngineOptions): void {
  if (databaseRead.length > 0 && !POSTGRES.test(database))
    throw new TypeError('createEngine(): databaseRead needs a database of PostgreSQL, of which those are replicas');
  if (!databaseRead.every((url) => POSTGRES.test(url)))
    throw new TypeError('createEngine(): databaseRead is a list of addresses like postgres://...');
}

/** Throws a TypeError for an option of `createEngine()` that does not exist, also within the options that are objects. */
export function checkEngineOptions(given: EngineOptions): void {
  checkOptions('createEngine()', given, options);
  checkReplicas(given);
  checkOptions('createEngine(): events', given.events ?? {}, events);
  for (const one of given.events?.webhooks ?? []) checkWebhook(one);
  namedWebhooks(given.events?.webhooks ?? []);
  for (const observer of observersOf(given)) checkOptions('createEngine(): observer', observer, engineObserverHooks);
  checkOptions('createEngine(): catalogs', given.catalogs ?? {}, catalogs);
  checkOptions('createEngine(): worker', given.worker || {}, worker);
  checkOptions('createEngine(): settings', given.settings ?? {}, defaultSettings);
  checkOptions('createEngine(): settings.quotas', given.settings?.quotas ?? {}, defaultSettings.quotas);
}
