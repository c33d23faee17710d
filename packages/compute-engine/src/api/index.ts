export type { AttachedPort } from '../actions/interfaces/attach-interface.js';
export { canonicalIp } from '../catalogs/ip-address.js';
export { checkOptions } from '../check-options.js';
export { CodedError, type CodedErrorOptions } from '../coded-error.js';
export { validateExtraSpec } from '../extra-specs/validate-extra-spec.js';
export { statesOf, statusOf } from '../lifecycle/status.js';
export { migrationsInProgress } from '../migrations/migrations-in-progress.js';
export type { Host, HostMap, HostStatus } from '../scheduler/infrastructure.js';
export { zoneOf } from '../scheduler/zone-of.js';
export type { Zone } from '../services/availability-zones.js';
export type { ExternalEvent, ExternalEventCode, ExternalEventName } from '../services/external-events.js';
export type { NewFlavor } from '../services/flavors.js';
export type { FlavorQuery } from '../services/flavors-list.js';
export type { HostShare } from '../services/hosts.js';
export type { HostedServer, Hypervisor, HypervisorParts, HypervisorQuery } from '../services/hypervisors.js';
export type { MigrationQuery } from '../services/migrations.js';
export type { QuotaScope, QuotaValues } from '../services/quotas.js';
export type { GroupWithMembers, NewServerGroup, ServerGroupQuery } from '../services/server-groups.js';
export type {
  CreatePermissions,
  LegacyDevice,
  NewServer,
  RequestedDevice,
  RequestedNetwork,
} from '../services/servers/create-request.js';
export type { ServerQuery } from '../services/servers/list.js';
export type { ServerFilters, ServerPatternField } from '../services/servers/list-filters.js';
export { compilePattern } from '../services/servers/list-pattern.js';
export type { ServerSort, ServerSortKey } from '../services/servers/list-sort.js';
export { shareStatusOf } from '../services/servers/shares.js';
export type { ServerChange } from '../services/servers/update.js';
export type { AttachmentUpdate } from '../services/servers/volume-attachments.js';
export type { ServiceChange, ServiceState } from '../services/services.js';
export type { ProjectUsage, ServerUsage, UsageWindow } from '../services/usage.js';
export type { UsageAuditLog } from '../services/usage-audit.js';
