export type { DriverSuite } from './driver/suite.js';
export { testDriver } from './driver/test-driver.js';
export { type Population, populateServers } from './populate-servers.js';
