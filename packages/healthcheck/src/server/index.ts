export type { Beacon } from './beacons.js';
export type { DrainOptions } from './drain.js';
export type { GracefulServerOptions, ShutdownHook, ShutdownHooks } from './graceful-options.js';
export { type GracefulServer, gracefulServer } from './graceful-server.js';
export { type GuardedServer, guardServer, type HttpServer, type ServerStatistics } from './guard-server.js';
export { defaultLimits, type GuardLimits, guardLimits } from './limits.js';
