export type { RateLimit } from './limits.js';
export { type CallerRateLimiter, type RateLimiterOptions, rateLimiter } from './rate-limiter.js';
export type { RateLimitPool, RateLimitRedis, RateLimitStore } from './store.js';
