export { defaultsFrom, KINDS } from './defaults.js';
export type { Cost, EnforceQuotaOptions } from './enforce-options.js';
export { type EnforceQuotaMiddleware, enforceQuota, reservationOf } from './enforce-quota.js';
export {
  InvalidQuota,
  QuotaError,
  type QuotaErrorCode,
  QuotaExceeded,
  QuotaStoreError,
  ReservationGone,
} from './errors.js';
export { type Amounts, checkLimits, DISABLED, type Excess, type Limit, type LimitCheck, UNLIMITED } from './limits.js';
export { type MemoryStoreOptions, memoryStore } from './memory/memory-store.js';
export {
  type LimitEntry,
  type LimitList,
  type ProjectQuotas,
  type ProjectQuotasOptions,
  projectQuotas,
  type Usage,
} from './project-quotas.js';
export type { Reservation } from './reservation.js';
export type {
  ConsumeRequest,
  Count,
  Hold,
  MaybePromise,
  OwnLimits,
  Page,
  ProjectLimits,
  QuotaStore,
  ReserveRequest,
} from './store.js';
