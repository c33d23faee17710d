export { type ControlledRule, type RuleHandle, StartedTestCloudContainer } from './started-test-cloud-container.js';
export { TestCloudContainer } from './test-cloud-container.js';
