export { type ClockWaiter, ClockWaiters, type MovableClock } from '../clock/clock-waiters.js';
export type { Core } from '../core/core.js';
export { coreOf } from '../engine/engine-core.js';
export type { DriverSuite } from './driver/suite.js';
export { testDriver } from './driver/test-driver.js';
export { ManualClock } from './manual-clock.js';
export { type HostOverview, type Overview, overview } from './overview.js';
export { type Population, populateServers } from './populate-servers.js';
export { dumpTables, loadTables, type Row, type TablesDump } from './tables-dump.js';
