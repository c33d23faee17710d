import type { Catalogs } from './catalogs/index.js';
import { checkOptions } from './check-options.js';
import type { EngineOptions } from './engine.js';
import type { Preset } from './preset/preset.js';
import { defaultSettings } from './settings.js';
import { defaultDatabaseSettings } from './store/database-settings.js';

const options: Readonly<Record<keyof EngineOptions, unknown>> = {
  ...defaultDatabaseSettings,
  database: true,
  secretKey: true,
  secretKeyFile: true,
  clock: true,
  driver: true,
  catalogs: true,
  preset: true,
  settings: true,
  worker: true,
  actions: true,
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

const preset: Readonly<Record<keyof Preset, true>> = {
  flavors: true,
  hosts: true,
  aggregates: true,
  images: true,
  networks: true,
  securityGroups: true,
  volumeTypes: true,
  volumes: true,
  shares: true,
  unknown: true,
  rules: true,
};

/** Throws a TypeError for an option of `createEngine()` that does not exist, also within the options that are objects. */
export function checkEngineOptions(given: EngineOptions): void {
  checkOptions('createEngine()', given, options);
  checkOptions('createEngine(): catalogs', given.catalogs ?? {}, catalogs);
  checkOptions('createEngine(): preset', given.preset ?? {}, preset);
  checkOptions('createEngine(): worker', given.worker || {}, worker);
  checkOptions('createEngine(): settings', given.settings ?? {}, defaultSettings);
  checkOptions('createEngine(): settings.quotas', given.settings?.quotas ?? {}, defaultSettings.quotas);
}
