export { InvalidQuota, QuotaError, QuotaExceeded, QuotaStoreError, ReservationGone } from './errors.js';
export { type Amounts, checkLimits, DISABLED, type Excess, type Limit, type LimitCheck, UNLIMITED } from './limits.js';
