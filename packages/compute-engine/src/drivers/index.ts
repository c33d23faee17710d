export type * from './driver.js';
export type { DriverServices } from './driver-services.js';
export { joinStreams } from './join-streams.js';
export type * from './network-plan.js';
export { noMachines } from './no-machines.js';
export { type RuleHandle, SimulatedDriver, type SimulatedDriverOptions } from './simulated.js';
export type { Rule, RuleMatch } from './simulated-rules.js';
export { uptimeText } from './uptime-text.js';
export type { StoredVolume, VolumeOrigin, VolumeStorage } from './volume-storage.js';
