export { corsHeaders } from './cors-headers.js';
export { defaultsFrom } from './defaults.js';
export type { Cost, EnforceQuotaOptions } from './enforcement/enforce-options.js';
export { type EnforceQuotaMiddleware, enforceQuota } from './enforcement/enforce-quota.js';
export { reservationOf } from './enforcement/enforcement.js';
export type {
  EnforcementError,
  QuotaErrorBody,
  QuotaErrorFormat,
  QuotaErrorsOption,
} from './enforcement/error-formats.js';
export {
  InvalidQuota,
  QuotaError,
  type QuotaErrorCode,
  QuotaExceeded,
  QuotaStoreError,
  ReservationEnded,
} from './errors.js';
export {
  type Amounts,
  checkLimits,
  DISABLED,
  type ExceededLimit,
  type Limit,
  type LimitCheck,
  UNLIMITED,
} from './limits.js';
export { type MemoryStoreOptions, memoryStore } from './memory/memory-store.js';
export { KEY_MANAGER_KINDS, type QuotaPresetName } from './presets.js';
export {
  type LimitEntry,
  type LimitList,
  type ProjectQuotas,
  projectQuotas,
  type Usage,
} from './project-quotas.js';
export type { ProjectQuotasOptions } from './project-quotas-options.js';
export type { Reservation } from './reservation.js';
export type {
  ConsumeRequest,
  Count,
  MaybePromise,
  OwnLimits,
  Page,
  ProjectLimits,
  QuotaStore,
  ReserveRequest,
  StoredReservation,
} from './store.js';
export type { ThresholdEvent } from './thresholds.js';
export { type UsageEntry, type UsageHandlerOptions, usageHandler } from './usage-handler.js';
