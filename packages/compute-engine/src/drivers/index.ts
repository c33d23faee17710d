export type {
  Ipv6Mode,
  NetworkPlan,
  NetworkPlans,
  PlanHosts,
  PlannedNetwork,
  PlannedPort,
  PlannedRouter,
  PlannedRouterInterface,
  PlannedSubnet,
  StorageUsage,
  StoredVolume,
  VolumeOrigin,
  VolumeStorage,
} from '@apistrata/catalogs';
export { bootTime } from '../clock/boot-time.js';
export { isTruthyString } from '../resources/extra-specs/is-truthy-string.js';
export type * from './driver.js';
export type { DriverServices } from './driver-services.js';
export type * from './fence-guard.js';
export { formatUptime } from './format-uptime.js';
export { joinStreams } from './join-streams.js';
export { noMachines } from './no-machines.js';
export { type RuleHandle, SimulatedDriver, type SimulatedDriverOptions } from './simulated.js';
export type { Rule, RuleMatch } from './simulated-rules.js';
