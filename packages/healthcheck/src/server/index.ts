export type { DrainOptions } from './drain.js';
export { type GuardedServer, guardServer, type HttpServer, type ServerStatistics } from './guard-server.js';
export type { GuardLimits } from './limits.js';
