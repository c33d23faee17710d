export { type ComputeApi, type ComputeApiOptions, computeApi } from './compute-api.js';
export {
  type ComputeRouter,
  type ComputeRouterOptions,
  computeRouter,
  MAX_VERSION,
  MIN_VERSION,
} from './compute-router.js';
export { computeApiDescription } from './description/api-description.js';
export { computeApiCommands } from './description/commands.js';
export { computeApiHistory } from './description/history.js';
export { ComputeRouterError, type ComputeRouterErrorCode } from './errors.js';
export type { ApiObserver, AsidePart, ServedAside } from './http/api-observer.js';
export type { CorsOptions } from './http/cross-origin.js';
export { hidingSecrets, SECRET_HEADERS } from './http/log-secrets.js';
export type { Middleware } from './http/middleware.js';
export { RateLimitExceeded, type RateLimiter, type RateLimitVerdict } from './http/rate-limited.js';
export { REQUEST_ID_HEADERS } from './http/request-id-headers.js';
export * from './identity/index.js';
export { operations } from './operations/index.js';
export { latestKnown } from './operations/latest-known.js';
export * from './policy/index.js';
