export { canonicalIp } from '@apistrata/catalogs';
export { CodedError, type CodedErrorOptions } from '@apistrata/record-store/errors';
export { checkOptions } from '@apistrata/record-store/options';
export type { AttachedPort } from '../actions/interfaces/attach-interface.js';
export type { HostOffer, HostUsageRow } from '../hosts/inventory/hosts.js';
export type { HostedServer, Hypervisor, HypervisorParts, HypervisorQuery } from '../hosts/inventory/hypervisors.js';
export type { ServiceChange, ServiceState } from '../hosts/inventory/services.js';
export { ownAddress } from '../hosts/own-address.js';
export type {
  CapabilityValue,
  Claim,
  ConsoleToken,
  CpuInfo,
  DriverOffer,
  HostProcess,
  Inventory,
  New,
  QuotaClass,
  Stored,
  StringSetting,
} from '../model/index.js';
export type { Zone } from '../resources/availability-zones.js';
export { CUSTOM_NAME, RESOURCE_CLASSES, TRAITS } from '../resources/extra-specs/standard-names.js';
export { validateExtraSpec } from '../resources/extra-specs/validate-extra-spec.js';
export type { NewFlavor } from '../resources/flavors/flavors.js';
export type { FlavorQuery } from '../resources/flavors/flavors-list.js';
export type { QuotaScope, QuotaValues } from '../resources/quotas/quotas.js';
export type { GroupWithMembers, NewServerGroup, ServerGroupQuery } from '../resources/server-groups.js';
export type { ProjectUsage, ServerUsage, UsageWindow } from '../resources/usage/usage.js';
export type { UsageAuditLog } from '../resources/usage/usage-audit.js';
export { amountsByClass } from '../scheduler/amounts.js';
export { fulfills } from '../scheduler/capabilities.js';
export { freeDiskGb } from '../scheduler/disk-space.js';
export type { Host, HostMap, HostStatus } from '../scheduler/infrastructure.js';
export { DISABLED_TRAIT, inventoriesOf, MAX_AMOUNT } from '../scheduler/inventories.js';
export { fulfillsSpecs, type PoolCapabilities, poolCapabilities } from '../scheduler/pool-capabilities.js';
export { zoneOf } from '../scheduler/zone-of.js';
export type { MigrationQuery } from '../server-migrations/migrations.js';
export { migrationsInProgress } from '../server-migrations/migrations-in-progress.js';
export type {
  CreatePermissions,
  LegacyDevice,
  NewServer,
  RequestedDevice,
  RequestedNetwork,
} from '../servers/create/create-request.js';
export type { ExternalEvent, ExternalEventCode, ExternalEventName } from '../servers/external-events.js';
export type { ServerFilters, ServerPatternField } from '../servers/list/list-filters.js';
export { compilePattern } from '../servers/list/list-pattern.js';
export type { ServerQuery } from '../servers/list/list-plan.js';
export type { ServerSort, ServerSortKey } from '../servers/list/list-sort.js';
export { shareStatusOf } from '../servers/shares/shares.js';
export { statesOf, statusOf } from '../servers/status.js';
export type { ServerChange } from '../servers/update/update.js';
export type { AttachmentUpdate } from '../servers/volumes/volume-attachments.js';
