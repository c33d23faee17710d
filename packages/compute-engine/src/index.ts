export type { ActionName, RequestOf, ResultOf, ServerActionName } from './actions/index.js';
export type { AttachedPort, NewInterface } from './actions/interfaces/attach-interface.js';
export type { NewAttachment } from './actions/volumes/new-device.js';
export * from './catalogs/index.js';
export { canonicalIp } from './catalogs/ip-address.js';
export { checkOptions } from './check-options.js';
export { type Clock, ManualClock, systemClock } from './clock.js';
export type { Context } from './context.js';
export type * from './drivers/driver.js';
export {
  type Rule,
  type RuleHandle,
  type RuleMatch,
  SimulatedDriver,
  type SimulatedDriverOptions,
} from './drivers/simulated.js';
export { createEngine, type Engine } from './engine.js';
export type { EngineOptions } from './engine-options.js';
export { Refusal, type RefusalCode } from './errors.js';
export * from './extra-specs/index.js';
export type { EngineHealth, PartHealth, WorkerHealth } from './health.js';
export * from './keys/index.js';
export { statesOf, statusOf } from './lifecycle/status.js';
export type * from './model/index.js';
export {
  type AggregateSeed,
  defaultPreset,
  type FlavorSeed,
  type HostSeed,
  type Preset,
  type Unknown,
} from './preset/preset.js';
export type { PurgeLimits, PurgeReport } from './retention/retention.js';
export type { UsedServer } from './retention/server-usage.js';
export {
  type Action,
  type ActionRules,
  type AnyAction,
  action,
  type Begun,
  type Change,
  type ConcurrentAction,
  type ConcurrentBegun,
  concurrentAction,
  type NoArguments,
} from './runs/action.js';
export type { ConcurrentRun } from './runs/concurrent-run.js';
export type { ServerRun } from './runs/server-run.js';
export { type Host, type HostMap, type HostStatus, zoneOf } from './scheduler/infrastructure.js';
export { NoValidHost } from './scheduler/scheduler.js';
export { SecretKeyError } from './secrets/secret-key-error.js';
export type { Zone } from './services/availability-zones.js';
export type { ExternalEvent, ExternalEventCode, ExternalEventName } from './services/external-events.js';
export type { NewFlavor } from './services/flavors.js';
export type { FlavorQuery } from './services/flavors-list.js';
export type { HostShare } from './services/hosts.js';
export type { HostedServer, Hypervisor, HypervisorParts, HypervisorQuery } from './services/hypervisors.js';
export { type MigrationQuery, migrationsInProgress } from './services/migrations.js';
export type { QuotaScope, QuotaValues } from './services/quotas.js';
export type { GroupWithMembers, NewServerGroup, ServerGroupQuery } from './services/server-groups.js';
export type {
  CreatePermissions,
  LegacyDevice,
  NewServer,
  RequestedDevice,
  RequestedNetwork,
} from './services/servers/create-request.js';
export type { ServerQuery } from './services/servers/list.js';
export type { ServerFilters, ServerPatternField } from './services/servers/list-filters.js';
export { compilePattern } from './services/servers/list-pattern.js';
export type { ServerSort, ServerSortKey } from './services/servers/list-sort.js';
export { shareStatusOf } from './services/servers/shares.js';
export type { ServerChange } from './services/servers/update.js';
export type { AttachmentUpdate } from './services/servers/volume-attachments.js';
export type { ServiceChange, ServiceState } from './services/services.js';
export type { ProjectUsage, ServerUsage, UsageWindow } from './services/usage.js';
export type { UsageAuditLog } from './services/usage-audit.js';
export { defaultSettings, type QuotaKind, quotaKinds, type Settings } from './settings.js';
export { type DatabaseSettings, type Durability, defaultDatabaseSettings } from './store/database-settings.js';
export { type DatabaseTrouble, DatabaseUnavailable } from './store/database-unavailable.js';
export { StaleRecord } from './store/document-table.js';
export { DatabaseTooNew } from './store/migrate.js';
export { DatabaseInUse } from './store/sqlite-owner.js';
export { openStore, type Store } from './store/store.js';
