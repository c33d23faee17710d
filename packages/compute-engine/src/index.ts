export {
  type DatabaseFailure,
  DatabaseInUse,
  DatabaseTooNew,
  DatabaseUnavailable,
} from '@apistrata/record-store/errors';
export { type DatabaseSettings, type Durability, defaultDatabaseSettings } from '@apistrata/record-store/options';
export type { Clock } from './clock/clock.js';
export type { Context } from './core/context.js';
export type { PartHealth } from './core/part-health.js';
export { defaultSettings, type QuotaKind, quotaKinds, type Settings } from './core/settings.js';
export { createEngine } from './engine/create-engine.js';
export type { Engine } from './engine/engine.js';
export type { EngineOptions } from './engine/engine-options.js';
export type { EngineHealth, WorkerHealth } from './engine/health.js';
export { EngineError, type EngineErrorCode } from './errors/engine-error.js';
export { Rejection, type RejectionCode } from './errors/rejection.js';
export type {
  ActionEvent,
  Aggregate,
  BlockDevice,
  Caller,
  Fault,
  FixedIp,
  Flavor,
  FlavorCopy,
  GroupPolicy,
  InstanceAction,
  Keypair,
  Lock,
  MigrationRecord,
  MigrationStatus,
  MigrationType,
  MoveProgress,
  Node,
  PowerState,
  QuotaSet,
  Server,
  ServerGroup,
  ServerInterface,
  ServerPatch,
  ServerSettings,
  ServerShare,
  Service,
  TaskState,
  VmState,
} from './model/index.js';
export { InvalidPreset } from './preset/invalid-preset.js';
export { defaultPreset, type Preset } from './preset/preset.js';
export type { PurgeLimits, PurgeReport } from './retention/retention.js';
export { NoValidHost } from './scheduler/no-valid-host.js';
export { SecretKeyError } from './secrets/secret-key-error.js';
