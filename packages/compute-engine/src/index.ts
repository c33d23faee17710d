export type { Clock } from './clock.js';
export type { Context } from './context.js';
export { createEngine } from './create-engine.js';
export type { Engine } from './engine.js';
export { EngineError, type EngineErrorCode } from './engine-error.js';
export type { EngineOptions } from './engine-options.js';
export { Refusal, type RefusalCode } from './errors.js';
export type { EngineHealth, PartHealth, WorkerHealth } from './health.js';
export type * from './model/index.js';
export { InvalidPreset } from './preset/invalid-preset.js';
export {
  type AggregateSeed,
  defaultPreset,
  type FlavorSeed,
  type HostSeed,
  type ImageSeed,
  type NetworkSeed,
  type Preset,
  type SecurityGroupSeed,
  type ShareSeed,
  type VolumeSeed,
  type VolumeTypeSeed,
} from './preset/preset.js';
export type { PurgeLimits, PurgeReport } from './retention/retention.js';
export { NoValidHost } from './scheduler/no-valid-host.js';
export { SecretKeyError } from './secrets/secret-key-error.js';
export { defaultSettings, type QuotaKind, quotaKinds, type Settings } from './settings.js';
export { type DatabaseSettings, type Durability, defaultDatabaseSettings } from './store/database-settings.js';
export { DatabaseTooNew } from './store/database-too-new.js';
export { type DatabaseTrouble, DatabaseUnavailable } from './store/database-unavailable.js';
export { DatabaseInUse } from './store/sqlite-owner.js';
