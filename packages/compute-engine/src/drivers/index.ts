export type * from './driver.js';
export type { DriverServices } from './driver-services.js';
export {
  type Rule,
  type RuleHandle,
  type RuleMatch,
  SimulatedDriver,
  type SimulatedDriverOptions,
} from './simulated.js';
