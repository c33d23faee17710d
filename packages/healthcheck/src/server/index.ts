export type { DrainOptions } from './drain.js';
export { type GuardedServer, guardServer, type HttpServer, type ServerStatistics } from './guard-server.js';
export { defaultLimits, type GuardLimits, guardLimits } from './limits.js';
